#include "core/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "core/testing.h"

namespace ace {
namespace {

/// The definition: the smallest value with at least `percent_hundredths` / 10,000 of the sample at or below it.
std::int64_t nearest_rank(std::vector<std::int64_t> sample, std::uint64_t percent_hundredths) {
  std::sort(sample.begin(), sample.end());
  const std::uint64_t rank = (percent_hundredths * sample.size() + 9'999) / 10'000;
  return sample[std::max<std::uint64_t>(rank, 1) - 1];
}

std::int64_t some_value(Rng& rng) {
  return static_cast<std::int64_t>((rng.next() >> 1) >> rng.between(0, 62));  // every magnitude alike
}

TEST(Histogram, is_exact_below_2_to_the_16) {
  for_each_seed(300, [](Rng& rng) {
    std::vector<std::int64_t> sample(static_cast<std::size_t>(rng.between(1, 400)));
    Histogram histogram;
    for (auto& value : sample) histogram.add(value = rng.between(0, rng.chance(0.5) ? 20 : 65'535));
    for (const std::uint64_t q :
         std::initializer_list<std::uint64_t>{0, 1, 700, 2'500, 5'000, 9'000, 9'500, 9'900, 9'990, 10'000}) {
      EXPECT_EQ(histogram.quantile(static_cast<double>(q) / 10'000.0), nearest_rank(sample, q))
          << q << " of " << sample.size();
    }
  });
}

TEST(Histogram, is_within_one_part_in_128_above_and_never_beyond_the_maximum) {
  for_each_seed(100, [](Rng& rng) {
    std::vector<std::int64_t> sample(static_cast<std::size_t>(rng.between(1, 400)));
    Histogram histogram;
    int128 sum = 0;
    for (auto& value : sample) {
      histogram.add(value = some_value(rng));
      sum += value;
    }
    EXPECT_EQ(histogram.max(), *std::max_element(sample.begin(), sample.end()));
    EXPECT_EQ(histogram.min(), *std::min_element(sample.begin(), sample.end()));
    EXPECT_TRUE(histogram.sum() == sum);
    for (const std::uint64_t q : std::initializer_list<std::uint64_t>{0, 500, 5'000, 9'500, 9'900, 10'000}) {
      const std::int64_t want = nearest_rank(sample, q);
      const std::int64_t got = histogram.quantile(static_cast<double>(q) / 10'000.0);
      EXPECT_GE(got, want);
      EXPECT_LE(got - want, want / 128);
      EXPECT_LE(got, histogram.max());
    }
  });
}

TEST(Histogram, asks_for_the_rank_that_was_meant) {
  Histogram histogram;  // 1..100; 0.07 x 100 is 7.000000000000001 in doubles, and rank 7 is meant
  for (std::int64_t i = 1; i <= 100; ++i) histogram.add(i);
  for (std::int64_t percent = 1; percent <= 100; ++percent) {
    EXPECT_EQ(histogram.quantile(static_cast<double>(percent) / 100.0), percent);
  }
}

TEST(Histogram, merges_to_what_one_that_saw_all_would_say) {
  for_each_seed(40, [](Rng& rng) {
    Histogram whole;
    Histogram parts[3];
    for (int i = 0; i < 200; ++i) {
      const std::int64_t value = some_value(rng);
      const std::uint64_t times = rng.below(4);
      whole.add(value, times);
      parts[rng.below(3)].add(value, times);
    }
    Histogram merged;
    for (const std::size_t i : {2U, 0U, 1U}) merged.merge(parts[i]);
    EXPECT_EQ(merged.count(), whole.count());
    EXPECT_EQ(merged.min(), whole.min());
    EXPECT_EQ(merged.max(), whole.max());
    EXPECT_EQ(merged.mean(), whole.mean());
    for (const double q : {0.0, 0.25, 0.5, 0.95, 1.0}) EXPECT_EQ(merged.quantile(q), whole.quantile(q));
  });
}

TEST(Histogram, of_nothing_is_zero_and_of_the_largest_number_is_that_number) {
  Histogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0);
  EXPECT_EQ(histogram.mean(), 0.0);
  histogram.add(5, 0);
  EXPECT_EQ(histogram.count(), 0U);
  histogram.add(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(histogram.quantile(0.5), std::numeric_limits<std::int64_t>::max());
}

TEST(Wilson, needs_381_trials_without_a_failure_to_show_less_than_one_percent) {
  // Without a failure the upper bound is z^2 / (n + z^2) with z^2 = 3.8415: below 1% from n = 99 z^2 = 380.3 on, and
  // below 0.5% from n = 199 z^2 = 764.5 on.
  EXPECT_LT(wilson_upper(0, 381), 0.01);
  EXPECT_GE(wilson_upper(0, 380), 0.01);
  EXPECT_LT(wilson_upper(0, 765), 0.005);
  EXPECT_GE(wilson_upper(0, 764), 0.005);
}

TEST(Wilson, agrees_with_published_bounds_and_mirrors) {
  // Newcombe 1998, table I, score method without continuity correction: 81/263 and 15/148.
  EXPECT_NEAR(wilson_lower(81, 263), 0.2553, 5e-5);
  EXPECT_NEAR(wilson_upper(81, 263), 0.3662, 5e-5);
  EXPECT_NEAR(wilson_lower(15, 148), 0.0624, 5e-5);
  EXPECT_NEAR(wilson_upper(15, 148), 0.1605, 5e-5);
  EXPECT_EQ(wilson_lower(0, 0), 0.0);
  EXPECT_EQ(wilson_upper(0, 0), 1.0);
  EXPECT_EQ(wilson_lower(0, 20), 0.0);
  EXPECT_EQ(wilson_upper(20, 20), 1.0);
  for_each_seed(500, [](Rng& rng) {
    const std::uint64_t n = 1 + rng.below(100'000);
    const std::uint64_t k = rng.below(n + 1);
    EXPECT_NEAR(wilson_lower(k, n), 1.0 - wilson_upper(n - k, n), 1e-12);
    EXPECT_LE(wilson_lower(k, n), static_cast<double>(k) / static_cast<double>(n));
    EXPECT_GE(wilson_upper(k, n), static_cast<double>(k) / static_cast<double>(n));
  });
}

TEST(Moments, are_those_of_the_definition) {
  Moments moments;  // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, variance (9+1+1+1+0+0+4+16)/8 = 4
  EXPECT_EQ(moments.variance(), 0.0);
  EXPECT_EQ(moments.cv(), 0.0);
  for (const double x : {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}) moments.add(x);
  EXPECT_DOUBLE_EQ(moments.mean, 5.0);
  EXPECT_DOUBLE_EQ(moments.variance(), 4.0);
  EXPECT_DOUBLE_EQ(moments.cv(), 0.4);
}

TEST(RateEwma, forgets_half_after_tau_without_events_and_never_looks_back) {
  RateEwma rate(10 * kSecond);
  rate.add(instant(0), 100.0);
  EXPECT_DOUBLE_EQ(rate.per_second(instant(0)), 10.0);            // 100 units over 10 s
  EXPECT_DOUBLE_EQ(rate.per_second(Instant{10 * kSecond}), 5.0);  // tau / (tau + dt) = 10 / 20
  EXPECT_DOUBLE_EQ(rate.per_second(Instant{90 * kSecond}), 1.0);  // 10 / 100
  EXPECT_DOUBLE_EQ(rate.per_second(instant(-5)), 10.0);           // a late look is as of the last event
}

TEST(RateEwma, settles_at_the_rate_of_a_steady_stream) {
  // Each step of dt = 10 ms: mass = mass x tau / (tau + dt) + a, whose fixed point is a (tau + dt) / dt; per second
  // that is a / dt x (1 + dt / tau) = 500 x 1.001.
  RateEwma rate(10 * kSecond);
  for (std::int64_t i = 0; i < 20'000; ++i) rate.add(instant(i * 10'000'000), 5.0);
  EXPECT_NEAR(rate.per_second(instant(19'999 * std::int64_t{10'000'000})), 500.5, 0.01);
}

}  // namespace
}  // namespace ace
