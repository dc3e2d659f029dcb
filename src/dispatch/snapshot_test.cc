#include "dispatch/snapshot.h"

#include "core/testing.h"
#include "dispatch/generate_testing.h"

namespace ace {
namespace {

const Instant kNow = instant(1'780'000'000'000'000'000);

/// One owned replica of 1000 tokens/s prefill; at its knee it runs 90 sequences in steps of 0.1 s: 900 output tokens/s.
Fleet owned_fleet() {
  Fleet f;
  f.providers.emplace_back().name = "own";
  Model& m = f.models.emplace_back();
  m.name = "m";
  m.context_max = Tokens{8192};
  Destination& d = f.destinations.emplace_back();
  d.name = "gpu";
  d.tier = Tier::owned;
  d.provider = ProviderId{0};
  d.gpus_per_unit = d.tp = 4;
  ServerProfile p;
  p.prefill_tokens_per_s = 1000.0;
  p.step_base_s = 0.1;
  p.batch_max = 100;
  p.kv_tokens_max = 1'000'000;
  p.watts_idle = 400.0;
  p.watts_busy = 1400.0;
  Serving& s = d.serving.emplace_back();
  s.model = ModelId{0};
  s.measured = p;
  f.electricity.flat = {120'000'000};  // $0.12/kWh
  f.electricity.pue = 1.3;
  return f;
}

TEST(Snapshot, prices_owned_tokens_by_the_energy_they_add) {
  const Fleet fleet = owned_fleet();
  const Snapshot snapshot(fleet);
  // (1400 - 400) W x 1.3 = 1300 W: 1.3 J per prompt token at 1000/s, 1300 / 900 J per output token
  EXPECT_DOUBLE_EQ(snapshot[OfferId{0}].joules_per_prefill_token, 1.3);
  EXPECT_DOUBLE_EQ(snapshot[OfferId{0}].joules_per_decode_token, 1300.0 / 900.0);
  // 1.3 J x 1e6 / 3.6e6 J/kWh x $0.12 = $0.0433333.../Mtok; 1.4444 J gives $0.0481481...
  const Snapshot::EnergyPrice energy = snapshot.energy_price(OfferId{0}, fleet.electricity.flat);
  EXPECT_EQ(energy.prefill.nano, 43'333'333);
  EXPECT_EQ(energy.decode.nano, 48'148'148);
  // 1000 x 43.333333 + 500 x 48.148148 nano = 43333.333 + 24074.074 = 67407.407: one rounding; cached tokens cost
  // nothing
  EXPECT_EQ(*snapshot.price(OfferId{0}, Usage(Tokens{1000}, Tokens{700}, Tokens{500}), kNow), Usd{67'407});
}

TEST(Snapshot, books_negative_electricity_as_it_is_but_ranks_it_at_zero) {
  Fleet fleet = owned_fleet();
  fleet.electricity.flat = {-120'000'000};
  const Snapshot snapshot(fleet);
  EXPECT_EQ(*snapshot.price(OfferId{0}, Usage(Tokens{1000}, Tokens{700}, Tokens{500}), kNow), Usd{-67'407});
  Request request;
  request.model = ModelId{0};
  request.prompt = Tokens{1000};
  request.predicted = {500.0, 500.0};
  Scratch scratch(snapshot);
  EXPECT_EQ(decide(snapshot, Live(snapshot), request, kNow, scratch).terms.price, 0);
}

TEST(Snapshot, lets_a_request_only_where_every_part_of_its_rule_holds) {
  using Names = std::vector<std::string>;
  const struct {
    const char* why;
    Names jurisdictions;  // of the provider
    Duration retention;
    std::string data_class;
    Compliance rule;
    Exclusion want;
  } cases[] = {
      {"no more than it asks for", {"eu"}, kDay, "open", {"", {"eu"}, {"own"}, {"open"}, kDay}, Exclusion::none},
      {"the content may come to rest in either",
       {"eu", "us"},
       {},
       "",
       {"", {"eu"}, {}, {}, {}},
       Exclusion::jurisdiction},
      {"each is allowed", {"eu", "us"}, {}, "", {"", {"eu", "us"}, {}, {}, {}}, Exclusion::none},
      {"nobody says where it is", {}, {}, "", {"", {"eu"}, {}, {}, {}}, Exclusion::jurisdiction},
      {"kept an instant too long", {}, kDay + Duration{1}, "", {"", {}, {}, {}, kDay}, Exclusion::retention},
      {"another's", {}, {}, "", {"", {}, {"other"}, {}, {}}, Exclusion::provider},
      {"another class of data", {}, {}, "secret", {"", {}, {}, {"open"}, {}}, Exclusion::data_class},
  };
  for (const auto& c : cases) {
    Fleet fleet = owned_fleet();
    fleet.providers[0].jurisdictions = c.jurisdictions;
    fleet.providers[0].retention = c.retention;
    fleet.compliance = {c.rule};
    const Snapshot snapshot(fleet);
    EXPECT_EQ(snapshot.compliance(ComplianceId{0}, c.data_class, DestinationId{0}), c.want) << c.why;
    EXPECT_EQ(snapshot.compliance(ComplianceId{}, c.data_class, DestinationId{0}), Exclusion::none) << "no rule";
  }
}

TEST(Snapshot, sorts_offers_by_model_then_destination) {
  for_each_seed(200, [](Rng& rng) {
    const auto fleet = gen::fleet(rng);
    const Snapshot snapshot(*fleet);
    for (std::uint32_t i = 1; i < snapshot.offers().size(); ++i) {
      const Offer &a = snapshot[OfferId{i - 1}], &b = snapshot[OfferId{i}];
      EXPECT_LT(std::pair(a.model, a.destination), std::pair(b.model, b.destination));
    }
  });
}

TEST(Snapshot, finds_the_cheapest_compliant_payg_as_a_search_would) {
  for_each_seed(2000, [](Rng& rng) {
    const auto fleet = gen::fleet(rng);
    const Snapshot snapshot(*fleet);
    const Request r = gen::request(rng, *fleet);
    const Usage usage(r.prompt, Tokens{0}, Tokens{rng.between(1, 5000)});
    std::optional<Snapshot::Cheapest> want;
    for (std::uint32_t i = 0; i < snapshot.offers().size(); ++i) {
      const Offer& o = snapshot[OfferId{i}];
      if (o.model != r.model || o.tier != Tier::payg || !o.price) continue;
      if (snapshot.compliance(r.compliance, r.data_class, o.destination) != Exclusion::none) continue;
      if (usage.prompt().value + usage.completion().value > o.context_max.value) continue;
      if (o.output_max.value > 0 && usage.completion() > o.output_max) continue;
      const Result<Usd> price = snapshot.price(OfferId{i}, usage, kNow);
      if (price && (!want || *price < want->price)) want = Snapshot::Cheapest{OfferId{i}, *price};
    }
    const auto got = snapshot.cheapest_payg(r.model, r.compliance, r.data_class, usage, false);
    ASSERT_EQ(got.has_value(), want.has_value());
    if (!got) return;
    EXPECT_EQ(got->offer, want->offer);
    EXPECT_EQ(got->price, want->price);
  });
}

TEST(Snapshot, keeps_resident_what_fits_in_memory_in_order) {
  // llama-3.3-70b takes 141 GB in bf16: two of them do not fit into 4 x 80 GB beside a third, one does
  Fleet fleet = owned_fleet();
  const Architecture* shape = find_architecture("llama-3.3-70b");
  ASSERT_NE(shape, nullptr);
  fleet.models[0].architecture = *shape;
  fleet.destinations[0].accelerator = "h100-80g";
  fleet.destinations[0].serving[0].measured.reset();
  for (std::uint32_t i = 1; i < 3; ++i) {
    fleet.models.push_back(fleet.models[0]);
    fleet.models[i].name = "m" + std::to_string(i);
    fleet.destinations[0].serving.push_back(fleet.destinations[0].serving[0]);
    fleet.destinations[0].serving[i].model = ModelId{i};
  }
  const Snapshot snapshot(fleet);
  EXPECT_TRUE(snapshot[OfferId{0}].resident);
  EXPECT_FALSE(snapshot[OfferId{2}].resident);
  ASSERT_TRUE(snapshot[OfferId{0}].profile && snapshot[OfferId{1}].profile);
  EXPECT_LT(snapshot[OfferId{1}].profile->kv_tokens_max, snapshot[OfferId{0}].profile->kv_tokens_max);
}

TEST(Snapshot, makes_a_guest_of_a_model_that_would_have_no_room_for_its_cache) {
  // In fp8 llama-3.1-8b takes 8 GB and llama-3.3-70b 71 GB: both lie in the 86 GB of one H100, but the 7 GB that are
  // left are what an engine keeps for itself.
  Fleet fleet = owned_fleet();
  fleet.models[0].architecture = *find_architecture("llama-3.1-8b");
  fleet.models.push_back(fleet.models[0]);
  fleet.models[1].name = "m1";
  fleet.models[1].architecture = *find_architecture("llama-3.3-70b");
  Destination& pool = fleet.destinations[0];
  pool.accelerator = "h100-80g";
  pool.precision = Precision::fp8;
  pool.gpus_per_unit = pool.tp = 1;
  pool.serving[0].measured.reset();
  pool.serving.push_back(pool.serving[0]);
  pool.serving[1].model = ModelId{1};
  const Snapshot snapshot(fleet);
  const Offer &home = snapshot[OfferId{0}], &guest = snapshot[OfferId{1}];
  EXPECT_TRUE(home.resident);
  EXPECT_FALSE(guest.resident);
  EXPECT_TRUE(guest.guest()) << "it can be loaded in the place of the other";
  ASSERT_TRUE(guest.profile);
  EXPECT_GT(guest.profile->kv_tokens_max, 0);
}

TEST(Snapshot, takes_the_chunk_of_a_step_from_the_fleet_file_where_nothing_was_measured) {
  Fleet fleet = owned_fleet();
  fleet.models[0].architecture = *find_architecture("llama-3.1-8b");
  Destination& pool = fleet.destinations[0];
  pool.accelerator = "h100-80g";
  pool.prefill_chunk = 512;
  EXPECT_EQ(Snapshot(fleet)[OfferId{0}].profile->prefill_chunk, ServerProfile{}.prefill_chunk) << "as measured";
  pool.serving[0].measured.reset();
  EXPECT_EQ(Snapshot(fleet)[OfferId{0}].profile->prefill_chunk, 512);
}

}  // namespace
}  // namespace ace
