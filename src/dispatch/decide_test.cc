#include <algorithm>
#include <cstdlib>
#include <limits>
#include <tuple>

#include "core/testing.h"
#include "dispatch/dispatch.h"
#include "dispatch/generate_testing.h"

namespace ace {
namespace {

const Instant kNow = instant(1'780'000'000'000'000'000);

/// A fleet of our own: one model, one provider, destinations added as a test needs them, named in the order added.
struct World {
  Fleet fleet;
  Request request;

  World() {
    Provider p;
    p.name = "own";
    p.jurisdictions = {"eu"};
    fleet.providers.push_back(p);
    Model m;
    m.name = "m";
    m.context_max = Tokens{8192};
    m.output_max = Tokens{2048};
    fleet.models.push_back(m);
    SloClass s;
    s.name = "chat";
    fleet.slo_classes.push_back(s);
    request.model = ModelId{0};
    request.slo = SloId{0};
    request.prompt = Tokens{1000};
    request.predicted = {500.0, 1000.0};
  }
  /// Pay-as-you-go at USD per million tokens in and out, without quota.
  Destination& payg(double input, double output) {
    PriceRow row;
    row.key = gen::numbered('p', fleet.prices.rows.size());
    ContextTier tier;
    for (Rates& rates : tier.by_service) {
      rates.set(Unit::input, {static_cast<std::int64_t>(input * 1e9)});
      rates.set(Unit::output, {static_cast<std::int64_t>(output * 1e9)});
    }
    row.tiers = {tier};
    fleet.prices.rows.push_back(row);
    Destination& d = add(Tier::payg);
    d.unlimited = true;
    d.serving[0].price = PriceId{static_cast<std::uint32_t>(fleet.prices.rows.size() - 1)};
    return d;
  }
  /// One replica of 100 slots, ample otherwise; energy is free.
  Destination& gpu(Tier tier = Tier::spot) {
    Destination& d = add(tier);
    d.gpus_per_unit = d.tp = 4;
    ServerProfile p;
    p.prefill_tokens_per_s = 1e6;
    p.step_base_s = 0.01;
    p.batch_max = 100;
    p.kv_tokens_max = 10'000'000;
    d.serving[0].measured = p;
    return d;
  }
  Destination& add(Tier tier) {
    Destination& d = fleet.destinations.emplace_back();
    d.name = gen::numbered('d', fleet.destinations.size() - 1);
    d.tier = tier;
    d.provider = ProviderId{0};
    d.serving.emplace_back().model = ModelId{0};
    return d;
  }
};

Decision decided(const World& w) {
  const Snapshot snapshot(w.fleet);
  Scratch scratch(snapshot);
  return decide(snapshot, Live(snapshot), w.request, kNow, scratch);
}

TEST(Decide, takes_the_cheapest_and_on_a_tie_the_smaller_destination) {
  World w;
  w.payg(3.0, 9.0);
  w.payg(1.0, 2.0);
  w.payg(1.0, 2.0);
  const Decision d = decided(w);
  EXPECT_EQ(d.verdict, Verdict::dispatched);
  EXPECT_EQ(d.chosen, OfferId{1});
  EXPECT_EQ(d.terms.price, 2'000'000);  // 1000 x $1/M + 500 x $2/M = $0.002
  EXPECT_EQ(d.feasible, 3U);
}

Requirements& asked(World& w) { return w.fleet.slo_classes[0].hardware; }

TEST(Decide, excludes_for_each_rule_and_capability_by_its_own_reason) {
  const struct {
    Exclusion why;
    Verdict verdict;
    std::function<void(World&)> arrange;
  } cases[] = {
      {Exclusion::jurisdiction, Verdict::no_compliant_destination,
       [](World& w) { w.fleet.compliance.emplace_back().jurisdictions = {"us"}; }},
      {Exclusion::data_class, Verdict::no_compliant_destination,
       [](World& w) {
         w.fleet.compliance.emplace_back().data_classes = {"personal"};
         w.request.data_class = "health";
       }},
      {Exclusion::provider, Verdict::no_compliant_destination,
       [](World& w) { w.fleet.compliance.emplace_back().providers = {"azure"}; }},
      {Exclusion::retention, Verdict::no_compliant_destination,
       [](World& w) {
         w.fleet.compliance.emplace_back().retention_max = kDay;
         w.fleet.providers[0].retention = kDay * 2;
       }},
      {Exclusion::context, Verdict::no_capable_destination, [](World& w) { w.request.prompt = Tokens{8193}; }},
      {Exclusion::context, Verdict::no_capable_destination,
       [](World& w) {
         w.request.prompt = Tokens{7193};
         w.request.max_output = Tokens{1000};
       }},
      {Exclusion::output, Verdict::no_capable_destination, [](World& w) { w.request.max_output = Tokens{2049}; }},
      {Exclusion::modality, Verdict::no_capable_destination, [](World& w) { w.request.needs |= kImage; }},
      {Exclusion::tools, Verdict::no_capable_destination, [](World& w) { w.request.needs |= kTools; }},
      {Exclusion::vram, Verdict::no_capable_destination, [](World& w) { asked(w).vram_bytes_min = 90e9; }},
      {Exclusion::accelerator, Verdict::no_capable_destination,
       [](World& w) { asked(w).accelerator_family = "ampere"; }},
      {Exclusion::interconnect, Verdict::no_capable_destination, [](World& w) { asked(w).interconnect = "nvlink"; }},
      {Exclusion::not_running, Verdict::no_capacity, [](World& w) { w.fleet.destinations[0].units.units = 0; }},
  };
  for (const auto& c : cases) {
    World w;
    Destination& d = w.gpu();
    d.accelerator = "h100-80g";
    d.vram_bytes = 80e9;
    d.interconnect = "pcie";
    ASSERT_EQ(decided(w).verdict, Verdict::dispatched);
    c.arrange(w);
    if (!w.fleet.compliance.empty()) w.request.compliance = ComplianceId{0};
    const Decision got = decided(w);
    EXPECT_EQ(got.verdict, c.verdict) << name_of(c.why);
    EXPECT_EQ(got.excluded[static_cast<std::size_t>(c.why)], 1U) << name_of(c.why);
    EXPECT_EQ(got.feasible, 0U);
  }
}

TEST(Decide, excludes_for_price_health_and_capacity_by_its_own_reason) {
  constexpr auto slots = static_cast<std::size_t>(Resource::slots), kv = static_cast<std::size_t>(Resource::kv);
  constexpr auto meter = static_cast<std::size_t>(Resource::tokens);
  const struct {
    const char* what;
    Tier tier;
    Exclusion why;
    std::function<void(Live&)> arrange;
  } cases[] = {
      {"tripped", Tier::payg, Exclusion::tripped, [](Live& l) { l.tripped_until[0] = nanos(kNow) + 1; }},
      {"tripped until now is over", Tier::payg, Exclusion::none, [](Live& l) { l.tripped_until[0] = nanos(kNow); }},
      {"throttled", Tier::payg, Exclusion::throttled, [](Live& l) { l.throttled_until[0] = nanos(kNow) + 1; }},
      {"quota: the request must fit", Tier::payg, Exclusion::saturated,
       [](Live& l) {
         l.per_unit[meter][0] = 1e-4;  // 1000 + 1000 tokens are 0.2
         l.use[meter][0] = 0.81;
       }},
      {"quota: it just fits", Tier::payg, Exclusion::none,
       [](Live& l) {
         l.per_unit[meter][0] = 1e-4;
         l.use[meter][0] = 0.79;
       }},
      {"meter: full", Tier::reserved, Exclusion::saturated, [](Live& l) { l.use[meter][0] = 1.0; }},
      {"meter: admits below full, and may overshoot", Tier::reserved, Exclusion::none,
       [](Live& l) { l.use[meter][0] = 1.0 - 1e-15; }},
      {"slots: the last one", Tier::spot, Exclusion::saturated, [](Live& l) { l.use[slots][0] = 0.99; }},
      {"slots: the last but one", Tier::spot, Exclusion::none, [](Live& l) { l.use[slots][0] = 0.98; }},
      {"KV", Tier::spot, Exclusion::saturated, [](Live& l) { l.use[kv][0] = 0.99999; }},
      {"weights not loaded", Tier::spot, Exclusion::not_resident, [](Live& l) { l.ready[0][0] = 0; }},
      {"no units", Tier::spot, Exclusion::not_running, [](Live& l) { l.running[0] = 0; }},
  };
  for (const auto& c : cases) {
    World w;
    if (c.tier == Tier::payg) w.payg(1.0, 1.0);
    if (c.tier == Tier::spot) w.gpu();
    if (c.tier == Tier::reserved)
      w.add(Tier::reserved).serving[0].ptu = PtuTerms{.units = 50, .tokens_per_minute_per_unit = 2500};
    const Snapshot snapshot(w.fleet);
    Live live(snapshot);
    c.arrange(live);
    Scratch scratch(snapshot);
    const Decision d = decide(snapshot, live, w.request, kNow, scratch);
    EXPECT_EQ(d.verdict, c.why == Exclusion::none ? Verdict::dispatched : Verdict::no_capacity) << c.what;
    if (c.why != Exclusion::none) {
      EXPECT_EQ(d.excluded[static_cast<std::size_t>(c.why)], 1U) << c.what;
    }
  }
}

TEST(Decide, never_serves_what_has_no_price) {
  World w;
  w.payg(1.0, 1.0).serving[0].price.reset();
  const Decision d = decided(w);
  EXPECT_EQ(d.verdict, Verdict::no_capable_destination);
  EXPECT_EQ(d.excluded[static_cast<std::size_t>(Exclusion::unpriced)], 1U);
}

TEST(Decide, sends_to_batch_and_flex_services_only_what_can_wait) {
  for (const ServiceTier service : {ServiceTier::batch, ServiceTier::flex}) {
    World w;
    w.payg(0.5, 1.0).service = service;
    w.payg(1.0, 2.0);
    w.fleet.slo_classes[0].ttft = kSecond;
    w.fleet.slo_classes.emplace_back().deadline = kDay;
    Decision d = decided(w);
    EXPECT_EQ(d.chosen, OfferId{1});
    EXPECT_EQ(d.excluded[static_cast<std::size_t>(Exclusion::service)], 1U);
    w.request.slo = SloId{1};
    EXPECT_EQ(decided(w).chosen, OfferId{0});
    w.request.slo = SloId{0};
    w.request.batch = true;
    EXPECT_EQ(decided(w).chosen, OfferId{0});
    w.request.batch = false;
    w.fleet.destinations.pop_back();
    d = decided(w);
    EXPECT_EQ(d.verdict, Verdict::no_capable_destination);
    const Snapshot snapshot(w.fleet);
    const Usage usage(Tokens{1000}, Tokens{0}, Tokens{500});
    EXPECT_FALSE(snapshot.cheapest_payg(ModelId{0}, {}, {}, usage, false));
    EXPECT_EQ(snapshot.cheapest_payg(ModelId{0}, {}, {}, usage, true)->price, Usd{1'000'000});
  }
}

TEST(Decide, passes_over_where_the_request_failed_already) {
  World w;
  w.payg(1.0, 1.0);
  w.payg(2.0, 2.0);
  const Snapshot snapshot(w.fleet);
  Scratch scratch(snapshot);
  scratch.attempted = {OfferId{0}};
  const Decision d = decide(snapshot, Live(snapshot), w.request, kNow, scratch);
  EXPECT_EQ(d.chosen, OfferId{1});
  EXPECT_EQ(d.excluded[static_cast<std::size_t>(Exclusion::attempted)], 1U);
}

TEST(Decide, counts_an_equivalent_at_its_own_length) {
  // m costs 1000 x $1 + 500 x $3 = $2,500 per million requests; n at verbosity 1.2 costs 1000 x $1 + 600 x $2.4 =
  // $2,440
  World w;
  w.payg(1.0, 3.0);
  w.fleet.models.emplace_back(w.fleet.models[0]).name = "n";
  w.payg(1.0, 2.4).serving[0].model = ModelId{1};
  w.fleet.models[0].equivalents.push_back({ModelId{1}, 0.97, 1'200'000, "docs/q.md"});
  const Decision d = decided(w);
  EXPECT_EQ(d.chosen, OfferId{1});
  EXPECT_EQ(d.terms.price, 2'440'000);
}

TEST(Decide, adds_the_terms_as_the_key_says) {
  World w;
  w.payg(1.0, 2.0);
  w.fleet.slo_classes[0].miss_value = Usd{5'000'000};
  const Snapshot snapshot(w.fleet);
  Live live(snapshot);
  live.fail_probability[0] = 0.1;
  live.derate[0] = 1.5;
  live.warmth[0] = 700.0;
  live.bias[0] = 2.0;
  Scratch scratch(snapshot);
  const Terms t = decide(snapshot, live, w.request, kNow, scratch).terms;
  EXPECT_EQ(t.price, 2'000'000);
  EXPECT_EQ(t.warmth, 700);
  // 0.1 x (500 tokens at 2000 nano-USD + 5,000,000) + 0.5 x 2,000,000 of derate = 600,000 + 1,000,000
  EXPECT_EQ(t.risk, 1'600'000);
  EXPECT_EQ(t.bias, 3000);  // 1500 tokens at 2
  EXPECT_EQ(t.effective(), 2'000'000 + 700 + 1'600'000);
  EXPECT_EQ(t.key(), t.effective() + 3000);
}

TEST(Decide, prices_long_context_by_the_tier_of_the_whole_prompt) {
  World w;
  w.payg(1.0, 2.0);
  PriceRow& row = w.fleet.prices.rows[0];
  row.tiers.push_back(row.tiers[0]);
  row.tiers[1].above = Tokens{999};
  for (Rates& rates : row.tiers[1].by_service) rates.set(Unit::input, {3'000'000'000});
  EXPECT_EQ(decided(w).terms.price, 1000 * 3000 + 500 * 2000);
  row.tiers[1].above = Tokens{1000};
  EXPECT_EQ(decided(w).terms.price, 1000 * 1000 + 500 * 2000);
}

TEST(Decide, stops_loading_in_98_to_100_percent_of_the_knee_where_a_destination_no_dearer_than_v_has_room) {
  for (const double k : {0.2, 0.5, 0.83, 0.98}) {
    World w;
    w.gpu();
    w.payg(1.0, 2.0);
    w.fleet.models[0].baseline = Baseline{DestinationId{1}, PriceId{0}, "2026-11-01", false};
    const Snapshot snapshot(w.fleet);
    Live live(snapshot);
    for (auto& knee : live.knee) knee = k;
    for (auto& knees : live.knee_by_class) knees.assign(2, k);
    Scratch scratch(snapshot);
    double& use = live.use[static_cast<std::size_t>(Resource::slots)][0];
    const double grain = 1e-4;
    live.per_unit[static_cast<std::size_t>(Resource::slots)][0] = grain;  // many slots: the grain is fine
    while (decide(snapshot, live, w.request, kNow, scratch).chosen == OfferId{0}) use += grain;
    EXPECT_GE(use, 0.98 * k - grain) << k;
    EXPECT_LE(use, k + 1e-12) << k;
  }
}

TEST(Decide, passes_the_knee_only_when_every_alternative_is_dearer_still) {
  World w;
  w.gpu();
  w.payg(1.0, 2.0);
  w.payg(5.0, 10.0);  // five times V
  w.fleet.models[0].baseline = Baseline{DestinationId{1}, PriceId{0}, "2026-11-01", false};
  const Snapshot snapshot(w.fleet);
  Live live(snapshot);
  Scratch scratch(snapshot);
  live.use[static_cast<std::size_t>(Resource::slots)][0] = kKneePrior - 0.005;  // just above the knee when admitted
  EXPECT_EQ(decide(snapshot, live, w.request, kNow, scratch).chosen, OfferId{1});
  live.tripped_until[1] = nanos(kNow) + 1;
  EXPECT_EQ(decide(snapshot, live, w.request, kNow, scratch).chosen, OfferId{0});
}

TEST(Decide, never_leaves_the_compliant_set_whatever_prices_health_and_retries) {
  for_each_seed(3000, [](Rng& rng) {
    const auto fleet = gen::fleet(rng);
    const Snapshot snapshot(*fleet);
    const Live live = gen::live(rng, snapshot, kNow);
    const Request request = gen::request(rng, *fleet);
    Scratch scratch(snapshot);
    for (int attempt = 0; attempt < 4; ++attempt) {
      const Decision d = decide(snapshot, live, request, kNow, scratch);
      if (d.verdict != Verdict::dispatched) {
        EXPECT_FALSE(d.chosen.valid());
        break;
      }
      const Destination& at = fleet->destinations[snapshot[d.chosen].destination.value];
      const Provider& provider = fleet->providers[at.provider.value];
      if (request.compliance.valid()) {  // spelled out again, from the fleet alone
        const Compliance& rule = fleet->compliance[request.compliance.value];
        const auto in = [](const auto& names, std::string_view name) {
          return names.empty() || std::count(names.begin(), names.end(), name) > 0;
        };
        EXPECT_TRUE(in(rule.jurisdictions, provider.jurisdictions.at(0)));
        EXPECT_TRUE(in(rule.providers, provider.name));
        EXPECT_TRUE(request.data_class.empty() || in(rule.data_classes, request.data_class));
        EXPECT_TRUE(!rule.retention_max || provider.retention <= *rule.retention_max);
      }
      EXPECT_EQ(std::count(scratch.attempted.begin(), scratch.attempted.end(), d.chosen), 0);
      scratch.attempted.push_back(d.chosen);
    }
  });
}

TEST(Decide, agrees_with_explain) {
  for_each_seed(3000, [](Rng& rng) {
    const auto fleet = gen::fleet(rng, 40);
    const Snapshot snapshot(*fleet);
    const Live live = gen::live(rng, snapshot, kNow);
    const Request request = gen::request(rng, *fleet);
    Scratch scratch(snapshot);
    if (rng.chance(0.3) && !snapshot.offers().empty())
      scratch.attempted.push_back(OfferId{static_cast<std::uint32_t>(rng.below(snapshot.offers().size()))});
    const Decision d = decide(snapshot, live, request, kNow, scratch);
    const std::vector<Candidate> all = explain(snapshot, live, request, kNow, scratch);
    ASSERT_EQ(all.size(), snapshot.candidates(request.model).size());
    const Lot* lots = admissible(snapshot, live, request, kNow, scratch).data();
    auto candidate = all.begin();
    for (const OfferRange& range : snapshot.ranges(request.model)) {
      for (std::uint32_t i = 0; i < range.count; ++i, ++candidate) {
        const std::uint32_t at = range.first.value % kLot + i;
        EXPECT_EQ((lots[at / kLot].in >> at % kLot & 1U) != 0, candidate->exclusion == Exclusion::none);
      }
      lots += range.lots();
    }
    const Candidate* best = nullptr;
    std::array<std::uint32_t, kExclusions> excluded{};
    const auto place = [&](const Candidate& c) {
      return std::tuple(c.terms.key(), snapshot[c.offer].destination, snapshot[c.offer].model);
    };
    for (const Candidate& c : all) {
      if (c.exclusion != Exclusion::none)
        ++excluded[static_cast<std::size_t>(c.exclusion)];
      else if (best == nullptr || place(c) < place(*best))
        best = &c;
    }
    EXPECT_EQ(d.excluded, excluded);
    ASSERT_EQ(d.verdict == Verdict::dispatched, best != nullptr);
    if (best == nullptr) return;
    EXPECT_EQ(d.chosen, best->offer);
    EXPECT_EQ(d.terms, best->terms);
  });
}

TEST(Decide, never_books_a_bias_or_a_penalty) {
  for_each_seed(1000, [](Rng& rng) {
    const auto fleet = gen::fleet(rng);
    const Snapshot snapshot(*fleet);
    const Request request = gen::request(rng, *fleet);
    const Usage usage(request.prompt, Tokens{0}, Tokens{static_cast<std::int64_t>(request.predicted.output_mean)});
    // The price of an offer is a matter of the fleet, the usage and the hour: a fleet with another bias books the same.
    auto biased = *fleet;
    for (std::uint32_t p = 0; p < 4; ++p) biased.policies.bias[p] = {rng.between(-900, 900) * 1'000'000};
    const Snapshot other(biased);
    for (std::uint32_t i = 0; i < snapshot.offers().size(); ++i) {
      const Result<Usd> a = snapshot.price(OfferId{i}, usage, kNow), b = other.price(OfferId{i}, usage, kNow);
      ASSERT_EQ(a.has_value(), b.has_value());
      if (a) {
        EXPECT_EQ(*a, *b);
      }
    }
    // And what decide() calls the price term has no bias, failure, derate or congestion in it.
    Live calm(snapshot), rough = gen::live(rng, snapshot, kNow);
    rough.cached = calm.cached;
    Scratch scratch(snapshot);
    const auto before = explain(snapshot, calm, request, kNow, scratch);
    const auto after = explain(snapshot, rough, request, kNow, scratch);
    for (std::size_t i = 0; i < before.size(); ++i)
      if (before[i].exclusion == Exclusion::none && after[i].exclusion == Exclusion::none) {
        EXPECT_EQ(before[i].terms.price, after[i].terms.price);
      }
  });
}

TEST(Decide, does_not_depend_on_the_order_destinations_were_declared_in) {
  for_each_seed(500, [](Rng& rng) {
    const auto fleet = gen::fleet(rng);
    const Request request = gen::request(rng, *fleet);
    const Snapshot snapshot(*fleet);
    Scratch scratch(snapshot);
    const Decision want = decide(snapshot, Live(snapshot), request, kNow, scratch);

    Fleet shuffled = *fleet;
    rng.shuffle(std::span(shuffled.destinations));
    for (Model& m : shuffled.models)
      if (m.baseline)
        m.baseline->destination = DestinationId{
            static_cast<std::uint32_t>(std::find(shuffled.destinations.begin(), shuffled.destinations.end(),
                                                 fleet->destinations[m.baseline->destination.value]) -
                                       shuffled.destinations.begin())};
    const Snapshot other(shuffled);
    Scratch scratch_other(other);
    const Decision got = decide(other, Live(other), request, kNow, scratch_other);
    EXPECT_EQ(got.verdict, want.verdict);
    EXPECT_EQ(got.excluded, want.excluded);
    EXPECT_EQ(got.terms.key(), want.terms.key());  // ids moved, so a tie may fall elsewhere, at the same cost
  });
}

/// The same world for a fleet that has one destination more, the last, which is idle.
Live with_one_more(const Snapshot& snapshot, const Live& live, const Snapshot& more) {
  std::vector<std::optional<std::size_t>> before(more.offers().size());  // offers lie by model, so they move
  for (std::size_t n = 0; n < more.offers().size(); ++n)
    for (std::size_t o = 0; o < snapshot.offers().size(); ++o)
      if (snapshot.offers()[o].destination == more.offers()[n].destination &&
          snapshot.offers()[o].model == more.offers()[n].model)
        before[n] = o;
  Live other(more);
  const auto keep = [&](auto& column, const auto& from) {
    for (std::size_t n = 0; n < before.size(); ++n)
      if (before[n]) column[n] = from[*before[n]];
  };
  const auto keep_all = [&](auto& columns, const auto& from) {
    for (std::size_t i = 0; i < std::size(from); ++i) keep(columns[i], from[i]);
  };
  keep_all(other.use, live.use);
  keep_all(other.wait_scale, live.wait_scale);
  keep_all(other.knee_by_class, live.knee_by_class);
  keep_all(other.ready, live.ready);
  keep(other.sustained, live.sustained);
  keep(other.wait, live.wait);
  keep(other.wait_per_token, live.wait_per_token);
  keep(other.knee, live.knee);
  keep(other.shadow_price, live.shadow_price);
  keep(other.scarce, live.scarce);
  keep(other.fail_probability, live.fail_probability);
  keep(other.derate, live.derate);
  keep(other.warmth, live.warmth);
  keep(other.throttled_until, live.throttled_until);
  keep(other.tripped_until, live.tripped_until);
  keep(other.cached, live.cached);
  return other;
}

// In a world that is anything between idle and overloaded; the destination added is any whose price is not above that
// of the one chosen, so it cannot raise what a request is worth either.
TEST(Decide, never_costs_more_with_capacity_added_at_or_below_the_price) {
  int relieved = 0;
  for_each_seed(1000, [&](Rng& rng) {
    const auto fleet = gen::fleet(rng);
    const Request request = gen::request(rng, *fleet);
    const Snapshot snapshot(*fleet);
    Live live = gen::live(rng, snapshot, kNow);
    std::fill(live.cached.begin(), live.cached.end(), 0);  // a new place has cached nothing
    Scratch scratch(snapshot);
    const Decision before = decide(snapshot, live, request, kNow, scratch);
    if (before.verdict != Verdict::dispatched) return;
    std::vector<OfferId> no_dearer;
    for (const Candidate& c : explain(snapshot, live, request, kNow, scratch))
      if (c.exclusion == Exclusion::none && c.terms.price <= before.terms.price) no_dearer.push_back(c.offer);
    const OfferId added = no_dearer[rng.below(no_dearer.size())];
    Fleet more = *fleet;
    more.destinations.push_back(more.destinations[snapshot[added].destination.value]);
    more.destinations.back().name = "z";
    const Snapshot other(more);
    Scratch scratch_more(other);
    const Decision after = decide(other, with_one_more(snapshot, live, other), request, kNow, scratch_more);
    EXPECT_EQ(after.verdict, Verdict::dispatched);
    EXPECT_LE(after.terms.key(), before.terms.key());
    relieved += after.terms.key() < before.terms.key() ? 1 : 0;
  });
  if (std::getenv("ACE_SEED") == nullptr) {
    EXPECT_GT(relieved, 20) << "the world was never busy";
  }
}

// What a request is worth must stay as it is, so the model's own default keeps its price.
TEST(Decide, never_goes_to_a_destination_because_its_price_was_raised) {
  int left = 0;
  for_each_seed(2000, [&](Rng& rng) {
    const auto fleet = gen::fleet(rng);
    const Request request = gen::request(rng, *fleet);
    const std::optional<Baseline>& baseline = fleet->models[request.model.value].baseline;
    const Snapshot snapshot(*fleet);
    const Live live = gen::live(rng, snapshot, kNow);
    Scratch scratch(snapshot);
    const Decision before = decide(snapshot, live, request, kNow, scratch);
    const auto d = before.verdict == Verdict::dispatched && rng.chance(0.5)
                       ? snapshot[before.chosen].destination.value
                       : static_cast<std::uint32_t>(rng.below(fleet->destinations.size()));
    if (!baseline || baseline->destination.value == d || fleet->destinations[d].tier != Tier::payg) return;
    Fleet dearer = *fleet;
    for (Serving& serving : dearer.destinations[d].serving) {
      if (!serving.price) continue;
      PriceRow row = dearer.prices.rows[serving.price->value];
      for (ContextTier& tier : row.tiers)
        for (Rates& rates : tier.by_service)
          for (std::size_t u = 0; u < kUnits; ++u)
            if (const auto price = rates[static_cast<Unit>(u)]) rates.set(static_cast<Unit>(u), {price->nano * 3});
      row.key = "raised/" + std::to_string(serving.model.value);
      dearer.prices.rows.push_back(std::move(row));
      serving.price = PriceId{static_cast<std::uint32_t>(dearer.prices.rows.size() - 1)};
    }
    const Snapshot other(dearer);
    Live then(other);
    const auto prices = std::tuple(then.price_input, then.price_cached, then.price_output, then.tiered);
    then = live;
    std::tie(then.price_input, then.price_cached, then.price_output, then.tiered) = prices;
    Scratch scratch_other(other);
    const Decision after = decide(other, then, request, kNow, scratch_other);
    const auto goes_there = [&](const Snapshot& s, const Decision& decision) {
      return decision.verdict == Verdict::dispatched && s[decision.chosen].destination.value == d;
    };
    EXPECT_LE(goes_there(other, after), goes_there(snapshot, before));
    left += goes_there(snapshot, before) && !goes_there(other, after) ? 1 : 0;
  });
  if (std::getenv("ACE_SEED") == nullptr) {
    EXPECT_GT(left, 5) << "no price mattered";
  }
}

}  // namespace
}  // namespace ace
