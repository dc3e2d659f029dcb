#include "dispatch/kin.h"

#include <gtest/gtest.h>

#include "dispatch/learn_testing.h"

namespace ace {
namespace {

Fleet fleet() {
  const std::unique_ptr<Fleet> f = learn::models(1);
  Destination& api = learn::add_api(*f, "api", 1'000'000'000);
  api.unlimited = false;
  api.rpm = 60;
  f->prices.rows.push_back(learn::price_row("another", 0, 7));
  f->slo_classes[0].ttft = kSecond;
  f->tenants.emplace_back().name = "acme";
  return *f;
}

TEST(Kin, of_destinations_are_those_of_which_nothing_but_money_and_place_has_changed) {
  const struct {
    const char* why;
    void (*change)(Fleet&);
    bool same;
  } cases[] = {
      {"nothing", [](Fleet&) {}, true},
      {"its price", [](Fleet& f) { f.destinations[0].serving[0].price = PriceId{1}; }, true},
      {"its fee", [](Fleet& f) { f.destinations[0].commitment_hourly = Usd{7}; }, true},
      {"its place in the file", [](Fleet& f) { f.destinations[0].declared = 7; }, true},
      {"its name", [](Fleet& f) { f.destinations[0].name = "other"; }, false},
      {"its limit", [](Fleet& f) { f.destinations[0].rpm = 61; }, false},
      {"its units", [](Fleet& f) { f.destinations[0].units.units = 7; }, false},
      {"what it calls a model", [](Fleet& f) { f.destinations[0].serving[0].name = "large-2"; }, false},
      {"the model", [](Fleet& f) { f.models[0].name = "small"; }, false},
      {"where its provider is", [](Fleet& f) { f.providers[0].region = "eu"; }, false},
  };
  const Fleet before = fleet();
  const Snapshot old(before);
  for (const auto& c : cases) {
    Fleet after = fleet();
    c.change(after);
    const Kin kin(old, Snapshot(after));
    EXPECT_EQ(kin.destinations.at(0).valid(), c.same) << c.why;
    EXPECT_EQ(kin.offers.at(0).valid(), c.same) << c.why;
  }
}

TEST(Kin, are_found_by_name_wherever_they_stand_now) {
  const Fleet before = fleet();
  Fleet after = fleet();
  after.models.insert(after.models.begin(), Model{});
  after.models[0].name = "first";
  after.tenants.insert(after.tenants.begin(), Tenant{});
  after.tenants[0].name = "first";
  after.slo_classes.insert(after.slo_classes.begin(), SloClass{});
  after.slo_classes[0].name = "first";
  after.destinations.insert(after.destinations.begin(), after.destinations[0]);
  after.destinations[0].name = "first";
  for (Destination& d : after.destinations) d.serving[0].model = ModelId{1};
  const Kin kin{Snapshot(before), Snapshot(after)};
  EXPECT_EQ(kin.models, (std::vector<ModelId>{{}, ModelId{0}}));
  EXPECT_EQ(kin.tenants, (std::vector<TenantId>{{}, TenantId{0}}));
  EXPECT_EQ(kin.slo_classes, (std::vector<SloId>{{}, SloId{0}}));
  EXPECT_EQ(kin.destinations, (std::vector<DestinationId>{{}, DestinationId{0}}));
  EXPECT_EQ(kin.offers, (std::vector<OfferId>{{}, OfferId{0}}));
}

TEST(Kin, of_a_class_is_no_class_with_another_promise) {
  const Fleet before = fleet();
  Fleet after = fleet();
  after.slo_classes[0].ttft = 2 * kSecond;
  EXPECT_FALSE(Kin(Snapshot(before), Snapshot(after)).slo_classes[0].valid());
}

}  // namespace
}  // namespace ace
