#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "fleet/example_fleet.h"

namespace ace {
namespace {

TEST(ParseFleet, reads_the_reference_file) {
  const FleetReading reading = parsed(kExampleFleet);
  ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  EXPECT_TRUE(reading.warnings.empty()) << reading.warnings.front();
  const Fleet& fleet = reading.fleet;
  ASSERT_EQ(fleet.destinations.size(), 3U);
  const Destination& owned = fleet.destinations[fleet.destination("h100-a")->value];
  EXPECT_EQ(owned.tier, Tier::owned);
  EXPECT_EQ(owned.replicas_per_unit(), 2);
  EXPECT_EQ(owned.amortization_hourly, Usd{15'200'000'000});  // 1.90 USD x 8 GPUs
  EXPECT_EQ(owned.vram_bytes, 80.0 * 1073741824.0);
  const Destination& ptu = fleet.destinations[fleet.destination("ptu-eu")->value];
  EXPECT_EQ(ptu.commitment_hourly, Usd{35'616'438'356});  // 260 x 100 / 730 = 35.616438356...
  ASSERT_TRUE(ptu.serving[0].ptu);
  EXPECT_EQ(ptu.serving[0].ptu->units, 100);
  EXPECT_EQ(ptu.serving[0].ptu->tokens_per_minute_per_unit, 3000);
  EXPECT_FALSE(ptu.native_spill);
  const Destination& api = fleet.destinations[fleet.destination("together")->value];
  EXPECT_EQ(api.tpm, 2'000'000);
  EXPECT_EQ(api.latency.ttft_p95, 900 * kSecond / 1000);
  EXPECT_EQ(api.latency.tpot_p95, 25 * kSecond / 1000);  // not declared: 25/12 of the p50
  ASSERT_TRUE(api.serving[0].price);
  EXPECT_EQ(fleet.prices.rows[api.serving[0].price->value].key, "together_ai/llama-3.3-70b");
  const Model& llama = fleet.models[fleet.model("llama-70b")->value];
  EXPECT_EQ(llama.name, "llama-3.3-70b");
  ASSERT_TRUE(llama.baseline);
  EXPECT_EQ(llama.baseline->destination, *fleet.destination("together"));
  EXPECT_EQ(llama.baseline->as_of, "2026-11-01");
  ASSERT_EQ(llama.equivalents.size(), 1U);
  EXPECT_EQ(llama.equivalents[0].verbosity_ppm, 1'050'000);
  EXPECT_TRUE(llama.architecture);
  const Tenant& acme = fleet.tenants[fleet.tenant("acme")->value];
  EXPECT_EQ(fleet.slo_classes[acme.slo.value].name, "chat");
  EXPECT_EQ(fleet.slo_classes[acme.slo.value].ttft, 800 * kSecond / 1000);
  EXPECT_EQ(fleet.compliance[acme.compliance.value].retention_max, 30 * kDay);
  EXPECT_EQ(fleet.electricity.flat, UsdPerKwh{120'000'000});
  EXPECT_EQ(fleet.policies.bias.at(fleet.provider("azure")->value), UsdPerMtok{-50'000'000});
  EXPECT_EQ(fleet.policies.retry_budget_ppm, 100'000);
  EXPECT_EQ(fleet.clusters.at(0).racks.at(0).nodes, (std::vector<std::string>{"n1", "n2", "n3", "n4"}));
}

}  // namespace
}  // namespace ace
