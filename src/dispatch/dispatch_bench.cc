/// One decision with its full effective cost: 16, 64 and 1,000 candidates of all tiers, 1 in 20 of them out, a quarter
/// of the GPU pools beyond 98% of their knee, shadow prices, failures and a bias about. The label is a hash of the
/// answers: two builds that print the same hash decide alike.
#include <benchmark/benchmark.h>

#include "core/hash.h"
#include "core/rng.h"
#include "dispatch/dispatch.h"
#include "dispatch/rank.h"

namespace ace {
namespace {

const Instant kNow = instant(1'780'000'000'000'000'000);

Destination destination_of(std::size_t i, Rng& rng, const Fleet& fleet) {
  constexpr Tier tiers[] = {Tier::owned, Tier::payg, Tier::payg, Tier::reserved, Tier::spot, Tier::payg};
  Destination d;
  d.name = "d" + std::to_string(100'000 + i);
  d.tier = tiers[rng.below(6)];
  d.provider = ProviderId{0};
  Serving s;
  s.model = ModelId{0};
  if (d.tier == Tier::payg) {
    s.price = PriceId{static_cast<std::uint32_t>(rng.below(fleet.prices.rows.size()))};
    d.tpm = 2'000'000;
    d.rpm = 5'000;
  } else if (d.tier == Tier::reserved) {
    s.ptu = PtuTerms{.units = 100, .tokens_per_minute_per_unit = 2500};
  } else {
    d.gpus_per_unit = 8;
    d.tp = 4;
    ServerProfile p;
    p.prefill_tokens_per_s = 12'000.0;
    p.step_base_s = 0.012;
    p.step_per_sequence_s = 0.0001;
    p.batch_max = 128;
    p.kv_tokens_max = 400'000;
    p.watts_idle = 800.0;
    p.watts_busy = 2500.0;
    s.measured = p;
  }
  d.serving = {s};
  return d;
}

Fleet fleet_of(std::size_t n) {
  Rng rng(1, "bench fleet");
  Fleet fleet;
  fleet.providers.push_back({.name = "one", .jurisdictions = {"eu"}, .cache = {}});
  fleet.slo_classes.emplace_back().name = "chat";
  Compliance& rule = fleet.compliance.emplace_back();
  rule.name = "eu-only";
  rule.jurisdictions = {"eu"};
  for (std::int64_t i = 0; i < 20; ++i) {
    PriceRow row;
    row.key = "p" + std::to_string(100 + i);
    ContextTier tier;
    for (Rates& rates : tier.by_service) {
      rates.set(Unit::input, {(590 + 13 * i) * 1'000'000});
      rates.set(Unit::cached_input, {(150 + 3 * i) * 1'000'000});
      rates.set(Unit::output, {(790 + 29 * i) * 1'000'000});
    }
    row.tiers = {tier};
    fleet.prices.rows.push_back(row);
  }
  Model& model = fleet.models.emplace_back();
  model.name = "llama-3.3-70b";
  model.context_max = Tokens{131'072};
  fleet.electricity.flat = {120'000'000};
  fleet.electricity.pue = 1.3;
  fleet.policies.bias[0] = {-50'000'000};
  for (std::size_t i = 0; i < n; ++i) fleet.destinations.push_back(destination_of(i, rng, fleet));
  return fleet;
}

Live live_of(const Snapshot& snapshot) {
  Rng rng(2, "bench live");
  Live live(snapshot);
  for (std::size_t i = 0; i < snapshot.offers().size(); ++i) {
    const double busy = rng.chance(0.25) ? 0.89 : 0.3 + 0.5 * rng.uniform();
    for (std::size_t r = 0; r < kResources; ++r)
      if (live.per_unit[r][i] > 0.0) live.use[r][i] = busy;
    if (rng.chance(0.2)) live.shadow_price[i] = 1e7 * rng.uniform();
    live.fail_probability[i] = 0.01 * rng.uniform();
    if (rng.chance(0.1)) live.derate[i] = 1.2;
    if (rng.chance(0.05)) live.throttled_until[i] = nanos(kNow) + 1;
  }
  return live;
}

std::vector<Request> requests_of() {
  Rng rng(3, "bench requests");
  std::vector<Request> requests(256);
  for (Request& r : requests) {
    r.model = ModelId{0};
    r.slo = SloId{0};
    r.compliance = ComplianceId{0};
    r.prompt = Tokens{rng.between(50, 4000)};
    r.max_output = Tokens{1000};
    r.predicted.output_mean = static_cast<double>(rng.between(20, 500));
    r.predicted.output_p90 = 2.0 * r.predicted.output_mean;
  }
  return requests;
}

void decide_one(benchmark::State& state) {
  const Fleet fleet = fleet_of(static_cast<std::size_t>(state.range(0)));
  const Snapshot snapshot(fleet);
  const Live live = live_of(snapshot);
  const std::vector<Request> requests = requests_of();
  Scratch scratch(snapshot);
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(decide(snapshot, live, requests[next], kNow, scratch));
    next = (next + 1) % requests.size();
  }
  std::uint64_t hash = 0;
  for (const Request& request : requests) {
    const Decision d = decide(snapshot, live, request, kNow, scratch);
    hash = mix(hash, mix(d.chosen.value, static_cast<std::uint64_t>(d.terms.key())));
    for (const std::uint32_t count : d.excluded) hash = mix(hash, count);
  }
  state.SetLabel(std::string(kernel().name) + " answers " + std::to_string(hash));
}
BENCHMARK(decide_one)->Arg(16)->Arg(64)->Arg(1000);

}  // namespace
}  // namespace ace
