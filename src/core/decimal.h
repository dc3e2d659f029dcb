#pragma once
/// Decimals of which more digits were published than we keep.
#include <cstdint>
#include <string_view>

#include "core/result.h"

namespace ace {

/// A decimal ("61.9481468400000012", "-3.6e-05") times 10^scale, rounded half away from zero to an integer, from its
/// text: no double is involved. For measured and derived figures (hourly rates divided from monthly ones, day-ahead
/// prices, forecasts); prices of a list are exact and use parse_decimal.
/// @return bad_input if it is not a decimal number, out_of_range if the value does not fit in int64 or the text is
/// longer
///         than 64 characters.
Result<std::int64_t> parse_decimal_rounded(std::string_view text, int scale);

}  // namespace ace
