#pragma once
/// Small fleets by hand for the tests of the learners. Header only, tests only.
#include <memory>
#include <string>
#include <vector>

#include "dispatch/dispatch.h"

namespace ace::learn {

inline Instant at(double seconds) { return instant(1'700'000'000'000'000'000) + from_seconds(seconds); }

/// A replica without limits but its slots: prefill, KV and time cost nearly nothing.
inline ServerProfile slots_only(std::int64_t slots) {
  ServerProfile p;
  p.prefill_tokens_per_s = 1e12;
  p.step_base_s = 1e-6;
  p.batch_max = slots;
  p.kv_tokens_max = std::int64_t{1} << 50;
  p.measured = true;
  return p;
}

inline PriceRow price_row(const std::string& key, std::int64_t input_nano, std::int64_t output_nano) {
  PriceRow row;
  row.key = key;
  ContextTier tier;
  for (Rates& rates : tier.by_service) {
    rates.set(Unit::input, {input_nano});
    rates.set(Unit::cached_input, {input_nano / 4});
    rates.set(Unit::output, {output_nano});
  }
  row.tiers.push_back(tier);
  return row;
}

/// Models m0, m1...; class "chat" (no limits unless the test sets them); no destination yet.
inline std::unique_ptr<Fleet> models(std::size_t count) {
  auto fleet = std::make_unique<Fleet>();
  fleet->providers.emplace_back().name = "own";
  for (std::size_t i = 0; i < count; ++i) {
    Model m;
    m.name = "m" + std::to_string(i);
    m.context_max = Tokens{1 << 20};
    fleet->models.push_back(m);
  }
  fleet->slo_classes.emplace_back().name = "chat";
  fleet->default_slo = SloId{0};
  return fleet;
}

inline Destination& add(Fleet& fleet, const std::string& name, Tier tier) {
  Destination& d = fleet.destinations.emplace_back();
  d.name = name;
  d.tier = tier;
  d.provider = ProviderId{0};
  return d;
}

inline Serving& serve(Destination& d, std::uint32_t model) {
  Serving& serving = d.serving.emplace_back();
  serving.model = ModelId{model};
  return serving;
}

/// A pool of `units` nodes at $18/h, each with one H100 (80 GiB), for two models that do not fit it together: m0 has
/// 60 GB of weights and is at home, m1 has 40 GB. At 2 GB/s that is 30 s and 20 s. Class batch has a deadline of an
/// hour.
inline void add_swapping_pool(Fleet& fleet, std::int64_t units) {
  Architecture shape;
  shape.kv_bytes_per_token = 100'000.0;
  shape.layers = 40.0;
  shape.hidden = 5'000.0;
  shape.parameters = shape.parameters_active = 30e9;
  fleet.models[0].architecture = shape;
  shape.parameters = shape.parameters_active = 20e9;
  fleet.models[1].architecture = shape;
  SloClass& batch = fleet.slo_classes.emplace_back();
  batch.name = "batch";
  batch.deadline = kHour;
  Destination& d = add(fleet, "pool", Tier::owned);
  d.accelerator = "h100-80g";
  d.gpus_per_unit = 1;
  d.units.units = units;
  d.amortization_hourly = Usd{18'000'000'000};
  serve(d, 0);
  serve(d, 1);
}

/// A pool of `units` one-replica nodes that holds these models together.
inline Destination& add_pool(Fleet& fleet, const std::string& name, const ServerProfile& profile,
                             std::vector<std::uint32_t> served = {0}, std::int64_t units = 1) {
  Destination& d = add(fleet, name, Tier::owned);
  d.gpus_per_unit = 1;
  d.units.units = units;
  for (const std::uint32_t m : served) serve(d, m).measured = profile;
  return d;
}

/// An API for one model at this price per million output tokens, without a quota; prompts are free.
inline Destination& add_api(Fleet& fleet, const std::string& name, std::int64_t output_nano, std::uint32_t model = 0) {
  const PriceId price{static_cast<std::uint32_t>(fleet.prices.rows.size())};
  fleet.prices.rows.push_back(price_row(name, 0, output_nano));
  Destination& d = add(fleet, name, Tier::payg);
  d.unlimited = true;
  serve(d, model).price = price;
  const DestinationId id{static_cast<std::uint32_t>(fleet.destinations.size() - 1)};
  if (!fleet.models[model].baseline) fleet.models[model].baseline = Baseline{id, price, "2026-11-01", true};
  return d;
}

inline OfferId offer_of(const Snapshot& snapshot, const std::string& destination, std::uint32_t model = 0) {
  for (std::uint32_t i = 0; i < snapshot.offers().size(); ++i) {
    const Offer& o = snapshot.offers()[i];
    if (snapshot.fleet().destinations[o.destination.value].name == destination && o.model.value == model)
      return OfferId{i};
  }
  return {};
}

inline Request request(std::int64_t prompt, double output, std::uint32_t model = 0) {
  Request r;
  r.model = ModelId{model};
  r.slo = SloId{0};
  r.prompt = Tokens{prompt};
  r.predicted = {output, output};
  return r;
}

inline Claim send(Belief& belief, Instant now, OfferId offer, const Request& request) {
  Decision decision;
  decision.verdict = Verdict::dispatched;
  decision.chosen = offer;
  belief.live(now);
  return belief.dispatched(now, request, decision);
}

inline Observed answer(std::int64_t output, Duration tpot = Duration{10'000'000}) {
  return {Tokens{output}, Tokens{0}, Duration{100'000'000}, tpot};
}

}  // namespace ace::learn
