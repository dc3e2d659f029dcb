#include "fleet/fleet.h"

#include <gtest/gtest.h>

#include "fleet/example_testing.h"

namespace ace {
namespace {

constexpr Instant at_hour(std::int64_t hour) { return instant(hour * nanos(kHour)); }

TEST(Electricity, is_the_hours_price_or_the_flat_one) {
  Electricity electricity;
  electricity.flat = {5};
  EXPECT_EQ(electricity.booked(at_hour(7)), UsdPerKwh{5});
  electricity.first_hour = 10;
  electricity.hourly = {{1}, {-2}, {3}};
  EXPECT_EQ(electricity.booked(at_hour(11)), UsdPerKwh{-2});
  EXPECT_EQ(electricity.booked(at_hour(11) + kHour - Duration{1}), UsdPerKwh{-2});
  EXPECT_EQ(electricity.booked(at_hour(-500)), UsdPerKwh{1}) << "before the series its first hour holds";
  EXPECT_EQ(electricity.booked(at_hour(500)), UsdPerKwh{3});
  EXPECT_EQ(electricity.believed(at_hour(11)), UsdPerKwh{-2}) << "without a forecast the paid price";
  electricity.day_ahead = {{7}, {8}, {9}};
  EXPECT_EQ(electricity.believed(at_hour(12)), UsdPerKwh{9});
}

TEST(StepSeries, holds_each_value_for_its_step) {
  StepSeries series;
  EXPECT_EQ(series.at(at_hour(0)), 0.0);
  series = {at_hour(2), kHour, {4, 2, 3}};
  EXPECT_EQ(series.at(at_hour(0)), 4.0);
  EXPECT_EQ(series.at(at_hour(3)), 2.0);
  EXPECT_EQ(series.at(at_hour(4) - Duration{1}), 2.0);
  EXPECT_EQ(series.at(at_hour(99)), 3.0);
}

TEST(Fleet, ids_are_sorted_as_names_are) {
  const Fleet fleet = parsed(kExampleFleet).fleet;
  for (std::size_t i = 1; i < fleet.destinations.size(); ++i)
    EXPECT_LT(fleet.destinations[i - 1].name, fleet.destinations[i].name);
  for (std::size_t i = 1; i < fleet.models.size(); ++i) EXPECT_LT(fleet.models[i - 1].name, fleet.models[i].name);
  EXPECT_EQ(fleet.model("llama-70b"), fleet.model("llama-3.3-70b"));
  EXPECT_FALSE(fleet.model("llama"));
  EXPECT_FALSE(fleet.destination(""));
  EXPECT_FALSE(fleet.tenant("Acme"));
  EXPECT_EQ(name_of(Tier::on_demand), "on_demand");
}

TEST(UnitPlan, follows_its_schedule) {
  UnitPlan plan;
  plan.units = 1;
  plan.schedule = {{0x1f, 8 * 60, 20 * 60, 4}};                          // Monday to Friday, 08:00 to 20:00
  EXPECT_EQ(plan.scheduled(*parse_rfc3339("2026-11-30T08:00:00Z")), 4);  // a Monday
  EXPECT_EQ(plan.scheduled(*parse_rfc3339("2026-11-30T20:00:00Z")), 1);
  EXPECT_EQ(plan.scheduled(*parse_rfc3339("2026-11-29T12:00:00Z")), 1);  // a Sunday
}

}  // namespace
}  // namespace ace
