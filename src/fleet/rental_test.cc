/// What rented machines cost and how they are lost, as a fleet file says it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/example_testing.h"

namespace ace {
namespace {

using testing::HasSubstr;

World catalogs() {
  World world;
  world.files["history.csv"] =
      "date,instance,region,ondemand_usd_per_h,spot_usd_per_h,commit1y_usd_per_month,commit3y_usd_per_month\n"
      "2026-01-01,a2,r,40,16,,\n2026-01-08,a2,r,44,20,,\n";
  world.files["sky.csv"] =
      "InstanceType,AcceleratorName,AcceleratorCount,Region,AvailabilityZone,Price,SpotPrice\n"
      "p4de,A100-80GB,8,r,ra,27.45,12.1\np4de,A100-80GB,8,r,rb,27.45,700.0\n";
  return world;
}

/// A fleet with one pool of rented A100s.
FleetReading rented(const std::string& tier, const std::string& rental, const World& world = catalogs()) {
  return parsed(
      "version: 1\nproviders: {p: {jurisdictions: [us]}}\nmodels: {llama-3.3-70b: {context: 8192}}\n"
      "slo_classes: {chat: {ttft: 2s}}\ndestinations:\n  - {id: s, tier: " +
          tier +
          ", provider: p, region: r, models: [llama-3.3-70b], accelerator: a100-80g, count: 8, tp: 8, "
          "rental: {" +
          rental + "}}\n",
      world);
}

TEST(Rental, takes_the_price_of_its_own_market) {
  const struct {
    const char *tier, *rental;
    std::int64_t first, last;  // USD per hour
  } cases[] = {{"on_demand", "series: history.csv, instance: a2", 40, 44},
               {"spot", "series: history.csv, instance: a2, hazard: 5%/h", 16, 20}};
  for (const auto& c : cases) {
    const FleetReading reading = rented(c.tier, c.rental);
    ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
    const Rental& rental = *reading.fleet.destinations[0].rental;
    EXPECT_EQ(rental.hourly_series.front(), Usd{c.first * 1'000'000'000}) << c.tier;
    EXPECT_EQ(rental.hourly_series.back(), Usd{c.last * 1'000'000'000}) << c.tier;
  }
}

TEST(Rental, a_catalog_without_dates_gives_one_price_and_tells_what_it_did_not_believe) {
  const FleetReading on_demand = rented("on_demand", "catalog: sky.csv, instance: p4de");
  ASSERT_TRUE(on_demand.mistakes.empty()) << describe(on_demand.mistakes);
  EXPECT_EQ(on_demand.fleet.destinations[0].rental->hourly, Usd{27'450'000'000});
  EXPECT_THAT(testing::PrintToString(on_demand.warnings), HasSubstr("sky.csv:3: "));
  EXPECT_THAT(testing::PrintToString(on_demand.warnings), HasSubstr("sentinel"));
  const FleetReading spot = rented("spot", "catalog: sky.csv, instance: p4de, hazard: 5%/h");
  ASSERT_TRUE(spot.mistakes.empty()) << describe(spot.mistakes);
  EXPECT_EQ(spot.fleet.destinations[0].rental->hourly, Usd{12'100'000'000});
  EXPECT_TRUE(spot.fleet.destinations[0].rental->hourly_series.empty());
}

TEST(Rental, mistakes_say_what_would_be_right) {
  const struct {
    const char *tier, *rental, *want;
  } cases[] = {
      {"spot", "price: \"8 USD/h/unit\"", "write hazard: 5%/h or availability: FILE"},
      {"spot", "series: history.csv, instance: a2", "nothing here says how often"},
      {"on_demand", "series: sky.csv, instance: p4de", "name the file with catalog instead of series"},
      {"on_demand", "catalog: history.csv, instance: a2", "name the file with series instead of catalog"},
      {"on_demand", "catalog: sky.csv, instance: p4de, region: mars", "other regions have one"},
      {"on_demand", "catalog: sky.csv, series: history.csv, instance: a2", "`catalog` beside `series`"},
      {"on_demand", "catalog: sky.csv, price: \"1 USD/h/unit\", instance: p4de", "`price` beside `catalog`"},
      {"on_demand", "catalog: sky.csv", "instance: NAME"},
  };
  for (const auto& c : cases) EXPECT_THAT(describe(rented(c.tier, c.rental).mistakes), HasSubstr(c.want)) << c.rental;
  EXPECT_TRUE(rented("spot", "price: \"8 USD/h/unit\", hazard: 0%/h").mistakes.empty()) << "that is a statement";
}

}  // namespace
}  // namespace ace
