#pragma once
/// A small world for the tests of this room: prices one can multiply in one's head, and requests built from a line.
///
/// USD per million tokens:   input  cached  write  output      batch: half of each at `api`
///   large at api (default)     10       1   12.5      40
///   large at alt                8     0.8     10      32
///   small at api (default)      1     0.1   1.25       4
///   small at ptu (fee)        0.5     0.5    0.5       2
///   energy at gpu             0.1       0             1       at 1 USD/kWh
///   bare has no pay-as-you-go price; large at ptu, and rent, cost nothing at the margin
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "ledger/ledger.h"

namespace ace::ledger_testing {

inline Usd micro(std::int64_t millionths) { return {millionths * 1000}; }

inline constexpr ModelId kBare{0}, kLarge{1}, kSmall{2};
inline constexpr DestinationId kAlt{0}, kApi{1}, kGpu{2}, kPtu{3}, kRent{4};
inline constexpr SloId kBatch{0}, kChat{1};
inline constexpr ComplianceId kAltOnly{0}, kNobody{1};

inline PriceRow price_row(std::string key, std::int64_t input, std::int64_t cached, std::int64_t write,
                          std::int64_t output, std::int64_t batch_divisor = 1) {
  PriceRow row;
  row.key = std::move(key);
  row.tiers.push_back({Tokens{0}, {}});
  for (std::size_t service = 0; service < kServiceTiers; ++service) {
    const std::int64_t divisor = service == static_cast<std::size_t>(ServiceTier::batch) ? batch_divisor : 1;
    Rates& rates = row.tiers.front().by_service[service];
    rates.set(Unit::input, {input / divisor});
    rates.set(Unit::cached_input, {cached / divisor});
    rates.set(Unit::cache_write, {write / divisor});
    rates.set(Unit::output, {output / divisor});
    rates.set(Unit::reasoning, {output / divisor});
  }
  return row;
}

inline Serving serves(ModelId model, std::optional<PriceId> price = {}) {
  Serving serving;
  serving.model = model;
  serving.price = price;
  return serving;
}

inline Fleet small_fleet() {
  Fleet f;
  constexpr std::int64_t usd = 1'000'000'000;
  f.prices.rows = {price_row("alt/large", 8 * usd, usd * 8 / 10, 10 * usd, 32 * usd),
                   price_row("api/large", 10 * usd, usd, usd * 125 / 10, 40 * usd, 2),
                   price_row("api/small", usd, usd / 10, usd * 125 / 100, 4 * usd, 2),
                   price_row("fee/small", usd / 2, usd / 2, usd / 2, 2 * usd)};
  f.providers.resize(2);
  f.providers[0].name = "other";
  f.providers[1].name = "own";
  f.models.resize(3);
  const char* names[] = {"bare", "large", "small"};
  for (std::size_t i = 0; i < 3; ++i) {
    f.models[i].name = names[i];
    f.models[i].context_max = Tokens{1'000'000};
    f.models[i].capabilities = kText;
  }
  f.models[1].baseline = Baseline{kApi, PriceId{1}, "2026-11-01", true};
  f.models[2].baseline = Baseline{kApi, PriceId{2}, "2026-11-01", true};
  f.models[1].equivalents = {{kBare, 1.0, 1'000'000, "docs/q.md"}, {kSmall, 0.97, 1'250'000, "docs/q.md"}};
  f.slo_classes.resize(2);
  f.slo_classes[0].name = "batch";
  f.slo_classes[0].deadline = kDay;
  f.slo_classes[1].name = "chat";
  f.slo_classes[1].ttft = kSecond;
  f.default_slo = kChat;
  f.compliance.resize(2);
  f.compliance[0].name = "alt-only";
  f.compliance[0].providers = {"other", "own"};
  f.compliance[1].name = "nobody";
  f.compliance[1].providers = {"own"};
  f.destinations.resize(5);
  const auto name = [&](DestinationId id, const char* text, Tier tier, std::uint32_t provider) -> Destination& {
    Destination& d = f.destinations[id.value];
    d.name = text;
    d.tier = tier;
    d.provider = ProviderId{provider};
    d.gpus_per_unit = tier == Tier::payg || tier == Tier::reserved ? 0 : 1;
    return d;
  };
  f.providers.push_back({});
  f.providers[2].name = "vendor";
  name(kAlt, "alt", Tier::payg, 0).serving = {serves(kLarge, PriceId{0})};
  name(kApi, "api", Tier::payg, 2).serving = {serves(kLarge, PriceId{1}), serves(kSmall, PriceId{2})};
  // 3,600 W above idle: 0.36 J per prompt token at 10,000 tokens/s, 3.6 J per output token at 1 ms each.
  ServerProfile profile;
  profile.prefill_tokens_per_s = 10'000;
  profile.step_per_sequence_s = 0.001;
  profile.kv_tokens_max = 10'000'000;
  profile.watts_busy = 3600;
  profile.measured = true;
  Destination& gpu = name(kGpu, "gpu", Tier::owned, 1);
  gpu.serving = {serves(kBare), serves(kLarge), serves(kSmall)};
  for (Serving& serving : gpu.serving) serving.measured = profile;
  Destination& ptu = name(kPtu, "ptu", Tier::reserved, 2);
  ptu.serving = {serves(kLarge), serves(kSmall, PriceId{3})};
  for (Serving& serving : ptu.serving) serving.ptu = PtuTerms{100, 2500, 4.0, 0.0, 15, 5, false};
  Destination& rent = name(kRent, "rent", Tier::on_demand, 1);
  rent.serving = {serves(kLarge)};
  rent.serving.front().measured = profile;
  f.electricity.flat = {1'000'000'000};
  return f;
}

/// The fleet, compiled.
struct World {
  explicit World(Fleet f = small_fleet())
      : fleet(std::make_unique<Fleet>(std::move(f))), snapshot(*fleet), settler(snapshot) {}
  [[nodiscard]] OfferId offer(DestinationId destination, ModelId model) const {
    for (std::uint32_t i = 0; i < snapshot.offers().size(); ++i)
      if (snapshot.offers()[i].destination == destination && snapshot.offers()[i].model == model) return {i};
    return {};
  }
  std::unique_ptr<Fleet> fleet;
  Snapshot snapshot;
  Settler settler;
};

inline Usage text(std::int64_t prompt, std::int64_t cached, std::int64_t output) {
  return {Tokens{prompt - cached}, Tokens{cached}, Tokens{output}};
}

/// One request as its events; 1,000 prompt and 100 output tokens at the default API unless told otherwise.
struct Events {
  event::Admitted admitted;
  event::Decided decided;
  std::vector<event::Attempted> attempts;
  event::Completed completed;

  Events(const World& w, DestinationId where, ModelId requested = kLarge, Usage usage = text(1000, 0, 100))
      : Events(w, where, requested, requested, usage) {}
  Events(const World& w, DestinationId where, ModelId requested, ModelId used, const Usage& usage) : world(&w) {
    admitted.requested = requested;
    admitted.slo = kChat;
    admitted.prompt = usage.prompt();
    const OfferId offer = w.offer(where, used);
    decided.decision.verdict = Verdict::dispatched;
    decided.decision.chosen = offer;
    decided.cheapest_payg = w.offer(used == kLarge ? kAlt : kApi, used);
    attempt(where, used, usage, true);
    completed.at = instant(nanos(kSecond));
    completed.offer = offer;
    completed.usage = usage;
    completed.output_requested = usage.completion();
    completed.h1 = Tokens{usage[Unit::cached_input]};
    completed.slo_met = true;
  }
  /// A try before the answer, billed or not.
  Events& failed(DestinationId where, ModelId model, const Usage& usage) {
    attempt(where, model, usage, false);
    std::rotate(attempts.begin(), attempts.end() - 1, attempts.end());
    return *this;
  }
  Events& at(std::int64_t hour, std::int64_t second = 0) {
    admitted.at = instant(hour * nanos(kHour) + second * nanos(kSecond));
    completed.at = admitted.at + kSecond;
    for (event::Attempted& a : attempts) a.energy_hour = admitted.at;
    return *this;
  }
  Events& refused() {
    std::erase_if(attempts, [](const event::Attempted& a) { return a.answered; });
    completed.outcome = event::Outcome::not_served;
    completed.verdict = Verdict::no_capacity;
    completed.offer = {};
    completed.usage = {};
    completed.output_requested = Tokens{0};
    completed.h1 = Tokens{0};
    completed.slo_met = false;
    return *this;
  }
  Events& hit(Usd lookup, bool exact = true) {
    std::erase_if(attempts, [](const event::Attempted& a) { return a.answered; });
    completed.outcome = event::Outcome::cache_hit;
    completed.offer = {};
    completed.lookup_cost = lookup;
    completed.exact_match = exact;
    return *this;
  }
  template <class Change>
  Events& with(Change change) {
    change(*this);
    return *this;
  }
  [[nodiscard]] Settled settled() const { return world->settler.settle(admitted, decided, attempts, completed); }

 private:
  void attempt(DestinationId where, ModelId model, const Usage& usage, bool answered) {
    event::Attempted a;
    a.offer = world->offer(where, model);
    a.answered = answered;
    a.billed = usage;
    attempts.push_back(a);
  }
  const World* world;
};

/// Any request the small world allows: every outcome, every tier, cached or not, in a few cells.
inline Events any_events(const World& w, Rng& rng) {
  const std::int64_t prompt = rng.between(1, 3000), cached = rng.chance(0.4) ? rng.between(0, prompt) : 0;
  const Usage usage = text(prompt, cached, rng.between(0, 800));
  ModelId requested = rng.chance(0.7) ? kLarge : kSmall, used = requested;
  if (requested == kLarge && rng.chance(0.3)) used = rng.chance(0.7) ? kSmall : kBare;
  std::vector<DestinationId> places;
  for (std::uint32_t d = 0; d < 5; ++d)
    if (w.offer({d}, used).valid()) places.push_back({d});
  Events e(w, places[rng.below(places.size())], requested, used, usage);
  e.at(rng.between(0, 30), rng.between(0, 3599));
  e.admitted.tenant = static_cast<std::uint32_t>(rng.below(3));
  e.admitted.team = static_cast<std::uint32_t>(rng.below(2));
  e.admitted.slo = rng.chance(0.2) ? kBatch : kChat;
  e.admitted.id = {rng.next(), rng.next()};
  if (rng.chance(0.3)) e.admitted.h0 = Tokens{rng.between(0, prompt)};
  if (rng.chance(0.1)) e.admitted.compliance = rng.chance(0.5) ? kAltOnly : kNobody;
  if (rng.chance(0.2)) e.failed(kApi, kLarge, text(rng.between(0, 5000), 0, 0));
  if (rng.chance(0.1)) e.decided.cheapest_payg = {};
  e.completed.slo_met = rng.chance(0.97);
  e.completed.in_gap = rng.chance(0.02);
  if (rng.chance(0.05))
    e.refused();
  else if (used == requested && rng.chance(0.1))
    e.hit(micro(rng.between(0, 20)), rng.chance(0.5));
  else if (rng.chance(0.05))
    e.completed.outcome = event::Outcome::client_abort;
  else if (rng.chance(0.05))
    e.completed.usage.set(Unit::audio_input, 10);  // nobody prices audio here
  if (rng.chance(0.3)) e.completed.observed_cost_nano = rng.between(0, 1'000'000);
  return e;
}
inline Settled any_request(const World& w, Rng& rng) { return any_events(w, rng).settled(); }

inline const std::vector<std::string>& names() {
  static const std::vector<std::string> table = {"beta", "acme", "corp"};
  return table;
}

template <class Requests>
Statement closed(const World& w, const Requests& requests, const Ledger::Options& options = {}) {
  Ledger ledger(w.snapshot, options);
  for (const Settled& request : requests) ledger.add(request);
  return ledger.close(names());
}

inline void expect_equal(const Statement& a, const Statement& b) {
  EXPECT_EQ(a.requests, b.requests);
  EXPECT_EQ(a.served, b.served);
  EXPECT_EQ(a.slo_met, b.slo_met);
  EXPECT_EQ(a.goodput, b.goodput);
  EXPECT_EQ(a.from, b.from);
  EXPECT_EQ(a.to, b.to);
  EXPECT_EQ(a.c4, b.c4);
  EXPECT_EQ(a.denominator, b.denominator);
  EXPECT_EQ(a.claimed, b.claimed);
  EXPECT_EQ(a.counted, b.counted);
  EXPECT_EQ(a.disallowed_by_reason, b.disallowed_by_reason);
  EXPECT_EQ(a.requests_by_reason, b.requests_by_reason);
  EXPECT_EQ(a.excluded_c0, b.excluded_c0);
  EXPECT_EQ(a.shapley, b.shapley);
  EXPECT_EQ(a.shapley_low, b.shapley_low);
  EXPECT_EQ(a.fixed_lines, b.fixed_lines);
  EXPECT_EQ(a.other, b.other);
  EXPECT_EQ(a.cheapest, b.cheapest);
  EXPECT_EQ(a.cells, b.cells);
  EXPECT_EQ(a.usage, b.usage);
  EXPECT_EQ(a.clearing, b.clearing);
  EXPECT_EQ(a.adjustments, b.adjustments);
  EXPECT_EQ(a.peak_tpm_all_payg, b.peak_tpm_all_payg);
  EXPECT_EQ(a.gpu_time, b.gpu_time);
  EXPECT_EQ(a.assumed_baseline, b.assumed_baseline);
}

}  // namespace ace::ledger_testing
