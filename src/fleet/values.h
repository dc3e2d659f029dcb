#pragma once
/// The grammar of single values in files that people write: a number and its unit, read exactly.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/money.h"
#include "core/time.h"
#include "fleet/endpoint.h"

namespace ace::fleet_file {

/// Why a value could not be read: what was expected and what to write instead.
struct Misread {
  std::string expected, mend;
};

/// A month is 730 hours here: 8,760 hours of a year over twelve, as cloud price lists count.
inline constexpr std::int64_t kHoursPerMonth = 730, kHoursPerYear = 8760;

/// A sum of money per something: "1.90 USD/h/gpu" is {1,900,000,000, "USD", {"h", "gpu"}}.
struct Amount {
  std::int64_t nano = 0;  ///< 1e-9 of the currency
  std::string currency;
  std::vector<std::string> per;
  friend bool operator==(const Amount&, const Amount&) = default;
};
/// @param like an example of what is wanted, e.g. "0.60 USD/Mtok"; names the units that are accepted here
std::optional<Amount> parse_amount(std::string_view text, std::string_view like, Misread& why);

/// "800ms", "24h", "30d", "1.5s"; units ns us ms s m h d. Exact to a nanosecond, not negative.
std::optional<Duration> parse_duration(std::string_view text, Misread& why);
/// The same as seconds, also below a nanosecond ("0.8ns").
std::optional<double> parse_seconds(std::string_view text, Misread& why);
/// "80GiB", "24 GB"; units B kB MB GB TB KiB MiB GiB TiB. In bytes.
std::optional<double> parse_bytes(std::string_view text, Misread& why);
/// "2 GB/s", "500MB/s". In bytes per second.
std::optional<double> parse_bandwidth(std::string_view text, Misread& why);
/// "700W", "1.2kW". In watts.
std::optional<double> parse_watts(std::string_view text, Misread& why);
/// "5%/h" or "0.05/h": a chance per hour.
std::optional<double> parse_hazard(std::string_view text, Misread& why);
/// "80%" in parts per million. A bare number is not one.
std::optional<std::int64_t> parse_percent_ppm(std::string_view text, Misread& why);
/// "0.8" or "80%" in parts per million.
std::optional<std::int64_t> parse_ratio_ppm(std::string_view text, Misread& why);
/// A whole number in plain digits: no sign but '-', no underscore, no leading zero, no exponent.
std::optional<std::int64_t> parse_count(std::string_view text, Misread& why);
/// "YYYY-MM-DD" that exists.
std::optional<std::string> parse_date(std::string_view text, Misread& why);
/// "08:00-20:00" within a day, as minutes; the end may be 24:00.
struct MinuteRange {
  int from = 0, to = 0;
};
std::optional<MinuteRange> parse_minutes(std::string_view text, Misread& why);
/// "mon-fri", "sat", "all" as a mask, bit 0 = Monday.
std::optional<std::uint8_t> parse_days(std::string_view text, Misread& why);
/// "n[1-4]", "gpu[01-16,20]", "rack1-n7": expanded names, at most `cap`.
std::optional<std::vector<std::string>> parse_nodes(std::string_view text, std::size_t cap, Misread& why);

/// Reads a URL that ACE would call: https, no user and password, no query, no trailing dot, no metadata or link-local
/// address. Private addresses, and names that only a private network has, only if allowed; http for these and for this
/// machine alone.
std::optional<Endpoint> parse_url(std::string_view text, bool allow_private, Misread& why);

}  // namespace ace::fleet_file
