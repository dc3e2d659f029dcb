#include <gtest/gtest.h>

#include <algorithm>

#include "core/testing.h"
#include "plan/conformal.h"
#include "plan/forecast_testing.h"
#include "plan/holt_winters.h"
#include "plan/pinball.h"
#include "plan/quantile_regression.h"

namespace ace {
namespace {

TEST(Pinball, is_least_at_the_quantile) {
  // 1 .. 5 at level 0.5: losses at 3 are (2 + 1 + 0 + 1 + 2) / 2 = 3; at 2 or 4 they are 3.5.
  const auto loss = [](double at) {
    double sum = 0.0;
    for (const double v : {1.0, 2.0, 3.0, 4.0, 5.0}) sum += pinball(0.5, at, v);
    return sum;
  };
  EXPECT_DOUBLE_EQ(loss(3.0), 3.0);
  EXPECT_DOUBLE_EQ(loss(2.0), 3.5);
  EXPECT_DOUBLE_EQ(loss(4.0), 3.5);
  EXPECT_DOUBLE_EQ(pinball(0.9, 10.0, 12.0), 1.8);
  EXPECT_NEAR(pinball(0.9, 12.0, 10.0), 0.2, 1e-15);
}

TEST(QuantileCoefficients, of_a_constant_alone_are_the_sample_quantile) {
  for_each_seed(20, [](Rng& rng) {
    const Eigen::Index n = 501;
    Eigen::MatrixXd x = Eigen::MatrixXd::Ones(n, 1);
    Eigen::VectorXd y(n);
    std::vector<double> sorted;
    for (Eigen::Index i = 0; i < n; ++i) sorted.push_back(y(i) = rng.exponential(1.0));
    std::sort(sorted.begin(), sorted.end());
    for (const double q : {0.1, 0.5, 0.9}) {
      const double got = quantile_coefficients(x, y, q, 0.0, 60)(0);
      const auto loss = [&](double at) {
        double sum = 0.0;
        for (const double v : sorted) sum += pinball(q, at, v);
        return sum;
      };
      EXPECT_LE(loss(got), 1.002 * loss(quantile_of(sorted, q))) << q;
    }
  });
}

TEST(QuantileCoefficients, find_a_slope_that_differs_by_quantile) {
  // y = x (1 + u), u uniform in [0, 1]: the q-quantile is (1 + q) x.
  Rng rng(7, "fan");
  Eigen::MatrixXd x(4000, 2);
  Eigen::VectorXd y(4000);
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    const double v = rng.uniform();
    x.row(i) << 1.0, v;
    y(i) = v * (1.0 + rng.uniform());
  }
  for (const double q : {0.1, 0.5, 0.9}) {
    const Eigen::VectorXd b = quantile_coefficients(x, y, q, 0.0, 60);
    EXPECT_NEAR(b(0), 0.0, 0.03) << q;
    EXPECT_NEAR(b(1), 1.0 + q, 0.06) << q;
  }
}

TEST(HoltWinters, continues_what_repeats_exactly) {
  Rng rng(1, "exact");
  const Series series = gen::demand(rng, 35 * 24, 1000.0, 0.0);
  const std::span<const double> past = std::span(series.values).first(28 * 24);
  const Calendar calendar(series.start, series.step, series.values.size(), nullptr);
  for (const auto kind : {HoltWinters::Kind::additive, HoltWinters::Kind::multiplicative, HoltWinters::Kind::damped}) {
    HoltWinters model(kind, calendar);
    ForecastPath path;
    path.resize(7 * 24);
    model.fit(past);
    model.predict(past, path);
    for (std::size_t h = 0; h < path.middle.size(); ++h)
      ASSERT_NEAR(path.middle[h], series.values[past.size() + h], 1.0) << model.name() << " " << h;
  }
}

TEST(HoltWinters, follows_a_trend_and_lets_it_fade_when_damped) {
  std::vector<double> line(200);
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = 100.0 + 2.0 * static_cast<double>(i);
  const Calendar calendar(instant(0), 7 * kDay, 300, nullptr);  // weeks: no season
  ForecastPath path;
  path.resize(100);
  HoltWinters straight(HoltWinters::Kind::additive, calendar), damped(HoltWinters::Kind::damped, calendar);
  straight.fit(line);
  straight.predict(line, path);
  EXPECT_NEAR(path.middle[9], 100.0 + 2.0 * 209.0, 15.0);
  damped.fit(line);
  damped.predict(line, path);
  EXPECT_GT(path.middle[99], line.back());
  EXPECT_LT(path.middle[99], line.back() + 120.0);  // 2 (0.98 + 0.98^2 + ...) < 98, and what is left of the error
}

TEST(AdaptiveMiss, brings_the_misses_to_the_target_when_scores_widen) {
  for_each_seed(20, [](Rng& rng) {
    AdaptiveMiss miss(0.1);
    // The value's own miss rate is uniform while scores are exchangeable. Here the world is wilder than its past: the
    // square of a uniform falls below 0.1 in 32% of the cases.
    int missed = 0;
    const int n = 3000;
    for (int i = 0; i < n; ++i) {
      const double u = rng.uniform(), still = u * u;
      const bool out = still < miss.rate();
      missed += out ? 1 : 0;
      miss.observe(still, out, 1.0);
    }
    EXPECT_NEAR(static_cast<double>(missed) / n, 0.1, 0.015);
    EXPECT_NEAR(miss.rate(), 0.01, 0.04);  // 0.1^2
  });
}

}  // namespace
}  // namespace ace
