#pragma once
/// Time as int64 nanoseconds UTC. The brain takes instants as arguments; only shells own a Clock.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace ace {

/// ACE's time line: nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.
struct AceTime {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<AceTime, duration>;
  static constexpr bool is_steady = false;
};
using Duration = std::chrono::nanoseconds;
using Instant = AceTime::time_point;

constexpr std::int64_t nanos(Duration d) { return d.count(); }
constexpr std::int64_t nanos(Instant t) { return t.time_since_epoch().count(); }
constexpr Instant instant(std::int64_t nanos_since_epoch) { return Instant{Duration{nanos_since_epoch}}; }
/// Nearest nanosecond; beyond the range (292 years either way) the longest duration, for NaN the most negative one.
constexpr Duration from_seconds(double s) {
  const double ns = s * 1e9;
  if (!(ns > -9.2e18)) return Duration::min();
  if (ns > 9.2e18) return Duration::max();
  return Duration{static_cast<std::int64_t>(ns + (ns < 0 ? -0.5 : 0.5))};
}
constexpr double to_seconds(Duration d) { return static_cast<double>(d.count()) * 1e-9; }

inline constexpr Duration kSecond = std::chrono::seconds{1};
inline constexpr Duration kMinute = std::chrono::minutes{1};
inline constexpr Duration kHour = std::chrono::hours{1};
inline constexpr Duration kDay = std::chrono::hours{24};

/// Whole units since the epoch, floored (also before 1970).
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
constexpr std::int64_t hour_of(Instant t) { return floor_div(nanos(t), nanos(kHour)); }
constexpr std::int64_t day_of(Instant t) { return floor_div(nanos(t), nanos(kDay)); }

struct Civil {
  int year = 1970;
  unsigned month = 1, day = 1, hour = 0, minute = 0, second = 0;
  std::int64_t nano = 0;
  friend bool operator==(const Civil&, const Civil&) = default;
};

Civil civil_of(Instant t);
/// @param c a UTC date and time in the ranges of valid_date() and of a clock; the caller has checked them
Instant instant_of(const Civil& c);
/// Does this date exist in the Gregorian calendar, and lie in the whole years that an Instant holds (1678 to 2261)?
bool valid_date(int year, unsigned month, unsigned day);

/// "2026-11-30T09:42:00.123Z"; the fraction is cut where it is zero.
std::string to_rfc3339(Instant t);
/// "2026-11-30T09:42:00Z", with an optional fraction of up to nine digits and Z or an offset as the zone.
/// @return bad_input saying what was expected
Result<Instant> parse_rfc3339(std::string_view text);

/// Where a shell reads the time. Fakes live beside the tests that use them.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() = 0;
};

}  // namespace ace
