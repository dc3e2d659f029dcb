#include "core/time.h"

#include <fmt/core.h>

namespace ace {

Civil civil_of(Instant t) {
  const std::int64_t day_number = day_of(t);
  std::int64_t rest = nanos(t) - day_number * nanos(kDay);
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day_number}}};
  Civil c;
  c.year = static_cast<int>(date.year());
  c.month = static_cast<unsigned>(date.month());
  c.day = static_cast<unsigned>(date.day());
  c.nano = rest % nanos(kSecond);
  rest /= nanos(kSecond);
  c.second = static_cast<unsigned>(rest % 60);
  c.minute = static_cast<unsigned>(rest / 60 % 60);
  c.hour = static_cast<unsigned>(rest / 3600);
  return c;
}

Instant instant_of(const Civil& c) {
  const std::chrono::sys_days days{std::chrono::year{c.year} / std::chrono::month{c.month} / std::chrono::day{c.day}};
  const std::int64_t seconds =
      days.time_since_epoch().count() * 86'400LL + c.hour * 3'600LL + c.minute * 60LL + c.second;
  return instant(seconds * nanos(kSecond) + c.nano);
}

bool valid_date(int year, unsigned month, unsigned day) {
  if (year < 1678 || year > 2261) return false;  // int64 nanoseconds end in 1677 and 2262
  return (std::chrono::year{year} / std::chrono::month{month} / std::chrono::day{day}).ok();
}

std::string to_rfc3339(Instant t) {
  const Civil c = civil_of(t);
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", c.year, c.month, c.day, c.hour, c.minute, c.second);
  if (c.nano != 0) {
    std::string fraction = fmt::format(".{:09}", c.nano);
    while (fraction.back() == '0') fraction.pop_back();
    text += fraction;
  }
  return text + "Z";
}

}  // namespace ace
