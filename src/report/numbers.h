#pragma once
/// Numbers as a page prints them.
#include <string>

namespace ace {

/// A number with that many decimals, rounded to nearest. What rounds to zero has no sign: "0.0", never "-0.0".
std::string fixed(double value, int decimals);

}  // namespace ace
