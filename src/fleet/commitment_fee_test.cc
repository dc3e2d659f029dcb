/// What committed capacity costs, as a fleet file says it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/example_testing.h"

namespace ace {
namespace {

using testing::HasSubstr;

FleetReading committed(const std::string& ptu) {
  return parsed(
      "version: 1\nproviders: {p: {jurisdictions: [us]}}\nmodels: {gpt-4.1: {context: 8192}}\nslo_classes: {chat: "
      "{ttft: 2s}}\n"
      "destinations:\n  - {id: d, tier: reserved, provider: p, models: [gpt-4.1], ptu: {" +
      ptu + "}}\n");
}

// Azure's example: 500 units reserved and 600 in use; the reservation covers 500, and 100 are billed by the hour.
TEST(CommitmentFee, is_the_reservation_used_or_not_and_by_the_hour_what_is_beyond_it) {
  const struct {
    const char* ptu;
    std::int64_t micros_per_hour;
  } cases[] = {
      {"units: 600, reserved: 500, fee: \"0.25 USD/h/unit\", hourly_fee: \"1 USD/h/unit\"",
       500 * 250'000 + 100 * 1'000'000},
      {"units: 300, reserved: 500, fee: \"0.25 USD/h/unit\"", 500 * 250'000},
      {"units: 300, fee: \"0.25 USD/h/unit\"", 300 * 250'000},
  };
  for (const auto& c : cases) {
    const FleetReading reading = committed(c.ptu);
    ASSERT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
    EXPECT_EQ(reading.fleet.destinations[0].commitment_hourly, Usd{c.micros_per_hour * 1000}) << c.ptu;
  }
}

TEST(CommitmentFee, mistakes_say_what_would_be_right) {
  EXPECT_THAT(describe(committed("units: 600, reserved: 500, fee: \"0.25 USD/h/unit\"").mistakes),
              HasSubstr("each of the 100 units beyond the reservation"));
  EXPECT_THAT(describe(committed("units: 300, fee: \"0.25 USD/h/unit\", hourly_fee: \"1 USD/h/unit\"").mistakes),
              HasSubstr("all are reserved"));
}

}  // namespace
}  // namespace ace
