// No policy beats the bounds, on small worlds of every shape: models that stand in for each other, rules, what can
// wait.
#include <gtest/gtest.h>

#include "core/testing.h"
#include "replay/bound.h"
#include "replay/replay_testing.h"

namespace ace {
namespace {

using replay_testing::made;
using replay_testing::Made;
using replay_testing::MemorySource;

template <class T>
T one_of(Rng& rng, std::initializer_list<T> items) {
  return items.begin()[rng.below(items.size())];
}

/// A second model, which may stand in for the first and shares its destinations, some of them.
void add_model(Rng& rng, Fleet& f) {
  const PriceId price{static_cast<std::uint32_t>(f.prices.rows.size())};
  f.prices.rows.push_back(replay_testing::price_row("any/n", 500'000'000, 100'000'000, 2'000'000'000));
  Model n = f.models[0];
  n.name = "n";
  n.baseline = Baseline{DestinationId{0}, price, "2026-11-01", true};
  f.models.push_back(n);
  if (rng.chance(0.5)) f.models[0].equivalents = {{ModelId{1}, 0.9, rng.between(500'000, 2'000'000), "judged"}};
  for (Destination& d : f.destinations) {
    if (&d != &f.destinations[0] && rng.chance(0.4)) continue;
    Serving serving = d.serving[0];
    serving.model = ModelId{1};
    if (serving.price) serving.price = price;
    d.serving.push_back(serving);
  }
}

/// A second provider, and a tenant that may use no other.
void add_rule(Rng& rng, Fleet& f) {
  f.providers.push_back(f.providers[0]);
  f.providers[1].name = "q";
  for (std::size_t i = 1; i < f.destinations.size(); ++i)
    if (rng.chance(0.5)) f.destinations[i].provider = ProviderId{1};
  f.compliance.resize(1);
  f.compliance[0].name = "q-only";
  f.compliance[0].providers = {"q"};
  f.tenants.resize(2);
  f.tenants[0].name = "free";
  f.tenants[1].name = "ruled";
  f.tenants[1].compliance = ComplianceId{0};
}

/// A handful of destinations of all tiers around one API, and small enough that they fill up.
std::unique_ptr<Fleet> random_fleet(Rng& rng) {
  auto fleet = replay_testing::api_fleet(one_of<std::int64_t>(rng, {1'000'000'000, 3'000'000'000}));
  Fleet& f = *fleet;
  f.prices.rows[0] = replay_testing::price_row("api/m", 1'000'000'000, 250'000'000, 4'000'000'000);
  f.prices.rows.push_back(replay_testing::price_row("cheap/m", 300'000'000, 30'000'000, 900'000'000));
  f.prices.rows.push_back(replay_testing::price_row("fee/m", 50'000'000, 50'000'000, 50'000'000));
  f.providers[0].cache = {.min_prefix = Tokens{1}, .block = Tokens{1}, .ttl = kMinute, .enabled = rng.chance(0.5)};
  f.electricity.flat = {rng.between(-50, 300) * 1'000'000};
  if (rng.chance(0.3)) {
    for (int h = 0; h < 3; ++h) f.electricity.hourly.push_back({rng.between(-50, 300) * 1'000'000});
  }
  f.slo_classes[0].tpot = rng.chance(0.5) ? std::optional<Duration>(50'000'000) : std::nullopt;
  if (rng.chance(0.3)) {
    f.slo_classes[0].ttft = std::nullopt;
    f.slo_classes[0].deadline = 60 * kSecond;
  }
  if (rng.chance(0.2)) f.policies.gateway_hosts_hourly = Usd{rng.between(0, 1'000'000'000)};
  f.destinations[0].latency.error_rate = rng.chance(0.2) ? 0.1 : 0.0;
  const std::size_t more = 1 + rng.below(3);
  for (std::size_t i = 0; i < more; ++i) {
    Destination d = f.destinations[0];
    d.name = "d" + std::to_string(i);
    d.latency.error_rate = rng.chance(0.1) ? 0.2 : 0.0;
    d.declared = static_cast<std::uint32_t>(rng.below(5));
    const auto tier = one_of(rng, {Tier::payg, Tier::reserved, Tier::owned, Tier::spot, Tier::on_demand});
    d.tier = tier;
    Serving& serving = d.serving[0];
    if (tier == Tier::payg) {
      serving.price = PriceId{1};
      d.unlimited = rng.chance(0.2);
      if (rng.chance(0.7)) d.tpm = rng.between(500, 20'000);
      if (rng.chance(0.4)) d.rpm = rng.between(1, 20);
      if (rng.chance(0.2)) d.service = ServiceTier::batch;
    } else if (tier == Tier::reserved) {
      d.unlimited = false;
      serving.price = rng.chance(0.3) ? std::optional(PriceId{2}) : std::nullopt;
      d.commitment_hourly = Usd{rng.between(0, 2'000) * 1'000'000};
      if (rng.chance(0.5))
        serving.ptu = PtuTerms{.units = 1,
                               .tokens_per_minute_per_unit = rng.between(500, 20'000),
                               .output_ratio = 4.0,
                               .cached_weight = one_of(rng, {0.0, 0.1, 1.0})};
      else
        serving.gsu = GsuTerms{.units = 1,
                               .tokens_per_second_per_unit = static_cast<double>(rng.between(10, 300)),
                               .output_ratio = 3.0,
                               .cached_weight = one_of(rng, {0.1, 1.0}),
                               .units_increment = 1,
                               .window = one_of(rng, {5 * kSecond, 30 * kSecond})};
      if (rng.chance(0.3)) d.native_spill = DestinationId{0};
    } else {
      d.unlimited = false;
      serving.price = std::nullopt;
      ServerProfile p = replay_testing::simple_profile();
      p.prefill_tokens_per_s = static_cast<double>(rng.between(2, 100)) * 100.0;
      p.step_per_sequence_s = one_of(rng, {0.0, 0.001});
      p.step_per_kv_token_s = one_of(rng, {0.0, 1e-6});
      p.batch_max = rng.between(1, 8);
      p.kv_tokens_max = one_of<std::int64_t>(rng, {1000, 8000, 1'000'000});
      p.prefill_chunk = one_of<std::int64_t>(rng, {64, 2048});
      p.watts_busy = 100.0 + static_cast<double>(rng.between(0, 2000));
      p.measured = rng.chance(0.5);
      serving.measured = p;
      d.gpus_per_unit = rng.between(1, 2);
      d.tp = 1;
      d.units.units = rng.between(0, 2);
      if (tier == Tier::owned) {
        d.amortization_hourly = Usd{rng.between(0, 3'000) * 1'000'000};
      } else {
        d.rental.emplace().hourly = Usd{rng.between(0, 3'000) * 1'000'000};
        d.rental->increment = one_of<Duration>(rng, {kSecond, kMinute, kHour});
        d.rental->notice = one_of<Duration>(rng, {kSecond, 30 * kSecond});
        if (tier == Tier::spot) d.rental->hazard_per_hour = one_of(rng, {0.0, 5.0, 60.0});
        if (rng.chance(0.3)) d.rental->hourly_series = {Usd{1'000'000'000}, Usd{100'000'000}, Usd{2'000'000'000}};
      }
      if (rng.chance(0.3)) d.units.schedule = {{0x7f, 0, static_cast<int>(rng.between(1, 3)), rng.between(0, 2)}};
      if (rng.chance(0.3))
        d.units.reactive = ReactivePolicy{.up_at = 0.5,
                                          .down_at = 0.3,
                                          .start_delay = 10 * kSecond,
                                          .min_up = kMinute,
                                          .min_down = kSecond,
                                          .units_min = rng.between(0, 1),
                                          .units_max = 2};
    }
    f.destinations.push_back(d);
  }
  if (rng.chance(0.5)) add_model(rng, f);
  if (rng.chance(0.5)) add_rule(rng, f);
  return fleet;
}

/// Up to 30 requests, most of them in bursts that sit on the edges of minutes and of the stretches of the bounds.
std::vector<Made> random_requests(Rng& rng, const Fleet& fleet) {
  std::vector<Made> requests;
  const std::size_t count = 1 + rng.below(30);
  const bool blocks = rng.chance(0.4), asks = rng.chance(0.2), logged = rng.chance(0.2), waits = rng.chance(0.2);
  const double span = one_of(rng, {1.0, 20.0, 200.0});
  double at = 0.0;
  while (requests.size() < count) {
    const std::size_t burst = rng.chance(0.5) ? 1 + rng.below(10) : 1;
    for (std::size_t b = 0; b < burst && requests.size() < count; ++b) {
      Made m = made(at, static_cast<std::int32_t>(rng.between(1, rng.chance(0.2) ? 6000 : 600)),
                    static_cast<std::int32_t>(rng.between(1, rng.chance(0.2) ? 600 : 60)));
      if (blocks)
        for (std::int32_t k = 0; k * 512 < m.arrival.prompt; ++k)
          m.blocks.push_back(static_cast<std::uint32_t>(static_cast<std::uint64_t>(k) * 8 + rng.below(2)));
      if (logged) m.arrival.cached = static_cast<std::int32_t>(rng.between(0, m.arrival.prompt));
      if (asks) m.arrival.max_output = m.arrival.output + static_cast<std::int32_t>(rng.below(200));
      m.arrival.model = static_cast<std::uint32_t>(rng.below(fleet.models.size()));
      if (!fleet.tenants.empty()) m.arrival.tenant = static_cast<std::uint32_t>(rng.below(fleet.tenants.size()));
      m.arrival.batch = waits && rng.chance(0.5);
      requests.push_back(m);
    }
    const double edge = one_of(rng, {1.0, 10.0, 60.0});
    at = rng.chance(0.5) ? at + rng.uniform() * span : (static_cast<double>(static_cast<int>(at / edge)) + 1.0) * edge;
    if (rng.chance(0.3)) at += 1e-9 * static_cast<double>(rng.below(3));
  }
  return requests;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kWorlds = 1000;  // ten times slower there, and the law is the same
#else
constexpr int kWorlds = 10'000;
#endif

TEST(BoundFuzz, no_policy_beats_the_bounds) {
  for_each_seed(kWorlds, [](Rng& rng) {
    const auto fleet = random_fleet(rng);
    const Snapshot snapshot(*fleet);
    MemorySource source(random_requests(rng, *fleet), {"m", "n"}, {"free", "ruled"});
    RunOptions options;
    options.dispatching = one_of(rng, {Dispatching::merit_order, Dispatching::status_quo, Dispatching::round_robin});
    options.seed = rng.next();
    options.shapley = false;
    options.facts = true;
    options.plant.slowdown = one_of(rng, {1.0, 0.7, 1.3});
    options.plant.slowdown.unmeasured *= one_of(rng, {1.0, 1.2});
    const Result<RunResult> done = run(snapshot, source, options);
    ASSERT_TRUE(done) << done.error().what();
    BoundOptions bounds;
    bounds.slowdown = options.plant.slowdown;
    bounds.passes = 6;
    bounds.block_bits = 1 << 12;
    const Result<BoundResult> least = bound(snapshot, source, *done, bounds);
    ASSERT_TRUE(least) << least.error().what();
    EXPECT_LE(least->dispatch_bound, done->facts.actual);
    EXPECT_LE(least->plan_bound, done->facts.actual + done->statement.fixed);
  });
}

}  // namespace
}  // namespace ace
