/// The price that the whole trace is compared with, as a fleet file says it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/example_testing.h"

namespace ace {
namespace {

using testing::HasSubstr;

FleetReading compared(const std::string& baseline, const std::string& destination = "price_key: a/m",
                      const std::string& prices =
                          "[{\"a/m\": {input: \"1.00 USD/Mtok\", output: \"2.00 USD/Mtok\"}, "
                          "\"a/dear\": {input: \"1.00 USD/Mtok\", output: \"2.01 USD/Mtok\"}, "
                          "\"a/cheap\": {input: \"0.50 USD/Mtok\", output: \"2.00 USD/Mtok\"}}]",
                      const World& world = {}) {
  return parsed("version: 1\nprices: " + prices +
                    "\nproviders: {p: {jurisdictions: [us]}}\nmodels: {m: {context: 8192, baseline: {destination: d, " +
                    baseline +
                    "as_of: 2026-01-01, contracted: true}}}\nslo_classes: {chat: {ttft: 2s}}\n"
                    "destinations:\n  - {id: d, tier: payg, provider: p, unlimited: true, models: [{model: m, context: "
                    "8000}], " +
                    destination + "}\n",
                world);
}

TEST(Baseline, is_never_dearer_than_what_its_destination_charges) {
  EXPECT_THAT(describe(compared("price_key: a/dear, ").mistakes), HasSubstr("output 2.01 against 2.00 USD/Mtok"));
  for (const char* fine : {"", "price_key: a/m, ", "price_key: a/cheap, "}) {
    const FleetReading reading = compared(fine);
    EXPECT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
    EXPECT_TRUE(reading.fleet.models.at(0).baseline->contracted);
  }
}

TEST(Baseline, at_a_destination_without_a_price_is_a_claim) {
  const FleetReading reading = compared("price_key: a/m, ", "price_key: a/gone");
  ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  EXPECT_FALSE(reading.fleet.models.at(0).baseline->contracted);
}

TEST(Baseline, that_cannot_hold_the_longest_requests_is_told) {
  EXPECT_THAT(testing::PrintToString(compared("").warnings), HasSubstr("takes 8000 tokens of the 8192"));
}

TEST(PriceVersions, that_nobody_chose_a_day_for_are_told_and_a_chosen_day_is_remembered) {
  World world;
  world.files["v.json"] =
      R"({"a/m": [{"valid_from": "2026-01-01", "valid_to": "2026-06-01", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6},
          {"valid_from": "2026-06-01", "input_cost_per_token": 5e-6, "output_cost_per_token": 9e-6}]})";
  const FleetReading latest = compared("", "price_key: a/m", "[v.json]", world);
  ASSERT_TRUE(latest.mistakes.empty()) << describe(latest.mistakes);
  EXPECT_THAT(testing::PrintToString(latest.warnings), HasSubstr("a/m (from 2026-06-01)"));
  EXPECT_EQ(latest.fleet.prices.rows.at(0).chosen_on, "");
  const FleetReading chosen = compared("", "price_key: a/m", "[{path: v.json, on: 2026-02-01}]", world);
  ASSERT_TRUE(chosen.mistakes.empty()) << describe(chosen.mistakes);
  EXPECT_EQ(chosen.fleet.prices.rows.at(0).chosen_on, "2026-02-01");
  EXPECT_EQ(chosen.fleet.prices.rows.at(0).valid_to, "2026-06-01");
}

TEST(Uplift, that_a_price_list_knows_and_nobody_asked_for_is_told) {
  World world;
  world.files["u.json"] =
      R"({"a/m": {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, "regional_processing_uplift_multiplier_eu": 1.1}})";
  const auto warnings = [&](const std::string& uplift) {
    const FleetReading reading = parsed(
        "version: 1\nprices: [u.json]\nproviders: {p: {jurisdictions: [eu]}}\nmodels: {m: {context: 8192}}\n"
        "slo_classes: {chat: {ttft: 2s}}\ndestinations:\n  - {id: d, tier: payg, provider: p, unlimited: true, models: "
        "[m], price_key: a/m" +
            uplift + "}\n",
        world);
    EXPECT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
    return testing::PrintToString(reading.warnings);
  };
  EXPECT_THAT(warnings(""), HasSubstr("write uplift: 1.1"));
  EXPECT_THAT(warnings(", uplift: 1.0"), testing::Not(HasSubstr("uplift")));
}

}  // namespace
}  // namespace ace
