#include "fleet/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ace::fleet_file {
namespace {

constexpr std::string_view kWhite = " \t";

std::string_view trimmed(std::string_view s) {
  const std::size_t from = s.find_first_not_of(kWhite);
  if (from == std::string_view::npos) return {};
  return s.substr(from, s.find_last_not_of(kWhite) - from + 1);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Splits "12.5 ms" into its number and its unit; the number may be malformed, the caller's parser says so.
struct Split {
  std::string_view number, unit;
};
Split split_number(std::string_view text) {
  text = trimmed(text);
  std::size_t end = 0;
  while (end < text.size() &&
         (is_digit(text[end]) || std::string_view("+-.,_").find(text[end]) != std::string_view::npos))
    ++end;
  return {text.substr(0, end), trimmed(text.substr(end))};
}

/// A decimal times 10^scale. Digits only, one point, an optional sign: no exponent, no leading '+'.
std::optional<std::int64_t> decimal(std::string_view number, int scale) {
  if (number.empty() || number.front() == '+' || number.find_first_not_of("-.0123456789") != std::string_view::npos)
    return std::nullopt;
  const Result<std::int64_t> parsed = parse_decimal(number, scale);
  if (!parsed) return std::nullopt;
  return *parsed;
}

/// The number as it was probably meant: "0,60" -> "0.60"; empty if that does not help.
std::string mended_number(std::string_view number, int scale) {
  std::string other(number);
  if (std::count(other.begin(), other.end(), ',') == 1 && other.find('.') == std::string::npos &&
      other.size() - other.find(',') != 4) {
    std::replace(other.begin(), other.end(), ',', '.');
  } else {
    std::erase(other, ',');
    std::erase(other, '_');
  }
  if (other == number || !decimal(other, scale)) return "";
  return other;
}

struct UnitScale {
  std::string_view unit;
  double factor;
};

/// A number not below zero with one of these units, in the base unit. Exact enough for physics (a double).
std::optional<double> parse_scaled(std::string_view text, const UnitScale* from, const UnitScale* to,
                                   std::string_view expected, std::string_view like, Misread& why) {
  const auto [number, unit] = split_number(text);
  why.expected = fmt::format("{}, e.g. \"{}\"", expected, like);
  why.mend.clear();
  const std::optional<std::int64_t> nano = decimal(number, 9);
  for (const UnitScale* u = from; u != to; ++u) {
    if (u->unit == unit && nano && *nano >= 0) return static_cast<double>(*nano) * 1e-9 * u->factor;
    if (u->unit == unit && !nano)
      if (const std::string other = mended_number(number, 9); !other.empty())
        why.mend = fmt::format("write \"{}{}\"", other, unit);
  }
  if (unit.empty() && nano) why.mend = fmt::format("add the unit: \"{}{}\"", number, from->unit);
  return std::nullopt;
}

}  // namespace

std::optional<Amount> parse_amount(std::string_view text, std::string_view like, Misread& why) {
  const auto [number, unit] = split_number(text);
  const std::string_view like_unit = split_number(like).unit;
  why = {"a decimal number with its unit", fmt::format("write e.g. \"{}\"", like)};
  Amount amount;
  std::string_view rest = unit;
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  amount.currency = std::string(trimmed(rest.substr(0, slash)));
  const bool currency = amount.currency.size() == 3 && std::all_of(amount.currency.begin(), amount.currency.end(),
                                                                   [](char c) { return c >= 'A' && c <= 'Z'; });
  rest = slash < rest.size() ? rest.substr(slash + 1) : std::string_view();
  bool units = !rest.empty();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view part = trimmed(rest.substr(0, end));
    units = units && !part.empty() && std::all_of(part.begin(), part.end(), is_letter);
    amount.per.emplace_back(part);
    rest = end < rest.size() ? rest.substr(end + 1) : std::string_view();
  }
  const std::optional<std::int64_t> nano = decimal(number, 9);
  if (!nano) {
    const std::string other = mended_number(number, 9);
    if (!other.empty() && currency && units) why.mend = fmt::format("write \"{} {}\"", other, unit);
    if (number.find('.') != std::string_view::npos && number.size() - number.find('.') > 10)
      why.expected = "a decimal number with at most 9 decimals and its unit";
    if (number.empty() && !unit.empty() && (unit.front() == '$' || unit.substr(0, 3) == amount.currency.substr(0, 3)) &&
        std::any_of(unit.begin(), unit.end(), is_digit))
      why.mend = fmt::format("write the currency after the number: \"{}\"", like);
    return std::nullopt;
  }
  if (unit.empty()) {
    why.mend = fmt::format("add the unit: \"{} {}\"", number, like_unit);
    return std::nullopt;
  }
  if (!currency || !units) return std::nullopt;
  amount.nano = *nano;
  return amount;
}

std::optional<Duration> parse_duration(std::string_view text, Misread& why) {
  static constexpr struct {
    std::string_view unit;
    int scale;          ///< decimals that are exact
    std::int64_t nano;  ///< nanoseconds per 10^-scale of the unit
  } units[] = {{"ns", 0, 1}, {"us", 3, 1}, {"ms", 6, 1}, {"s", 9, 1}, {"m", 9, 60}, {"h", 9, 3600}, {"d", 9, 86400}};
  const auto [number, unit] = split_number(text);
  why = {"a time with its unit (ns us ms s m h d), e.g. \"800ms\"", ""};
  for (const auto& u : units) {
    if (u.unit != unit) continue;
    const std::optional<std::int64_t> value = decimal(number, u.scale);
    std::int64_t product = 0;
    if (value && *value >= 0 && !__builtin_mul_overflow(*value, u.nano, &product)) return Duration{product};
    if (const std::string other = mended_number(number, u.scale); !other.empty())
      why.mend = fmt::format("write \"{}{}\"", other, unit);
    return std::nullopt;
  }
  if (unit.empty() && decimal(number, 9)) why.mend = fmt::format("add the unit: \"{}ms\" or \"{}s\"", number, number);
  return std::nullopt;
}

std::optional<double> parse_seconds(std::string_view text, Misread& why) {
  static constexpr UnitScale units[] = {{"ms", 1e-3}, {"ns", 1e-9}, {"us", 1e-6}, {"s", 1.0}};
  return parse_scaled(text, std::begin(units), std::end(units), "a time with its unit (ns us ms s)", "12.5ms", why);
}

std::optional<double> parse_bytes(std::string_view text, Misread& why) {
  static constexpr UnitScale units[] = {{"GiB", 1073741824.0}, {"B", 1.0},         {"kB", 1e3},
                                        {"MB", 1e6},           {"GB", 1e9},        {"TB", 1e12},
                                        {"KiB", 1024.0},       {"MiB", 1048576.0}, {"TiB", 1099511627776.0}};
  return parse_scaled(text, std::begin(units), std::end(units), "a size with its unit (GiB, GB, MiB...)", "80GiB", why);
}

std::optional<double> parse_bandwidth(std::string_view text, Misread& why) {
  static constexpr UnitScale units[] = {{"GB/s", 1e9}, {"MB/s", 1e6}, {"TB/s", 1e12}};
  return parse_scaled(text, std::begin(units), std::end(units), "a bandwidth with its unit (MB/s, GB/s)", "2 GB/s",
                      why);
}

std::optional<double> parse_watts(std::string_view text, Misread& why) {
  static constexpr UnitScale units[] = {{"W", 1.0}, {"kW", 1e3}};
  return parse_scaled(text, std::begin(units), std::end(units), "a power with its unit (W, kW)", "700W", why);
}

std::optional<double> parse_hazard(std::string_view text, Misread& why) {
  static constexpr UnitScale units[] = {{"%/h", 0.01}, {"/h", 1.0}};
  const auto value = parse_scaled(text, std::begin(units), std::end(units), "a chance per hour", "5%/h", why);
  if (value && *value > 1.0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_percent_ppm(std::string_view text, Misread& why) {
  const auto [number, unit] = split_number(text);
  why = {"a percentage, e.g. \"80%\"", ""};
  const auto value = decimal(number, 4);
  if (value && unit == "%") return value;
  const auto ratio = decimal(number, 6);
  if (unit.empty() && ratio && *ratio >= 0 && *ratio <= 1'000'000 && *ratio % 10'000 == 0)
    why.mend = fmt::format("write \"{}%\"", *ratio / 10'000);
  else if (unit.empty() && ratio)
    why.mend = fmt::format("add the unit: \"{}%\"", number);
  return std::nullopt;
}

std::optional<std::int64_t> parse_ratio_ppm(std::string_view text, Misread& why) {
  const auto [number, unit] = split_number(text);
  why = {"a ratio, e.g. \"0.99\" or \"99%\"", ""};
  if (unit == "%") return decimal(number, 4);
  if (unit.empty())
    if (const auto value = decimal(number, 6)) return value;
  if (const std::string other = mended_number(number, 6); !other.empty())
    why.mend = fmt::format("write \"{}{}\"", other, unit);
  return std::nullopt;
}

std::optional<std::int64_t> parse_count(std::string_view text, Misread& why) {
  why = {"a whole number", ""};
  const bool negative = !text.empty() && text.front() == '-';
  const std::string_view digits = negative ? text.substr(1) : text;
  const bool plain = !digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit);
  if (!plain) {
    std::string other(text);
    std::erase(other, '_');
    std::erase(other, ',');
    std::erase(other, ' ');
    if (other != text && !other.empty() && std::all_of(other.begin(), other.end(), is_digit))
      why.mend = fmt::format("write {}", other);
    return std::nullopt;
  }
  if (digits.size() > 1 && digits.front() == '0') {
    why.mend = "write it without the leading zero";
    return std::nullopt;
  }
  const Result<std::int64_t> value = parse_decimal(text, 0);
  if (!value) {
    why.expected = "a whole number that fits 64 bits";
    return std::nullopt;
  }
  return *value;
}

std::optional<std::string> parse_date(std::string_view text, Misread& why) {
  why = {"a date, e.g. \"2026-11-01\"", ""};
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  int parts[3] = {0, 0, 0};
  for (std::size_t i = 0, part = 0; i < text.size(); ++i) {
    if (i == 4 || i == 7) {
      ++part;
    } else if (!is_digit(text[i])) {
      return std::nullopt;
    } else {
      parts[part] = parts[part] * 10 + (text[i] - '0');
    }
  }
  if (!valid_date(parts[0], static_cast<unsigned>(parts[1]), static_cast<unsigned>(parts[2]))) {
    why.expected = "a date that exists";
    return std::nullopt;
  }
  return std::string(text);
}

namespace {

std::optional<int> minute_of_day(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  for (const std::size_t i : {0U, 1U, 3U, 4U})
    if (!is_digit(text[i])) return std::nullopt;
  const int hour = (text[0] - '0') * 10 + (text[1] - '0'), minute = (text[3] - '0') * 10 + (text[4] - '0');
  if (minute > 59 || hour > 24 || (hour == 24 && minute > 0)) return std::nullopt;
  return hour * 60 + minute;
}

constexpr std::array<std::string_view, 7> kDays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

}  // namespace

std::optional<MinuteRange> parse_minutes(std::string_view text, Misread& why) {
  why = {"a stretch of the day from 00:00 to 24:00, e.g. \"08:00-20:00\"", ""};
  if (text.size() != 11 || text[5] != '-') return std::nullopt;
  const auto from = minute_of_day(text.substr(0, 5)), to = minute_of_day(text.substr(6));
  if (!from || !to) return std::nullopt;
  if (*from >= *to) {
    if (*to > 0)
      why.mend = fmt::format("split it at midnight: \"{}-24:00\" and \"00:00-{}\"", text.substr(0, 5), text.substr(6));
    else
      why.mend = fmt::format("write the end of the day as 24:00: \"{}-24:00\"", text.substr(0, 5));
    return std::nullopt;
  }
  return MinuteRange{*from, *to};
}

std::optional<std::uint8_t> parse_days(std::string_view text, Misread& why) {
  why = {"days of the week, e.g. \"mon-fri\", \"sat\" or \"all\"", ""};
  if (text == "all") return std::uint8_t{0x7f};
  const auto day = [](std::string_view name) {
    return static_cast<unsigned>(std::find(kDays.begin(), kDays.end(), name) - kDays.begin());
  };
  const std::size_t dash = text.find('-');
  const unsigned from = day(text.substr(0, dash));
  const unsigned to = dash == std::string_view::npos ? from : day(text.substr(dash + 1));
  if (from > 6 || to > 6) return std::nullopt;
  unsigned mask = 0;
  for (unsigned i = from;; i = (i + 1) % 7) {
    mask |= 1U << i;
    if (i == to) break;
  }
  return static_cast<std::uint8_t>(mask);
}

std::optional<std::vector<std::string>> parse_nodes(std::string_view text, std::size_t cap, Misread& why) {
  why = {"node names, e.g. \"n[1-4]\" or \"gpu[01-16,20]\"", ""};
  const auto plain = [](std::string_view s) {
    return std::all_of(s.begin(), s.end(),
                       [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_'; });
  };
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos) {
    if (text.empty() || !plain(text)) return std::nullopt;
    return std::vector<std::string>{std::string(text)};
  }
  const std::size_t close = text.find(']', open);
  if (close == std::string_view::npos) {
    why.mend = fmt::format("close the bracket: \"{}]\"", text);
    return std::nullopt;
  }
  const std::string_view head = text.substr(0, open), tail = text.substr(close + 1);
  if (!plain(head) || !plain(tail)) return std::nullopt;
  std::vector<std::string> nodes;
  std::string_view rest = text.substr(open + 1, close - open - 1);
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const std::size_t dash = part.find('-');
    const std::string_view low = part.substr(0, dash),
                           high = dash == std::string_view::npos ? low : part.substr(dash + 1);
    const auto digits = [](std::string_view s) {
      return !s.empty() && s.size() <= 9 && std::all_of(s.begin(), s.end(), is_digit);
    };
    if (!digits(low) || !digits(high)) return std::nullopt;
    const std::int64_t from = *parse_decimal(low, 0), to = *parse_decimal(high, 0);
    if (from > to) {
      why.mend = fmt::format("write the smaller number first: [{}-{}]", high, low);
      return std::nullopt;
    }
    if (static_cast<std::uint64_t>(to - from) >= cap - std::min(cap, nodes.size())) {
      why.expected = fmt::format("at most {} nodes in one place", cap);
      return std::nullopt;
    }
    for (std::int64_t i = from; i <= to; ++i)
      nodes.push_back(fmt::format("{}{:0{}}{}", head, i, low.size() > 1 && low.front() == '0' ? low.size() : 1, tail));
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  return nodes;
}

}  // namespace ace::fleet_file
