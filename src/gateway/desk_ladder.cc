/// Another fleet, another mode: what changes while requests are under way.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gateway/desk.h"
#include "gateway/era.h"

namespace ace::gateway {
namespace {

/// The thing of this name in the other list; none if there is no such.
template <class Id, class Things>
Id named_alike(Id id, const Things& from, const Things& to) {
  if (!id.valid()) return id;
  for (std::uint32_t i = 0; i < to.size(); ++i)
    if (to[i].name == from[id.value].name) return Id{i};
  return {};
}

OfferId offer_alike(OfferId id, const World& from, const World& to) {
  const Offer& offer = from.snapshot[id];
  const DestinationId destination = named_alike(offer.destination, from.fleet.destinations, to.fleet.destinations);
  const ModelId model = named_alike(offer.model, from.fleet.models, to.fleet.models);
  if (!destination.valid() || !model.valid()) return {};
  for (const OfferId other : to.snapshot.candidates(model))
    if (to.snapshot[other].destination == destination && to.snapshot[other].model == model) return other;
  return {};
}

}  // namespace

void Desk::change(Instant at, std::shared_ptr<const World> world) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  end_accrual(now);
  const auto era = std::make_shared<Era>(world, options_.belief);
  era->prefixes = prefixes_.of(*world);
  era->belief.inherit(now, eras_.back()->belief);
  era->anew = true;  // under this number a reader starts from its priors, and is told what differs from them
  eras_.push_back(era);
  for (const auto& [id, flight] : flights_)
    if (flight->claimed) claim_in(era, *flight, now);
  std::erase_if(eras_, [&](const auto& e) { return e != era && e->flights == 0; });
  if (!spine_down_ && !telling_of(*era, acts_alone(), now)) lose();
  trial_.restart(now);
  world_.store(std::move(world));
  begin_accrual(now);
}

void Desk::claim_in(const std::shared_ptr<Era>& era, Flight& f, Instant now) {
  const World& from = *f.era->world;
  const World& to = *era->world;
  Decision decision;
  decision.verdict = Verdict::dispatched;
  decision.chosen = offer_alike(f.offer, from, to);
  const event::Admitted& a = f.admitted;
  Request request;
  request.model = named_alike(a.requested, from.fleet.models, to.fleet.models);
  if (!decision.chosen.valid() || !request.model.valid()) return;  // its place is not there any more
  request.tenant = named_alike(a.declared_tenant, from.fleet.tenants, to.fleet.tenants);
  request.slo = named_alike(a.slo, from.fleet.slo_classes, to.fleet.slo_classes);
  if (!request.slo.valid()) request.slo = to.fleet.default_slo;
  request.prompt = a.prompt;
  request.max_output = a.max_output;
  request.needs = a.needs;
  era->belief.live(now).cached[decision.chosen.value] = 0;  // as far as is known here
  request.predicted = era->belief.predict(request.model, request.tenant, request.slo, request.max_output);
  Claim claim = era->belief.dispatched(now, request, decision);
  if (f.first_token != Instant{}) era->belief.first_token(now, claim, f.first_token - f.sent);
  f.later.push_back({era, claim});
}

Result<void> Desk::set_mode(Instant at, const Wanted& wanted, bool forced) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  const bool acts = wanted.mode == Mode::canary || wanted.mode == Mode::act;
  const bool up = wanted.mode > options_.mode || (wanted.mode == Mode::canary && options_.mode == Mode::canary &&
                                                  wanted.canary_ppm > options_.canary_ppm);
  if (acts && up && !forced && !trial_.earned())
    return Error(Errc::check_failed, fmt::format("mode {} asks for {} clean windows in a row before it; there are {}{}",
                                                 name_of(wanted.mode), options_.trial.clean_windows, trial_.clean(),
                                                 demoted_.empty() ? "" : " (" + demoted_ + ")"));
  const bool ends_alike = options_.mode == Mode::canary && options_.alike && acts && !wanted.alike;
  if (ends_alike && !forced) {
    const auto difference = trial_.difference();
    if (!difference || std::abs(difference->mean) > options_.trial.aa_difference_max)
      return Error(Errc::check_failed,
                   difference ? fmt::format("two arms that are served alike differ by {:.2f}%, more than {:.2f}%: the "
                                            "split or the measure is off",
                                            100.0 * difference->mean, 100.0 * options_.trial.aa_difference_max)
                              : std::string("two arms that are served alike were not compared yet"));
  }
  act_as(wanted.mode, now);
  options_.canary_ppm = wanted.mode == Mode::canary ? wanted.canary_ppm : 0;
  options_.alike = wanted.mode == Mode::canary && wanted.alike;
  demoted_.clear();
  trial_.restart(now);
  return {};
}

/// Standing cost may be of another stream from now on.
void Desk::act_as(Mode mode, Instant now) {
  const bool other_stream = acts_alone() != (mode == Mode::act);
  if (other_stream) end_accrual(now);
  options_.mode = mode;
  if (other_stream) begin_accrual(now);
}

Desk::Standing Desk::standing() const {
  const std::scoped_lock lock(mutex_);
  Standing standing;
  standing.mode = {options_.mode, options_.canary_ppm, options_.alike};
  standing.clean = trial_.clean();
  standing.clean_needed = options_.trial.clean_windows;
  standing.difference = trial_.difference();
  standing.total = trial_.total();
  standing.windows = trial_.windows();
  standing.demoted = demoted_;
  return standing;
}

/// Takes an ended request into account, and steps down where a gate is breached.
void Desk::judge(Instant now, const Flight& f, const event::Completed& c, const Receipt& receipt) {
  if (c.outcome == event::Outcome::client_abort || c.outcome == event::Outcome::cache_hit) return;
  const bool served = c.outcome == event::Outcome::served;
  // Nobody could have served it: not what is judged here.
  const bool own_fault =
      !served && (c.verdict == Verdict::no_compliant_destination || c.verdict == Verdict::no_capable_destination ||
                  (!f.attempts.empty() && f.attempts.back().rejection == Rejection::request));
  if (own_fault) return;
  TrialRequest r;
  r.acts = f.arm;
  r.served = served;
  r.slo_met = receipt.slo_met;
  r.slo = f.admitted.slo;
  r.priced = receipt.priced;
  r.cost = receipt.cost;
  r.baseline = receipt.baseline;
  r.predicted = f.predicted;
  r.predicted_time = f.predicted_time;
  r.realised_time = now - f.sent;
  const OfferId chosen = f.decided.decision.chosen;
  if (served && chosen.valid() && chosen != c.offer)
    if (const Result<Usd> would = f.era->world->snapshot.price(chosen, c.usage, f.sent)) r.would = *would;
  const std::optional<TrialWindow> ended = trial_.add(now, f.era->world->fleet, r);
  if (!ended || ended->breach.empty() || (options_.mode != Mode::canary && options_.mode != Mode::act)) return;
  demoted_ = fmt::format("stepped down from {} to shadow: {}", name_of(options_.mode), ended->breach);
  ++demotions_;
  act_as(Mode::shadow, now);
  options_.canary_ppm = 0;
  options_.alike = false;
  trial_.restart(now);
}

}  // namespace ace::gateway
