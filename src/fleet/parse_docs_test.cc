/// The reference page's example is a fleet file with every section; it must read as the page says.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "fleet/example_testing.h"

namespace ace {
namespace {

std::string documented_example() {
  std::ifstream page(std::string(ACE_SOURCE) + "/docs/FLEET.md");
  std::stringstream all;
  all << page.rdbuf();
  const std::string text = all.str();
  const std::size_t from = text.find("```yaml\n") + 8;
  return text.substr(from, text.find("```", from) - from);
}

World documented_world() {
  World world;
  world.files["together.json"] =
      R"({"together_ai/other": {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6}})";
  world.files["community.json"] = R"({"x/y": {"input_cost_per_token": 2e-6, "output_cost_per_token": 4e-6}})";
  world.files["power.csv"] = ",Real price,DNN Ensemble\n2026-11-01 00:00:00,100,90\n2026-11-01 01:00:00,-10,0\n";
  world.files["history.csv"] =
      "date,instance,region,ondemand_usd_per_h,spot_usd_per_h,commit1y_usd_per_month,commit3y_usd_per_month\n"
      "2026-11-01,a2-ultragpu-8g,us-central1,40,16,,\n2026-11-08,a2-ultragpu-8g,us-central1,40,20,,\n";
  world.files["held.csv"] = "0,4\n24,2\n48,3\n";
  return world;
}

Destination named(const Fleet& fleet, std::string_view name) {
  const auto id = fleet.destination(name);
  EXPECT_TRUE(id) << name;
  return id ? fleet.destinations[id->value] : Destination{};
}

TEST(FleetPage, its_example_reads_without_a_mistake) {
  const FleetReading reading = parsed(documented_example(), documented_world());
  ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  EXPECT_TRUE(reading.warnings.empty()) << reading.warnings.front();
  EXPECT_EQ(reading.fleet.destinations.size(), 9U);
}

TEST(FleetPage, its_example_means_what_the_page_says) {
  const Fleet fleet = parsed(documented_example(), documented_world()).fleet;
  ASSERT_FALSE(fleet.destinations.empty());
  // 1.90 EUR x 1.08 = 2.052 USD a GPU, x 8.
  EXPECT_EQ(named(fleet, "h100-a").amortization_hourly, Usd{16'416'000'000});
  // 100 EUR/MWh x 1.08 = 0.108 USD/kWh.
  EXPECT_EQ(fleet.electricity.booked(instant_of({2026, 11, 1})), UsdPerKwh{108'000'000});
  EXPECT_EQ(fleet.electricity.believed(instant_of({2026, 11, 1, 1})), UsdPerKwh{0});
  EXPECT_EQ(fleet.electricity.booked(instant_of({2026, 12, 1})), UsdPerKwh{-10'800'000}) << "the nearest hour holds";

  const Destination l40s = named(fleet, "l40s-b");
  EXPECT_EQ(l40s.units.units, 0);
  ASSERT_EQ(l40s.units.schedule.size(), 2U);
  EXPECT_EQ(l40s.units.schedule[0].days, 0b0011111);
  EXPECT_EQ(l40s.units.schedule[1].days, 0b1100000);
  EXPECT_EQ(l40s.rental->hourly, Usd{4'400'000'000});  // 1.10 x 4 GPUs
  EXPECT_EQ(l40s.serving[0].context_max, Tokens{16384});
  EXPECT_DOUBLE_EQ(l40s.serving[0].measured->step_per_kv_token_s, 0.9e-9);

  const Destination spot = named(fleet, "spot-a100");
  EXPECT_EQ(spot.units.units, 1);
  EXPECT_EQ(spot.units.reactive->start_delay, 4 * kMinute);
  EXPECT_EQ(spot.rental->hourly_series.front(), Usd{16'000'000'000});
  EXPECT_EQ(spot.rental->hourly_series.back(), Usd{20'000'000'000});
  EXPECT_EQ(spot.rental->availability.at(instant_of({2026, 11, 1, 5})), 4.0);
  EXPECT_EQ(spot.rental->availability.at(instant_of({2026, 11, 2, 5})), 2.0);
  EXPECT_GT(spot.rental->hazard_per_hour, 0.0) << "the log's own rate where none is declared";
  EXPECT_EQ(spot.rental->notice, 30 * kSecond);

  EXPECT_EQ(named(fleet, "block").commitment_hourly, Usd{16'800'000'000});  // 2.10 x 8 GPUs x 1 unit
  const Destination ptu = named(fleet, "ptu-eu");
  EXPECT_EQ(ptu.native_spill, fleet.destination("openai"));
  EXPECT_TRUE(ptu.serving[0].ptu->native_spill);
  const GsuTerms gsu = named(fleet, "gsu-eu").serving[0].gsu.value();
  EXPECT_EQ(gsu.tokens_per_second_per_unit, 3360.0);
  EXPECT_EQ(gsu.window, 30 * kSecond);
  EXPECT_EQ(gsu.output_ratio, 4.0);

  const Destination api = named(fleet, "openai");
  const PriceRow& row = fleet.prices.rows[api.serving[0].price->value];
  EXPECT_EQ(row.key, "openai/gpt-4.1");
  EXPECT_EQ(rates_for(row, Tokens{1000}, ServiceTier::standard)[Unit::cached_input], UsdPerMtok{500'000'000});
  EXPECT_EQ(rates_for(row, Tokens{1000}, ServiceTier::standard)[Unit::reasoning], UsdPerMtok{8'000'000'000});
  EXPECT_EQ(rates_for(row, Tokens{1000}, ServiceTier::batch)[Unit::output], UsdPerMtok{4'000'000'000});
  EXPECT_EQ(rates_for(row, Tokens{200'001}, ServiceTier::standard)[Unit::input], UsdPerMtok{4'000'000'000});
  EXPECT_EQ(named(fleet, "openai-batch").uplift_ppm, 1'100'000);
  EXPECT_TRUE(named(fleet, "together").serving[0].price);
  EXPECT_TRUE(fleet.models[fleet.model("gpt-4.1")->value].baseline->contracted);

  const auto slo = [&](std::string_view name) {
    for (const SloClass& c : fleet.slo_classes)
      if (c.name == name) return c;
    return SloClass{};
  };
  EXPECT_EQ(slo("agent").epsilon, 0.0004);
  EXPECT_EQ(slo("agent").miss_value, Usd{2'000'000});
  EXPECT_TRUE(slo("batch").deferrable());
  EXPECT_EQ(fleet.slo_classes[fleet.tenants[fleet.tenant("labs")->value].slo.value].name, "chat");
  EXPECT_EQ(fleet.clusters[0].racks[1].nodes.size(), 5U);
  EXPECT_EQ(fleet.policies.gateway_hosts_hourly, Usd{205'479'452});  // 150 / 730
}

TEST(FleetPage, a_file_it_names_takes_part_in_the_digest) {
  World world = documented_world();
  const std::uint64_t before = parsed(documented_example(), world).fleet.digest;
  world.files["power.csv"] += "2026-11-01 02:00:00,5,5\n";
  EXPECT_NE(parsed(documented_example(), world).fleet.digest, before);
  world.files.erase("held.csv");
  const std::string said = describe(parsed(documented_example(), world).mistakes);
  EXPECT_NE(said.find("cannot read \"held.csv\""), std::string::npos) << said;
}

}  // namespace
}  // namespace ace
