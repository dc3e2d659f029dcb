#include "core/numeric.h"

#include <bit>
#include <cstdint>
#include <limits>

namespace ace::numeric {

double log(double x) {
  std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0x000f'ffff'ffff'ffffULL) | 0x3ff0'0000'0000'0000ULL;
  double m = std::bit_cast<double>(bits);
  if (m > 1.4142135623730951) {  // m in [sqrt(1/2), sqrt(2)): the series below needs |s| < 0.172
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double q = s * s;
  double sum = 0.0;
  for (int k = 25; k >= 1; k -= 2) sum = sum * q + 1.0 / k;  // log m = 2 (s + s^3/3 + s^5/5 + ...)
  return exponent * 0.69314718055994530942 + 2.0 * s * sum;
}

double exp(double x) {
  if (x < -708.0) return 0.0;
  if (x > 709.0) return std::numeric_limits<double>::max();
  const double scaled = x * 1.44269504088896340736;
  const int k = static_cast<int>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
  const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;  // ln 2 in two parts
  double sum = 1.0;
  for (int n = 18; n >= 1; --n) sum = 1.0 + sum * r / n;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
}

double pow(double x, double y) {
  if (x <= 0.0) return y == 0.0 ? 1.0 : y > 0.0 ? 0.0 : std::numeric_limits<double>::max();
  return exp(y * log(x));
}

double log_gamma(double x) {
  static constexpr double kLanczos[] = {0.99999999999980993,  676.5203681218851,     -1259.1392167224028,
                                        771.32342877765313,   -176.61502916214059,   12.507343278686905,
                                        -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
  double sum = kLanczos[0];
  for (int i = 1; i < 9; ++i) sum += kLanczos[i] / (x - 1.0 + i);
  const double t = x + 6.5;
  return 0.91893853320467274178 + (x - 0.5) * log(t) - t + log(sum);
}

}  // namespace ace::numeric
