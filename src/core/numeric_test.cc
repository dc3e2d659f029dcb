#include "core/numeric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/testing.h"

namespace ace {
namespace {

/// Distance from what libm says (itself good to an ulp), relative to the larger of that and `floor`.
double off(double got, double want, double floor = 0.0) {
  return std::fabs(got - want) / std::max(std::fabs(want), floor == 0.0 ? std::numeric_limits<double>::min() : floor);
}

/// Positive and normal, of any magnitude.
double any_positive(Rng& rng) { return std::ldexp(1.0 + rng.uniform(), static_cast<int>(rng.between(-1022, 1022))); }

TEST(Log, is_within_1e_14_of_libm_over_all_normal_numbers) {
  for_each_seed(20'000, [](Rng& rng) {
    const double x =
        rng.chance(0.5) ? any_positive(rng) : 0.5 + rng.uniform();  // often near 1, where the result vanishes
    ASSERT_LT(off(numeric::log(x), std::log(x)), 1e-14) << x;
  });
  EXPECT_EQ(numeric::log(1.0), 0.0);
  EXPECT_LT(off(numeric::log(1.0 - 0x1p-53), -0x1p-53), 1e-14);
  EXPECT_LT(off(numeric::log(1.0 + 0x1p-52), 0x1p-52), 1e-14);
}

TEST(Exp, is_within_1e_14_of_libm_and_saturates) {
  for_each_seed(20'000, [](Rng& rng) {
    const double x = -708.0 + 1417.0 * rng.uniform();
    ASSERT_LT(off(numeric::exp(x), std::exp(x)), 1e-14) << x;
  });
  EXPECT_EQ(numeric::exp(0.0), 1.0);
  EXPECT_EQ(numeric::exp(-708.5), 0.0);
  EXPECT_EQ(numeric::exp(710.0), std::numeric_limits<double>::max());
  EXPECT_EQ(numeric::exp(-std::numeric_limits<double>::infinity()), 0.0);
}

TEST(Pow, is_as_good_as_its_doc_says) {
  for_each_seed(20'000, [](Rng& rng) {
    const double x = rng.chance(0.5) ? any_positive(rng) : 2.0 * rng.uniform() + 0x1p-60;
    const double y = 40.0 * rng.uniform() - 20.0;
    const double power = std::fabs(y * std::log(x));
    if (power > 700.0) return;
    ASSERT_LT(off(numeric::pow(x, y), std::pow(x, y)), power < 20.0 ? 1e-14 : 1e-12) << x << "^" << y;
  });
  EXPECT_EQ(numeric::pow(0.0, 2.0), 0.0);
  EXPECT_EQ(numeric::pow(0.0, 0.0), 1.0);
  EXPECT_EQ(numeric::pow(0.0, -1.0), std::numeric_limits<double>::max());
  EXPECT_EQ(numeric::pow(7.0, 0.0), 1.0);
}

TEST(LogGamma, is_within_1e_14_of_libm_beside_its_roots_and_relatively_elsewhere) {
  for_each_seed(20'000, [](Rng& rng) {
    const double x = rng.chance(0.5) ? 0.001 + 5.0 * rng.uniform() : 1e6 * rng.uniform() + 5.0;
    ASSERT_LT(off(numeric::log_gamma(x), std::lgamma(x), 1.0), 1e-14) << x;
  });
}

TEST(Numeric, has_the_same_bits_as_ever) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  EXPECT_EQ(bits(numeric::log(10.0)), 0x40026bb1bbb55515ULL);
  EXPECT_EQ(bits(numeric::exp(1.0)), 0x4005bf0a8b14576aULL);
  EXPECT_EQ(bits(numeric::pow(2.5, 3.7)), 0x403dac93f32d18dbULL);
  EXPECT_EQ(bits(numeric::log_gamma(4.5)), 0x4003a140a3a623c6ULL);
}

}  // namespace
}  // namespace ace
