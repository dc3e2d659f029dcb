#include "plan/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing.h"
#include "plan/forecast_testing.h"

namespace ace {
namespace {

using ::testing::HasSubstr;

Forecast made(const Series& series, const ForecastOptions& options = {}) {
  Result<Forecast> f = forecast(series, options);
  EXPECT_TRUE(f) << f.error().what();
  return f ? *std::move(f) : Forecast{};
}

/// Every value is finite, quantiles do not cross, and the interval is not turned round.
void expect_sane(const Forecast& f) {
  ASSERT_FALSE(f.fan.quantiles.empty());
  for (std::size_t h = 0; h < f.fan.quantiles[0].size(); ++h) {
    for (std::size_t k = 0; k < f.fan.quantiles.size(); ++k) {
      ASSERT_TRUE(std::isfinite(f.fan.quantiles[k][h])) << h;
      if (k > 0) {
        ASSERT_LE(f.fan.quantiles[k - 1][h], f.fan.quantiles[k][h]) << h;
      }
    }
    ASSERT_LE(f.fan.low[h], f.fan.high[h]) << h;
  }
}

TEST(Forecast, beats_the_naive_ones_where_there_is_noise_to_see_through) {
  Rng rng(3, "better");
  const Forecast f = made(gen::demand(rng, 42 * 24), {.horizon = kDay});
  expect_sane(f);
  EXPECT_GT(f.backtest.points, 400U);
  EXPECT_LT(f.backtest.relative(), 0.9);
  EXPECT_EQ(f.start, gen::demand(rng, 42 * 24).end());
  EXPECT_EQ(f.fan.quantiles[0].size(), 24U);
}

TEST(Forecast, covers_what_it_promises_on_a_thousand_held_out_values) {
  for_each_seed(12, [](Rng& rng) {
    Series series =
        gen::demand(rng, 120 * 24, 10.0 + static_cast<double>(rng.below(100'000)), 0.02 + 0.3 * rng.uniform());
    // Half of them turn wilder midway.
    if (rng.chance(0.5))
      for (std::size_t i = 60 * 24; i < series.values.size(); ++i) series.values[i] *= 1.0 + 0.4 * rng.uniform();
    const Forecast f = made(series, {.horizon = kDay});
    expect_sane(f);
    ASSERT_GE(f.backtest.points, 1000U);
    EXPECT_GE(f.backtest.coverage, 0.88);
    EXPECT_LE(f.backtest.coverage, 0.92);
  });
}

TEST(Forecast, scales_with_the_series) {
  for_each_seed(6, [](Rng& rng) {
    Series series = gen::demand(rng, 24 * (12 + rng.below(20)), 100.0, 0.2);
    const Forecast one = made(series, {.horizon = 2 * kDay});
    for (double& v : series.values) v *= 1024.0;  // exact in binary
    const Forecast big = made(series, {.horizon = 2 * kDay});
    EXPECT_EQ(one.model, big.model);
    EXPECT_EQ(one.backtest.coverage, big.backtest.coverage);
    for (std::size_t k = 0; k < one.quantiles.size(); ++k)
      for (std::size_t h = 0; h < 48; ++h)
        ASSERT_NEAR(big.fan.quantiles[k][h], 1024.0 * one.fan.quantiles[k][h], 1e-6 * big.fan.quantiles[k][h] + 1e-9);
  });
}

TEST(Forecast, is_the_same_every_time) {
  Rng rng(5, "same");
  const Series series = gen::demand(rng, 20 * 24);
  EXPECT_EQ(to_json(made(series)), to_json(made(series)));
}

TEST(Forecast, follows_the_clock_of_a_zone_when_it_changes) {
  // Demand by the civil hour of Berlin; clocks go forward on 2026-03-29.
  const auto zone = *zone_of("Europe/Berlin");
  Series series{"dst", instant_of({.year = 2026, .month = 3, .day = 2}), kHour, {}};
  const auto civil_demand = [&](Instant t) {
    const Civil c = civil_of(t + zone->offset_at(t));
    return c.hour >= 9 && c.hour < 17 ? 100.0 : 10.0;
  };
  for (std::size_t i = 0; i < 27 * 24; ++i) series.values.push_back(civil_demand(series.at(i)));  // until the 28th
  const auto wrong_hours = [&](const Forecast& f) {
    int wrong = 0;
    for (std::size_t h = 0; h < f.fan.quantiles[1].size(); ++h) {
      const double truth = civil_demand(f.start + static_cast<std::int64_t>(h) * f.step);
      wrong += std::abs(f.fan.quantiles[1][h] - truth) > 20.0 ? 1 : 0;
    }
    return wrong;
  };
  const Forecast aware = made(series, {.horizon = 3 * kDay, .zone = zone.get()});
  EXPECT_EQ(wrong_hours(aware), 0);
  ASSERT_EQ(aware.findings.clock_changes.size(), 1U);
  EXPECT_EQ(to_rfc3339(aware.findings.clock_changes[0]), "2026-03-29T01:00:00Z");
  EXPECT_GE(wrong_hours(made(series, {.horizon = 3 * kDay})), 4);  // without it, both flanks of the two days after
}

TEST(Forecast, never_falls_below_zero_where_demand_never_did_and_may_where_it_did) {
  for_each_seed(10, [](Rng& rng) {
    Series series = gen::demand(rng, 24 * 14, 5.0, 0.9);
    for (const auto& line : made(series).fan.quantiles)
      for (const double v : line) ASSERT_GE(v, 0.0);
    for (double& v : series.values) v -= 50.0;
    const Forecast f = made(series);
    EXPECT_EQ(f.findings.negative, f.findings.steps);
    EXPECT_LT(f.fan.quantiles[1][0], 0.0);
  });
}

TEST(Forecast, answers_poor_series_safely) {
  const auto of = [](std::vector<double> values) { return Series{"poor", instant(0), kHour, std::move(values)}; };
  const Forecast constant = made(of(std::vector<double>(500, 7.0)));
  EXPECT_TRUE(constant.findings.constant);
  for (const auto& line : constant.fan.quantiles)
    for (const double v : line) ASSERT_DOUBLE_EQ(v, 7.0);
  const Forecast one = made(of({3.0}));
  for (const auto& line : one.fan.quantiles)
    for (const double v : line) ASSERT_EQ(v, 3.0);
  EXPECT_EQ(one.backtest.points, 0U);
  EXPECT_THAT(one.findings.notes, ::testing::Contains(HasSubstr("one value is no history")));
  for_each_seed(300, [&](Rng& rng) {
    std::vector<double> values(1 + rng.below(60));
    for (double& v : values) v = rng.chance(0.3) ? kGap : rng.chance(0.5) ? 0.0 : rng.normal() * 1e6;
    values[rng.below(values.size())] = 1.0;
    Series series = of(std::move(values));
    const Duration steps[] = {5 * kMinute, kHour, kDay, 7 * kDay};
    series.step = steps[rng.below(4)];
    expect_sane(made(series, {.horizon = series.step * static_cast<std::int64_t>(1 + rng.below(40))}));
  });
}

TEST(Forecast, says_what_the_history_could_not_test_and_widens_there) {
  Rng rng(9, "far");
  const Forecast f = made(gen::demand(rng, 28 * 24), {.horizon = 365 * kDay});
  expect_sane(f);
  EXPECT_LT(f.tested, 14 * kDay);
  EXPECT_THAT(f.findings.notes, ::testing::Contains(HasSubstr("which nothing has measured")));
  const auto width = [&](std::size_t h) { return f.fan.quantiles[2][h] - f.fan.quantiles[0][h]; };
  EXPECT_GT(width(364 * 24), 2.0 * width(24 * 7));
}

TEST(Forecast, refuses_what_it_cannot_answer) {
  Rng rng(1, "refuse");
  const Series good = gen::demand(rng, 48);
  Series empty = good, gaps = good, infinite = good, stepless = good;
  empty.values.clear();
  gaps.values.assign(48, kGap);
  infinite.values[3] = HUGE_VAL;
  stepless.step = Duration{0};
  const struct {
    const char* why;
    Series series;
    ForecastOptions options;
    const char* want;
  } cases[] = {
      {"no value", empty, {}, "it has no value"},
      {"gaps only", gaps, {}, "it has no value"},
      {"infinite", infinite, {}, "is not finite"},
      {"no step", stepless, {}, "step must be positive"},
      {"ten years", good, {.horizon = 3650 * kDay}, "at most 366"},
      {"less than a step", good, {.horizon = kMinute}, "at least one step"},
      {"a quantile of one", good, {.quantiles = {0.5, 1.0}}, "between 0 and 1"},
      {"no quantile", good, {.quantiles = {}}, "no quantile"},
      {"an interval of nothing", good, {.interval = 0.0}, "the interval lies"},
  };
  for (const auto& c : cases) {
    const Result<Forecast> f = forecast(c.series, c.options);
    ASSERT_FALSE(f) << c.why;
    EXPECT_EQ(f.error().code(), Errc::bad_input) << c.why;
    EXPECT_THAT(f.error().what(), HasSubstr(c.want)) << c.why;
  }
}

}  // namespace
}  // namespace ace
