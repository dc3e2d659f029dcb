/// Real day-ahead prices and spot capacity logs, and what is known of them.
#include <algorithm>

#include <gtest/gtest.h>

#include "fleet/data_testing.h"
#include "fleet/series.h"

namespace ace {
namespace {

double per_mwh(UsdPerKwh price) { return static_cast<double>(price.nano) * 1e-6; }

TEST(ElectricityData, three_markets_have_the_known_prices_and_forecast_errors) {
  const struct {
    const char* zone;
    Civil first;
    double mean, p50, p90, p99, max, min;  // per MWh
    std::ptrdiff_t negative;
    double spread, mae_dnn, mae_lear;
  } cases[] = {
      {"DE", {2016, 1, 4}, 31.6383, 31.1, 46.9, 81.56, 163.52, -130.09, 241, 26.922, 3.4135, 3.6091},
      {"PJM", {2016, 12, 27}, 27.8327, 26.01, 40.597, 63.447, 184.485, -3.61973, 74, 25.2477, 2.8622, 3.0130},
      {"NP", {2016, 12, 27}, 36.5138, 32.87, 51.78, 63.99, 198.29, 2.17, 0, 11.0724, 1.6834, 1.7378},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.zone);
    const std::string csv = data_text("electricity-prices/" + std::string(c.zone) + "_real_and_forecast.csv.gz");
    const Result<ElectricitySeries> dnn = parse_electricity(csv, {.booked = "Real price", .believed = "DNN Ensemble"});
    const Result<ElectricitySeries> lear =
        parse_electricity(csv, {.booked = "Real price", .believed = "LEAR Ensemble"});
    ASSERT_TRUE(dnn && lear) << dnn.error().what();
    const auto& paid = dnn->hourly;
    ASSERT_EQ(paid.size(), 17'472U);
    EXPECT_EQ(dnn->first_hour, hour_of(instant_of(c.first)));
    EXPECT_EQ(lear->hourly, paid);
    std::vector<UsdPerKwh> sorted = paid;
    std::sort(sorted.begin(), sorted.end());
    const auto quantile = [&](double p) {
      return per_mwh(sorted[static_cast<std::size_t>(p * static_cast<double>(sorted.size()))]);
    };
    double sum = 0, spread = 0, dnn_error = 0, lear_error = 0;
    for (std::size_t i = 0; i < paid.size(); ++i) {
      sum += per_mwh(paid[i]);
      dnn_error += std::abs(per_mwh(paid[i]) - per_mwh(dnn->day_ahead[i]));
      lear_error += std::abs(per_mwh(paid[i]) - per_mwh(lear->day_ahead[i]));
      if (i % 24 == 0) {
        const auto day = paid.begin() + static_cast<std::ptrdiff_t>(i);
        const auto [low, high] = std::minmax_element(day, day + 24);
        spread += per_mwh(*high) - per_mwh(*low);
      }
    }
    EXPECT_NEAR(sum / 17'472, c.mean, 1e-4);
    EXPECT_NEAR(quantile(0.5), c.p50, 5e-3);
    EXPECT_NEAR(quantile(0.9), c.p90, 1e-2);
    EXPECT_NEAR(quantile(0.99), c.p99, 1e-1);
    EXPECT_NEAR(per_mwh(sorted.back()), c.max, 5e-4);
    EXPECT_NEAR(per_mwh(sorted.front()), c.min, 5e-6);
    EXPECT_EQ(std::count_if(paid.begin(), paid.end(), [](UsdPerKwh p) { return p.nano < 0; }), c.negative);
    EXPECT_NEAR(spread / 728, c.spread, 1e-3);
    EXPECT_NEAR(dnn_error / 17'472, c.mae_dnn, 1e-4);
    EXPECT_NEAR(lear_error / 17'472, c.mae_lear, 1e-4);
  }
}

TEST(CapacityData, spot_logs_have_the_known_losses) {
  const Result<CapacityLog> p3 = parse_capacity(data_text("spot-preemption/p3-trace.csv"));
  ASSERT_TRUE(p3) << p3.error().what();
  EXPECT_EQ(p3->rows, 344U);
  EXPECT_EQ(p3->taken, 167);
  EXPECT_EQ(p3->rows - static_cast<std::size_t>(p3->taken), 177U);
  EXPECT_EQ(p3->units_max, 32);
  EXPECT_NEAR(to_seconds(p3->span()) / 3600, 11.3667, 5e-5);
  EXPECT_NEAR(p3->units_mean(), 24.0279, 5e-5);
  // 167 of 24.0279 x 11.3667 = 273.12 unit-hours: 1 - e^-0.61146
  EXPECT_NEAR(p3->hazard_per_hour(), 0.4574, 5e-5);

  const Result<CapacityLog> v100 = parse_capacity(data_text("spot-preemption/gcp_v100x1-east1c.txt"));
  ASSERT_TRUE(v100) << v100.error().what();
  EXPECT_EQ(v100->rows, 1'477U);
  EXPECT_EQ(v100->start, instant_of({2021, 12, 10, 13, 7, 45}));
  EXPECT_EQ(v100->start + v100->span(), instant_of({2021, 12, 11, 13, 17, 58}));
  EXPECT_EQ(v100->units_min, 30);
  EXPECT_EQ(v100->units_max, 80);
  EXPECT_EQ(v100->decreases, 55U);
  EXPECT_EQ(v100->out_of_order, 15U);

  for (const char* name : {"aws-p2-2020-11-20.csv", "aws-g4dn-us-east-1c-2020-11-20.csv"}) {
    const bool hours = std::string(name).starts_with("aws-p2");
    const Result<CapacityLog> aws =
        parse_capacity(data_text("spot-preemption/" + std::string(name)), {}, hours ? kHour : kSecond);
    ASSERT_TRUE(aws) << aws.error().what();
    EXPECT_EQ(aws->rows, hours ? 393U : 113U);
    EXPECT_GT(aws->taken, 0);
    EXPECT_EQ(aws->out_of_order, 0U);
    EXPECT_GT(aws->span(), kDay);
    EXPECT_LT(aws->span(), 4 * kDay);
  }
}

}  // namespace
}  // namespace ace
