#include "core/decimal.h"

#include <string>

#include "core/money.h"

namespace ace {

Result<std::int64_t> parse_decimal_rounded(std::string_view text, int scale) {
  // parse_decimal has the one grammar; only what it finds too precise is cut here.
  Result<std::int64_t> exact = parse_decimal(text, scale);
  if (exact || exact.error().code() != Errc::out_of_range) return exact;
  if (text.size() > 64)
    return Error(Errc::out_of_range, "\"" + std::string(text.substr(0, 64)) + "...\" is longer than 64 characters");
  const std::size_t mark = text.find_first_of("eE");
  const std::string_view mantissa = text.substr(0, mark);
  Result<std::int64_t> exponent = std::int64_t{0};  // of ten
  if (mark != std::string_view::npos) exponent = parse_decimal(text.substr(mark + 1), 0);
  if (!exponent || *exponent > 1'000 || *exponent < -1'000)
    return Error(Errc::out_of_range, "the exponent of \"" + std::string(text) + "\" is outside -1,000 to 1,000");
  std::string digits;
  std::int64_t point = 0;  // how many digits stand before the decimal point
  bool fraction = false;
  for (const char c : mantissa) {
    if (c == '.') fraction = true;
    if (c < '0' || c > '9') continue;
    digits += c;
    if (!fraction) ++point;
  }
  const std::int64_t kept = point + *exponent + scale;  // digits of the result
  if (kept < 0) return std::int64_t{0};
  const auto size = static_cast<std::int64_t>(digits.size());
  if (kept >= size) return exact;  // no digit to cut: it was too large, not too precise
  const bool up = digits[static_cast<std::size_t>(kept)] >= '5';
  digits.resize(static_cast<std::size_t>(kept));
  Result<std::int64_t> cut = parse_decimal(digits.empty() ? "0" : digits, 0);
  if (!cut) return cut;
  std::int64_t magnitude = *cut;
  if (up && __builtin_add_overflow(magnitude, 1, &magnitude)) return exact;
  return text.starts_with('-') ? -magnitude : magnitude;
}

}  // namespace ace
