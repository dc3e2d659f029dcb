#include "plan/series_findings.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "plan/forecast_testing.h"

namespace ace {
namespace {

Clean cleaned(const Series& series) {
  return clean(series, Calendar(series.start, series.step, series.values.size(), nullptr));
}

TEST(SeriesFindings, fills_a_gap_from_the_same_time_before_at_the_level_of_now) {
  Rng rng(1, "gap");
  Series series = gen::demand(rng, 21 * 24, 1000.0, 0.0);
  for (std::size_t i = 18 * 24; i < 18 * 24 + 30; ++i) series.values[i] = kGap;
  const Clean c = cleaned(series);
  EXPECT_EQ(c.findings.gaps, 30U);
  EXPECT_EQ(c.findings.longest_gap, 30U);
  // Without noise the week before says what is missing; what the level learnt of the first days has nearly gone.
  for (std::size_t i = 18 * 24; i < 18 * 24 + 30; ++i) EXPECT_NEAR(c.values[i], series.values[i - 168], 60.0) << i;
}

TEST(SeriesFindings, pulls_in_an_outlier_and_believes_a_level_shift) {
  Rng rng(2, "outlier");
  Series series = gen::demand(rng, 28 * 24, 1000.0, 0.02);
  series.values[10 * 24 + 5] = 50'000.0;
  for (std::size_t i = 20 * 24; i < series.values.size(); ++i) series.values[i] += 3000.0;
  const Clean c = cleaned(series);
  ASSERT_EQ(c.findings.outliers.size(), 1U);
  EXPECT_EQ(c.findings.outliers[0].at, series.at(10 * 24 + 5));
  EXPECT_LT(c.values[10 * 24 + 5], 3000.0);
  ASSERT_EQ(c.findings.shifts.size(), 1U);
  EXPECT_EQ(c.findings.shifts[0].at, series.at(20 * 24));
  EXPECT_NEAR(c.findings.shifts[0].after - c.findings.shifts[0].before, 3000.0, 300.0);
  EXPECT_EQ(c.values.back(), series.values.back());
}

TEST(SeriesFindings, see_nothing_of_what_comes_later) {
  for_each_seed(30, [](Rng& rng) {
    Series series = gen::demand(rng, 24 * (3 + rng.below(20)), 100.0, 0.3);
    for (double& v : series.values) {
      if (rng.chance(0.02)) v = kGap;
      if (rng.chance(0.01)) v *= 20.0;
    }
    if (is_gap(series.values[0])) series.values[0] = 1.0;  // the first value stands in for gaps before it
    const std::vector<double> whole = cleaned(series).values;
    const std::size_t known = 1 + rng.below(series.values.size());
    Series past = series;
    past.values.resize(known);
    const std::vector<double> then = cleaned(past).values;
    for (std::size_t i = 0; i < known; ++i) ASSERT_EQ(then[i], whole[i]) << i;
  });
}

}  // namespace
}  // namespace ace
