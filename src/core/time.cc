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

Result<Instant> parse_rfc3339(std::string_view text) {
  const Error bad(Errc::bad_input,
                  "expected a time like 2026-11-30T09:42:00Z, got \"" + std::string(text.substr(0, 64)) + "\"");
  const auto number = [&](std::size_t at, std::size_t digits) -> int {
    if (at + digits > text.size()) return -1;
    int value = 0;
    for (std::size_t i = at; i < at + digits; ++i) {
      if (text[i] < '0' || text[i] > '9') return -1;
      value = value * 10 + (text[i] - '0');
    }
    return value;
  };
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') || text[13] != ':' ||
      text[16] != ':')
    return bad;
  const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  const int hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
  if (year < 1970 || month < 1 || day < 1 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second > 59 || !valid_date(year, static_cast<unsigned>(month), static_cast<unsigned>(day)))
    return bad;
  std::size_t at = 19;
  std::int64_t nano = 0;
  if (text[at] == '.') {
    std::int64_t unit = 100'000'000;
    const std::size_t first = ++at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10) nano += (text[at] - '0') * unit;
    if (at == first || at > first + 9) return bad;
  }
  std::int64_t offset_minutes = 0;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
    const int hours = number(at + 1, 2), minutes = number(at + 4, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || text[at + 3] != ':' || text.size() != at + 6)
      return bad;
    offset_minutes = (text[at] == '-' ? -1 : 1) * (hours * 60 + minutes);
  } else if (text.substr(at) != "Z") {
    return bad;
  }
  Civil c;
  c.year = year;
  c.month = static_cast<unsigned>(month);
  c.day = static_cast<unsigned>(day);
  c.hour = static_cast<unsigned>(hour);
  c.minute = static_cast<unsigned>(minute);
  c.second = static_cast<unsigned>(second);
  c.nano = nano;
  return instant_of(c) - offset_minutes * kMinute;
}

}  // namespace ace
