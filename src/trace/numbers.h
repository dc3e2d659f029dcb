#pragma once
/// Numbers and times as logs write them, to integers. Nothing here goes through a double.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/time.h"

namespace ace {

/// Largest token count a row may claim; more is a broken log, not a request.
inline constexpr std::int64_t kTokensMax = 1'000'000'000;

/// What a cell holds, for a message: numbers and times as they are, anything else only by its length (it may be a
/// prompt or a name, which no message may repeat).
std::string shown(std::string_view cell);

/// A token count: digits, with an optional fraction of zeros ("12.0": what data frames make of an integer column).
/// @return bad_input, or out_of_range above kTokensMax
Result<std::int32_t> parse_tokens(std::string_view text);

/// A decimal in USD ("0.00022500000000000002", "2.5e-06") as nano-USD, rounded half away from zero: logs print doubles.
/// @return bad_input if it is not a plain decimal or is negative, out_of_range if it does not fit
Result<std::int64_t> parse_nano_usd(std::string_view text);

/// A span of time, a decimal in units of `unit_ns` nanoseconds, to microseconds, rounded half up; not negative.
Result<std::int64_t> parse_micros(std::string_view text, std::int64_t unit_ns);

/// true/false, 1/0, yes/no, in any case.
std::optional<bool> parse_bool(std::string_view text);

/// How a column writes its instants. The first row decides; a row that disagrees is an error.
enum class TimeKind : std::uint8_t { unknown, zoned, naive, seconds, millis, micros, nanos };
std::string_view name_of(TimeKind kind);

/// Offset from UTC of naive times.
class Zone {
 public:
  virtual ~Zone() = default;
  /// UTC instant of a civil time (given as if it were UTC). In a fold the earlier instant; in a gap bad_input.
  [[nodiscard]] virtual Result<Instant> to_utc(Instant as_if_utc) const = 0;
  /// What to add to an instant for the civil time there.
  [[nodiscard]] virtual Duration offset_at(Instant utc) const = 0;
};

/// "UTC", "Z", "+02:00", "-0530", or an IANA name such as "Europe/Berlin".
/// @return bad_input for anything else ("CEST" is no zone: it has no rule)
Result<std::shared_ptr<const Zone>> zone_of(const std::string& name);

/// Reads one column of instants.
///
/// Accepts RFC 3339 and "YYYY-MM-DD hh:mm:ss[.fraction]" (up to 9 digits, zone optional), and decimal numbers since the
/// epoch, whose unit is told by the first one's size (below 1e11 seconds, 1e14 milliseconds, 1e17 microseconds, above
/// nanoseconds) unless it is given. Years 1970 to 2261.
class TimeColumn {
 public:
  TimeColumn() = default;
  /// @param zone of naive times; null makes them an error that asks for --tz
  TimeColumn(TimeKind kind, std::shared_ptr<const Zone> zone) : given_(kind), kind_(kind), zone_(std::move(zone)) {}
  Result<Instant> parse(std::string_view text);
  /// Leap seconds read as 59.999 s.
  [[nodiscard]] std::uint64_t leap_seconds() const { return leap_seconds_; }
  void restart() {
    kind_ = given_;
    leap_seconds_ = 0;
  }
  [[nodiscard]] TimeKind kind() const { return kind_; }

 private:
  Result<Instant> parse_civil(std::string_view text);
  Result<Instant> parse_number(std::string_view text);
  Result<void> agree(TimeKind kind, std::string_view text);

  TimeKind given_ = TimeKind::unknown, kind_ = TimeKind::unknown;
  std::shared_ptr<const Zone> zone_;
  std::uint64_t leap_seconds_ = 0;
  char date_[10] = {};  ///< the last date seen; most rows share it
  std::int64_t date_nanos_ = -1;
};

}  // namespace ace
