/// What an operator sees of the desk.
#include <algorithm>
#include <cmath>
#include <set>

#include "gateway/desk.h"
#include "gateway/era.h"

namespace ace::gateway {

std::vector<DestinationView> Desk::destinations(Instant at) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  Era& era = *eras_.back();
  const Fleet& fleet = era.world->fleet;
  const Live& live = era.belief.live(now);
  std::vector<DestinationView> out(fleet.destinations.size());
  for (std::size_t d = 0; d < out.size(); ++d) {
    const Destination& destination = fleet.destinations[d];
    out[d].name = destination.name;
    out[d].tier = name_of(destination.tier);
    out[d].provider = fleet.providers[destination.provider.value].name;
    out[d].callable = fleet.providers[destination.provider.value].api != Api::none;
  }
  for (std::size_t o = 0; o < era.world->snapshot.offers().size(); ++o) {
    const Offer& offer = era.world->snapshot.offers()[o];
    DestinationView& view = out[offer.destination.value];
    view.models.push_back(fleet.models[offer.model.value].name);
    for (const auto& use : live.use) view.utilization = std::max(view.utilization, use[o]);
    view.knee = std::max(view.knee, live.knee[o]);
    view.price_factor = std::max(view.price_factor, live.derate[o]);
    view.fail_probability = std::max(view.fail_probability, live.fail_probability[o]);
    if (live.throttled_until[o] > nanos(now)) view.throttled_until = instant(live.throttled_until[o]);
    if (live.tripped_until[o] > nanos(now)) view.tripped_until = instant(live.tripped_until[o]);
  }
  for (const auto& [id, flight] : flights_) {
    if (!flight->claimed) continue;
    const World& world = *flight->era->world;
    const std::string& name = world.fleet.destinations[world.snapshot[flight->offer].destination.value].name;
    for (DestinationView& view : out) view.in_flight += view.name == name ? 1 : 0;
  }
  return out;
}

Result<CurveView> Desk::curve(Instant at, std::string_view name, double prompt, double output) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  Era& era = *eras_.back();
  const Fleet& fleet = era.world->fleet;
  const auto model = fleet.model(name);
  if (!model) return Error(Errc::not_found, "the fleet has no model of that name");
  Request request;
  request.model = *model;
  request.slo = fleet.default_slo;
  request.prompt = Tokens{static_cast<std::int64_t>(prompt)};
  request.predicted = {output, output};
  const SupplyCurve curve = supply_curve(era.world->snapshot, era.belief.live(now), request, now);
  CurveView out;
  out.model = fleet.models[model->value].name;
  out.at = now;
  out.prompt_tokens = prompt;
  out.output_tokens = output;
  const auto bounded = [](double v) { return std::isfinite(v) ? std::optional<double>(v) : std::nullopt; };
  for (const SupplyStep& step : curve.steps)
    out.steps.push_back({fleet.destinations[step.destination.value].name, fleet.models[step.model.value].name,
                         std::string(ace::name_of(step.tier)), step.beyond_knee, step.usd_per_mtok,
                         step.input_usd_per_mtok, step.output_usd_per_mtok, bounded(step.tokens_per_s),
                         bounded(step.cumulative_tokens_per_s)});
  for (const SupplyCurve::Out& excluded : curve.excluded)
    out.excluded.emplace_back(fleet.destinations[era.world->snapshot[excluded.offer].destination.value].name,
                              ace::name_of(excluded.why));
  return out;
}

std::vector<DecisionView> Desk::decisions(std::size_t most) const {
  const std::scoped_lock lock(mutex_);
  std::vector<DecisionView> out;
  for (auto it = recent_.rbegin(); it != recent_.rend() && out.size() < most; ++it) out.push_back(*it);
  return out;
}

void Desk::remember(Instant now, const Flight& f, const event::Completed& c, const Receipt& receipt) {
  const Fleet& fleet = f.era->world->fleet;
  DecisionView view;
  view.request_id = to_string(f.id);
  view.at = now;
  view.tenant = f.tenant;
  view.model = fleet.models[f.admitted.requested.value].name;
  view.verdict = ace::name_of(f.verdict);
  if (c.offer.valid()) view.destination = fleet.destinations[f.era->world->snapshot[c.offer].destination.value].name;
  view.acted = f.acts;
  view.attempts = receipt.attempts;
  view.served = c.outcome == event::Outcome::served;
  view.slo_met = c.slo_met;
  view.cost = receipt.cost;
  view.baseline = receipt.baseline;
  recent_.push_back(std::move(view));
  if (recent_.size() > kRecent) recent_.pop_front();
}

}  // namespace ace::gateway
