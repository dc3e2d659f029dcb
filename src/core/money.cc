#include "core/money.h"

#include <cmath>
#include <limits>

#include "core/text.h"

namespace ace {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

bool digit(char c) { return c >= '0' && c <= '9'; }

std::string decimal(std::int64_t nano) {
  const std::uint64_t magnitude = nano < 0 ? 0 - static_cast<std::uint64_t>(nano) : static_cast<std::uint64_t>(nano);
  std::string fraction = std::to_string(magnitude % 1'000'000'000);
  fraction.insert(0, 9 - fraction.size(), '0');
  while (fraction.size() > 2 && fraction.back() == '0') fraction.pop_back();
  return (nano < 0 ? "-" : "") + std::to_string(magnitude / 1'000'000'000) + "." + fraction;
}

}  // namespace

Result<Usd> round_femto(int128 femto) {
  const int128 nano = divide_half_away(femto, 1'000'000);
  if (nano > kMax || nano < -int128{kMax})
    return Error(Errc::out_of_range, "an amount does not fit in int64 nano-dollars");
  return Usd{static_cast<std::int64_t>(nano)};
}

Result<std::int64_t> parse_decimal(std::string_view text, int scale) {
  const auto bad = [&](const char* why) {
    return Error(Errc::bad_input,
                 "expected a decimal number, got \"" + std::string(text.substr(0, 64)) + "\" (" + why + ")");
  };
  std::size_t at = 0;
  bool negative = false;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) negative = text[at++] == '-';
  int128 mantissa = 0;
  int exponent = 0;  // of ten
  bool any = false;
  bool too_long = false;
  int zeros = 0;  // seen since the last other digit; they cost no room unless another digit follows
  const auto take = [&](char c) {
    any = true;
    if (c == '0') {
      ++zeros;
      return;
    }
    for (; zeros >= 0; --zeros) {
      if (mantissa > int128{kMax} * 10'000'000'000) too_long = true;
      if (!too_long) mantissa *= 10;
    }
    zeros = 0;
    mantissa += c - '0';
  };
  for (; at < text.size() && digit(text[at]); ++at) take(text[at]);
  if (at < text.size() && text[at] == '.') {
    for (++at; at < text.size() && digit(text[at]); ++at) {
      take(text[at]);
      --exponent;
    }
  }
  if (!any) return bad("no digits");
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    bool down = false;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) down = text[at++] == '-';
    if (at == text.size()) return bad("an exponent without digits");
    int power = 0;
    for (; at < text.size() && digit(text[at]); ++at)
      power = power > 99'999'999 ? power : power * 10 + (text[at] - '0');
    exponent += down ? -power : power;
  }
  if (at != text.size()) return bad("unexpected character");
  if (too_long) return Error(Errc::out_of_range, "too many digits in \"" + std::string(text.substr(0, 64)) + "\"");
  exponent += zeros + scale;
  if (mantissa == 0) return std::int64_t{0};
  while (exponent < 0 && mantissa % 10 == 0) {
    mantissa /= 10;
    ++exponent;
  }
  if (exponent < 0)
    return Error(Errc::out_of_range,
                 "\"" + std::string(text.substr(0, 64)) + "\" has more than " + std::to_string(scale) + " decimals");
  for (; exponent > 0; --exponent) {
    if (mantissa > kMax) break;
    mantissa *= 10;
  }
  if (exponent > 0 || mantissa > kMax)
    return Error(Errc::out_of_range, "\"" + std::string(text.substr(0, 64)) + "\" is too large");
  return static_cast<std::int64_t>(negative ? -mantissa : mantissa);
}

std::string to_decimal(Usd amount) { return decimal(amount.nano); }
std::string to_decimal(UsdPerMtok price) { return decimal(price.nano); }

std::string to_display(Usd amount) {
  const std::uint64_t magnitude =
      amount.nano < 0 ? 0 - static_cast<std::uint64_t>(amount.nano) : static_cast<std::uint64_t>(amount.nano);
  const char* sign = amount.nano < 0 ? "-$" : "$";
  if (magnitude == 0) return "$0.00";
  if (magnitude < 999'500'000) {  // under a dollar: keep three significant digits
    std::uint64_t unit = 1;
    while (magnitude / unit >= 1000) unit *= 10;
    const std::uint64_t rounded = (magnitude + unit / 2) / unit * unit;
    std::string text = decimal(static_cast<std::int64_t>(rounded));
    return sign + text;
  }
  const std::uint64_t cents = (magnitude + 5'000'000) / 10'000'000;
  std::string fraction = std::to_string(cents % 100);
  fraction.insert(0, 2 - fraction.size(), '0');
  return sign + grouped(cents / 100) + "." + fraction;
}

Result<Usd> usd_from_physics(double dollars) {
  const double nano = dollars * 1e9;
  if (!(nano > -9.2e18 && nano < 9.2e18))
    return Error(Errc::out_of_range, "an amount computed from physics is not a representable sum");
  return Usd{static_cast<std::int64_t>(std::round(nano))};  // exact, and half away from zero
}

}  // namespace ace
