#include "trace/numbers.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/core.h>

#include "core/int128.h"

namespace ace {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

/// A non-negative plain decimal times 10^scale, rounded half up. Exponents are what printf and JSON writers produce.
Result<std::int64_t> scaled_decimal(std::string_view text, int scale) {
  const auto bad = [&] { return Error(Errc::bad_input, "expected a decimal number, got " + shown(text)); };
  int128 digits = 0;
  int point = 0;  // digits after the point
  bool any = false, dot = false, sticky = false;
  std::size_t i = 0;
  if (i < text.size() && text[i] == '-') {
    return Error(Errc::out_of_range, "expected a number that is not negative, got " + shown(text));
  }
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !dot) {
      dot = true;
    } else if (digit(c)) {
      any = true;
      if (digits < int128{1} << 100) {
        digits = digits * 10 + (c - '0');
        point += dot ? 1 : 0;
      } else {
        sticky = sticky || c != '0';  // beyond thirty digits only the size matters
        point -= dot ? 0 : 1;
      }
    } else {
      break;
    }
  }
  if (!any || text.size() > 400) return bad();
  int exponent = 0;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    bool negative = false;
    if (++i < text.size() && (text[i] == '-' || text[i] == '+')) negative = text[i++] == '-';
    if (i == text.size() || text.size() - i > 4) return bad();
    for (; i < text.size() && digit(text[i]); ++i) exponent = exponent * 10 + (text[i] - '0');
    if (negative) exponent = -exponent;
  }
  if (i != text.size()) return bad();
  if (digits == 0) return std::int64_t{0};
  int shift = exponent - point + scale;
  for (; shift < 0; ++shift) {
    if (shift < -1 || !sticky) sticky = sticky || digits % 10 != 0;
    digits = shift == -1 ? (digits + 5) / 10 : digits / 10;
    if (digits == 0) return std::int64_t{0};
  }
  for (; shift > 0 && digits < int128{1} << 100; --shift) digits *= 10;
  if (shift > 0 || digits > std::numeric_limits<std::int64_t>::max()) {
    return Error(Errc::out_of_range, "out_of_range: " + shown(text) + " does not fit");
  }
  return static_cast<std::int64_t>(digits);
}

}  // namespace

std::string shown(std::string_view cell) {
  if (cell.empty()) return "nothing";
  const bool harmless = cell.size() <= 40 && std::all_of(cell.begin(), cell.end(), [](char c) {
                          return digit(c) || std::string_view("+-.,:eETZ ").find(c) != std::string_view::npos;
                        });
  return harmless ? fmt::format("\"{}\"", cell) : fmt::format("a text of {} bytes", cell.size());
}

Result<std::int32_t> parse_tokens(std::string_view text) {
  std::int64_t value = 0;
  std::size_t i = 0;
  for (; i < text.size() && digit(text[i]); ++i) {
    value = value * 10 + (text[i] - '0');
    if (value > kTokensMax) {
      const bool whole = std::all_of(text.begin(), text.end(), digit);
      if (whole) return Error(Errc::out_of_range, "out_of_range: at most 1000000000 tokens, got " + shown(text));
      break;
    }
  }
  std::string_view rest = text.substr(i);
  if (i > 0 && rest.size() > 1 && rest.front() == '.' && rest.find_first_not_of('0', 1) == std::string_view::npos) {
    rest = {};
  }
  if (i == 0 || !rest.empty()) {
    return Error(Errc::bad_input, "expected a whole number of tokens, got " + shown(text));
  }
  return static_cast<std::int32_t>(value);
}

Result<std::int64_t> parse_nano_usd(std::string_view text) { return scaled_decimal(text, 9); }

Result<std::int64_t> parse_micros(std::string_view text, std::int64_t unit_ns) {
  switch (unit_ns) {
    case 1:
      return scaled_decimal(text, -3);
    case 1'000'000:
      return scaled_decimal(text, 3);
    case 1'000'000'000:
      return scaled_decimal(text, 6);
    default:
      return scaled_decimal(text, 0);
  }
}

std::optional<bool> parse_bool(std::string_view text) {
  std::string low(text.substr(0, 8));
  std::transform(low.begin(), low.end(), low.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (low == "true" || low == "1" || low == "yes") return true;
  if (low == "false" || low == "0" || low == "no") return false;
  return std::nullopt;
}

std::string_view name_of(TimeKind kind) {
  switch (kind) {
    case TimeKind::zoned:
      return "time with a zone";
    case TimeKind::naive:
      return "time without a zone";
    case TimeKind::seconds:
      return "seconds";
    case TimeKind::millis:
      return "milliseconds";
    case TimeKind::micros:
      return "microseconds";
    case TimeKind::nanos:
      return "nanoseconds";
    default:
      return "time";
  }
}

Result<void> TimeColumn::agree(TimeKind kind, std::string_view text) {
  if (kind_ == TimeKind::unknown) kind_ = kind;
  if (kind_ == kind) return {};
  return Error(Errc::bad_input, fmt::format("expected {} as in the rows before, got {} ({})", name_of(kind_),
                                            shown(text), name_of(kind)));
}

Result<Instant> TimeColumn::parse(std::string_view text) {
  if (text.size() >= 19 && text[4] == '-' && text[7] == '-') return parse_civil(text);
  return parse_number(text);
}

Result<Instant> TimeColumn::parse_number(std::string_view text) {
  const bool number = !text.empty() && (digit(text[0]) || text[0] == '-') && text.find_first_of(":TZ/ ") == text.npos;
  if (!number) {
    return Error(Errc::bad_input,
                 "expected a time such as 2026-11-30T09:42:00Z or a number since the epoch, got " + shown(text));
  }
  TimeKind kind = given_;
  if (kind == TimeKind::unknown || kind == TimeKind::zoned || kind == TimeKind::naive) {
    const Result<std::int64_t> whole = scaled_decimal(text, 0);
    if (!whole) return whole.error();
    kind = *whole < 100'000'000'000           ? TimeKind::seconds
           : *whole < 100'000'000'000'000     ? TimeKind::millis
           : *whole < 100'000'000'000'000'000 ? TimeKind::micros
                                              : TimeKind::nanos;
  }
  if (const Result<void> same = agree(kind, text); !same) return same.error();
  const int scale = kind == TimeKind::seconds ? 9 : kind == TimeKind::millis ? 6 : kind == TimeKind::micros ? 3 : 0;
  const Result<std::int64_t> ns = scaled_decimal(text, scale);
  if (!ns) return ns.error();
  return instant(*ns);
}

Result<Instant> TimeColumn::parse_civil(std::string_view text) {
  const auto bad = [&](const char* why) {
    return Error(Errc::bad_input,
                 fmt::format("expected a time such as 2026-11-30T09:42:00Z, got {}{}", shown(text), why));
  };
  unsigned wrong = 0;
  const auto two = [&](std::size_t at) {
    const auto a = static_cast<unsigned>(text[at] - '0'), b = static_cast<unsigned>(text[at + 1] - '0');
    wrong |= static_cast<unsigned>(a > 9) | static_cast<unsigned>(b > 9);
    return a * 10 + b;
  };
  if (date_nanos_ < 0 || std::memcmp(date_, text.data(), 10) != 0) {
    const unsigned year = two(0) * 100 + two(2), month = two(5), day = two(8);
    if (wrong != 0) return bad("");
    if (year < 1970 || year > 2261) return bad(": the year must be from 1970 to 2261");
    if (!valid_date(static_cast<int>(year), month, day)) return bad(": there is no such date");
    date_nanos_ = nanos(instant_of({.year = static_cast<int>(year), .month = month, .day = day}));
    std::memcpy(date_, text.data(), 10);
  }
  const unsigned hour = two(11), minute = two(14);
  unsigned second = two(17);
  if (wrong != 0 || (text[10] != ' ' && text[10] != 'T' && text[10] != 't') || text[13] != ':' || text[16] != ':') {
    return bad("");
  }
  // A leap second is the last one of an hour of UTC; zones are whole quarters of an hour away from it.
  if (hour > 23 || minute > 59 || second > 60 || (second == 60 && minute % 15 != 14))
    return bad(": there is no such time of day");
  std::size_t i = 19;
  std::int64_t fraction = 0;
  if (i < text.size() && text[i] == '.') {
    std::int64_t unit = 100'000'000;
    const std::size_t first = ++i;
    for (; i < text.size() && digit(text[i]); ++i, unit /= 10) fraction += unit * (text[i] - '0');
    if (i == first || i - first > 9) return bad(": a fraction has one to nine digits");
  }
  if (second == 60) {  // AceTime has no leap seconds: clamped, and counted
    second = 59;
    fraction = 999'000'000;
    ++leap_seconds_;
  }
  const std::int64_t local = date_nanos_ + (hour * 3600LL + minute * 60LL + second) * nanos(kSecond) + fraction;
  const std::string_view zone = text.substr(i);
  if (zone.empty()) {
    if (const Result<void> same = agree(TimeKind::naive, text); !same) return same.error();
    if (zone_ == nullptr) {
      return Error(Errc::bad_input, fmt::format("{} has no zone; say which with --tz, e.g. --tz UTC", shown(text)));
    }
    return zone_->to_utc(instant(local));
  }
  if (const Result<void> same = agree(TimeKind::zoned, text); !same) return same.error();
  if (zone == "Z" || zone == "z") return instant(local);
  const bool colon = zone.size() == 6 && zone[3] == ':';
  if ((zone[0] != '+' && zone[0] != '-') || (!colon && zone.size() != 5 && zone.size() != 3)) return bad("");
  const unsigned hours = two(i + 1), minutes = zone.size() == 3 ? 0 : two(i + (colon ? 4U : 3U));
  if (wrong != 0 || hours > 14 || minutes > 59) return bad(": there is no such offset");
  const std::int64_t offset = (hours * 60LL + minutes) * nanos(kMinute);
  return instant(zone[0] == '+' ? local - offset : local + offset);
}

}  // namespace ace
