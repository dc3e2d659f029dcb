#include "core/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "core/statistics.h"
#include "core/testing.h"

namespace ace {
namespace {

TEST(Rng, draws_the_same_numbers_as_ever) {  // a change here changes every replay and every generated trace
  Rng rng(7, "golden");
  EXPECT_EQ(rng.next(), 0x3346db05795a4b77ULL);
  EXPECT_EQ(rng.next(), 0x51f73948251c7033ULL);
  EXPECT_EQ(rng.below(1'000'000), 622351U);
  EXPECT_EQ(rng.split("child").next(), 0x700041f5ba43ffacULL);
  EXPECT_EQ(rng.split(std::uint64_t{3}).next(), 0xb698240dfa8d8114ULL);
  EXPECT_EQ(rng.uniform(), 0x1.4e4b46f7343dep-2);
  EXPECT_EQ(rng.exponential(2.0), 0x1.5c8ed202caa14p-1);
  EXPECT_EQ(rng.normal(), -0x1.6f72b737ad784p-1);
  EXPECT_EQ(rng.gamma(0.5, 3.0), 0x1.ce341c8a0937cp-2);
  EXPECT_EQ(rng.weibull(0.8, 2.0), 0x1.9b90766ccecbep+0);
}

TEST(Rng, is_unbiased_below_n) {
  // Chi-squared with n - 1 = 6 degrees of freedom exceeds 22.5 once in a thousand.
  Rng rng(1, "below");
  std::vector<double> seen(7, 0.0);
  const int draws = 700'000;
  for (int i = 0; i < draws; ++i) seen[rng.below(7)] += 1.0;
  double chi2 = 0.0;
  for (const double count : seen) chi2 += (count - draws / 7.0) * (count - draws / 7.0) / (draws / 7.0);
  EXPECT_LT(chi2, 22.5);
  // Near 2^64 a plain remainder would prefer the lower third: 3 x 2^62 numbers, of which a third lie below 2^62.
  const std::uint64_t n = 3ULL << 62;
  double low = 0.0;
  for (int i = 0; i < 100'000; ++i) low += rng.below(n) < (1ULL << 62) ? 1.0 : 0.0;
  EXPECT_NEAR(low / 100'000, 1.0 / 3.0, 0.006);  // four standard errors of 0.0015
}

TEST(Rng, stays_between_its_bounds_up_to_the_widest) {
  for_each_seed(2'000, [](Rng& rng) {
    const auto a = static_cast<std::int64_t>(rng.next());
    const auto b = static_cast<std::int64_t>(rng.next());
    const std::int64_t got = rng.between(std::min(a, b), std::max(a, b));
    EXPECT_GE(got, std::min(a, b));
    EXPECT_LE(got, std::max(a, b));
    EXPECT_EQ(rng.between(a, a), a);
  });
  Rng rng(1, "widest");
  std::set<bool> signs;
  for (int i = 0; i < 64; ++i)
    signs.insert(rng.between(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()) < 0);
  EXPECT_EQ(signs.size(), 2U);
}

TEST(Rng, has_the_moments_of_its_distributions) {
  struct Case {
    const char* name;
    double mean, variance;
    double (*draw)(Rng&);
  };
  // Weibull(k = 2, scale 3): mean 3 Gamma(1.5) = 3 x 0.886227, variance 9 (Gamma(2) - Gamma(1.5)^2) = 9 x 0.214602.
  const Case cases[] = {
      {"uniform", 0.5, 1.0 / 12.0, [](Rng& rng) { return rng.uniform(); }},
      {"exponential", 2.0, 4.0, [](Rng& rng) { return rng.exponential(2.0); }},
      {"normal", 0.0, 1.0, [](Rng& rng) { return rng.normal(); }},
      {"gamma, shape 4", 6.0, 9.0, [](Rng& rng) { return rng.gamma(4.0, 1.5); }},
      {"gamma, shape 0.3", 0.6, 1.2, [](Rng& rng) { return rng.gamma(0.3, 2.0); }},
      {"weibull", 2.658681, 1.931417, [](Rng& rng) { return rng.weibull(2.0, 3.0); }},
  };
  for (const Case& c : cases) {
    Rng rng(11, c.name);
    Moments moments;
    constexpr int kDraws = 400'000;
    for (int i = 0; i < kDraws; ++i) moments.add(c.draw(rng));
    EXPECT_NEAR(moments.mean, c.mean, 4.0 * std::sqrt(c.variance / kDraws)) << c.name;  // four standard errors
    EXPECT_NEAR(moments.variance(), c.variance, 0.03 * c.variance) << c.name;
  }
}

TEST(Rng, gives_each_purpose_a_stream_of_its_own) {
  const Rng parent(5, "parent");
  Rng untouched = parent;
  Rng a = parent.split("a");
  Rng again = parent.split("a");
  Rng b = parent.split("b");
  Rng first = parent.split(std::uint64_t{0});
  Rng second = parent.split(std::uint64_t{1});
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1'000; ++i) {
    const std::uint64_t x = a.next();
    EXPECT_EQ(x, again.next());
    for (const std::uint64_t y : {x, b.next(), first.next(), second.next(), untouched.next()}) seen.insert(y);
  }
  EXPECT_EQ(seen.size(), 5'000U);
  EXPECT_NE(Rng(5, "x").next(), Rng(6, "x").next());
}

TEST(Rng, has_streams_without_correlation) {
  Rng parent(9, "parent");
  Rng child = parent.split(std::uint64_t{1});
  double sum = 0.0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) sum += (parent.uniform() - 0.5) * (child.uniform() - 0.5);
  EXPECT_NEAR(sum / kDraws * 12.0, 0.0, 4.0 / std::sqrt(static_cast<double>(kDraws)));
}

TEST(Rng, shuffles_every_order_alike) {
  // 6 orders of 3 things, 60,000 shuffles: 10,000 each, standard deviation 91.
  Rng rng(2, "shuffle");
  std::vector<int> seen(27, 0);
  for (int i = 0; i < 60'000; ++i) {
    int items[] = {0, 1, 2};
    rng.shuffle(std::span<int>(items));
    ++seen[static_cast<std::size_t>(items[0] * 9 + items[1] * 3 + items[2])];
  }
  int orders = 0;
  for (const int count : seen) {
    if (count == 0) continue;
    ++orders;
    EXPECT_NEAR(count, 10'000, 400);
  }
  EXPECT_EQ(orders, 6);
}

}  // namespace
}  // namespace ace
