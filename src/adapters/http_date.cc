#include "adapters/http_date.h"

#include <algorithm>
#include <charconv>

namespace ace {

std::optional<Instant> read_http_date(std::string_view text) {
  static constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != 29 || text.substr(3, 2) != ", " || text.substr(25) != " GMT") return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t size) {
    int value = -1;
    const char* const end = text.data() + at + size;
    const auto [stop, fault] = std::from_chars(text.data() + at, end, value);
    return fault == std::errc() && stop == end ? value : -1;
  };
  const std::size_t month = months.find(text.substr(8, 3));
  const int day = number(5, 2), year = number(12, 4), hour = number(17, 2), minute = number(20, 2),
            second = number(23, 2);
  if (month == std::string_view::npos || month % 3 != 0 || day < 1 || hour < 0 || hour > 23 || minute < 0 ||
      minute > 59 || second < 0 || second > 60)
    return std::nullopt;
  Civil c;
  c.year = year;
  c.month = static_cast<unsigned>(month / 3 + 1);
  c.day = static_cast<unsigned>(day);
  if (!valid_date(c.year, c.month, c.day)) return std::nullopt;
  c.hour = static_cast<unsigned>(hour);
  c.minute = static_cast<unsigned>(minute);
  c.second = static_cast<unsigned>(std::min(second, 59));
  return instant_of(c);
}

}  // namespace ace
