#include <gtest/gtest.h>

#include "fleet/example_testing.h"

namespace ace {
namespace {

Fleet fleet_with(std::string_view from, std::string_view to, std::string_view base = kExampleFleet) {
  std::string text(base);
  if (!from.empty()) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  FleetReading reading = parsed(text);
  EXPECT_TRUE(reading.mistakes.empty()) << describe(reading.mistakes);
  return reading.fleet;
}

TEST(HoldReload, waits_for_a_person_when_capacity_or_money_would_move) {
  // Y13. The reference file with ten nodes in two racks.
  std::string base(kExampleFleet);
  const std::string racks = "{id: r1, nodes: \"n[1-4]\"}";
  base.replace(base.find(racks), racks.size(), "{id: r1, nodes: \"n[1-4]\"}, {id: r2, nodes: \"n[5-10]\"}");
  const Fleet before = fleet_with("", "", base);
  const struct {
    const char* why;
    const char* from;
    const char* to;
    std::vector<std::string> reasons;
  } cases[] = {
      {"nothing changed", "", "", {}},
      {"two of ten nodes", "n[5-10]", "n[5-8]", {}},
      {"three of ten nodes", "n[5-10]", "n[5-7]", {"delta_needs_ack: cluster dc1: 3 of 10 nodes are gone"}},
      {"more nodes", "n[5-10]", "n[5-20]", {}},
      {"a rack renamed", "id: r2", "id: r3", {"delta_needs_ack: cluster dc1: rack r2 is gone"}},
      {"the cluster renamed", "dc1:", "dc2:", {"delta_needs_ack: cluster dc1: is gone"}},
      {"the floor",
       "healthy_floor: 80%",
       "healthy_floor: 70%",
       {"delta_needs_ack: cluster dc1: the healthy floor changes from 80% to 70%"}},
      {"energy", "0.12 USD/kWh", "0.13 USD/kWh", {"delta_needs_ack: electricity: the price changes"}},
      {"amortization",
       "1.90 USD/h/gpu",
       "1.91 USD/h/gpu",
       {"delta_needs_ack: destination h100-a: the amortization changes"}},
      {"fee", "260 USD/month/unit", "250 USD/month/unit", {"delta_needs_ack: destination ptu-eu: the fee changes"}},
      {"a quota is no money", "tpm: 2000000", "tpm: 1000000", {}},
      {"bias is no money", "-0.05 USD/Mtok", "-0.06 USD/Mtok", {}},
  };
  for (const auto& c : cases) {
    const ReloadVerdict verdict = hold_reload(before, fleet_with(c.from, c.to, base));
    EXPECT_EQ(verdict.reasons, c.reasons) << c.why;
    EXPECT_EQ(verdict.held, !c.reasons.empty()) << c.why;
  }
}

TEST(HoldReload, sees_prices_of_tokens) {
  const Fleet before = fleet_with("", "");
  Fleet after = before;
  after.prices.rows[0].tiers[0].by_service[0].set(Unit::output, UsdPerMtok{1});
  EXPECT_EQ(hold_reload(before, after).reasons,
            (std::vector<std::string>{"delta_needs_ack: price together_ai/llama-3.3-70b: changed"}));
  after.prices.rows.clear();
  EXPECT_EQ(hold_reload(before, after).reasons,
            (std::vector<std::string>{"delta_needs_ack: price together_ai/llama-3.3-70b: the row is gone"}));
}

}  // namespace
}  // namespace ace
