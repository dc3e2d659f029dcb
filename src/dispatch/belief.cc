#include "dispatch/belief.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "dispatch/changes.h"
#include "dispatch/dispatch.h"
#include "dispatch/health.h"
#include "dispatch/knees.h"
#include "dispatch/latency_fit.h"
#include "dispatch/loads.h"
#include "dispatch/occupancy.h"
#include "dispatch/predictor.h"
#include "dispatch/residency.h"
#include "dispatch/retry_budget.h"
#include "dispatch/scarcity.h"

namespace ace {
namespace {

/// Averages decay on this grid; between its points columns move by events only.
constexpr Duration kGrid{100'000'000};
constexpr Instant kNever = instant(std::numeric_limits<std::int64_t>::min());

Instant next_on_grid(Instant now, Duration grid) {
  return instant((floor_div(nanos(now), nanos(grid)) + 1) * nanos(grid));
}

}  // namespace

/// The learners, each on its own; this only tells each of them what happened.
struct Belief::State {
  State(const Snapshot& fleet, const Options& wanted)
      : snapshot(fleet),
        options(wanted),
        live(fleet),
        latency(fleet),
        occupancy(fleet, latency, live),
        predictor(fleet),
        knees(fleet, occupancy, latency, wanted.knee_prior_scale, live),
        scarcity(fleet),
        residency(fleet, live),
        healths(fleet, occupancy, live),
        retries(fleet.fleet().policies.retry_budget_ppm, fleet.fleet().policies.retries_min),
        loads(fleet),
        changes(fleet),
        units(fleet.fleet().destinations.size()) {
    for (std::size_t d = 0; d < units.size(); ++d) units[d] = fleet.fleet().destinations[d].units.units;
  }

  void tick(Instant now) {
    occupancy.decay(now, live);
    if (now >= next_period) close_period(now);
    if (const std::int64_t h = hour_of(now); h != hour) {
      hour = h;
      live.price_energy(snapshot, now);
      scarcity.forget();
    }
    next = next_on_grid(now, kGrid);
  }

  void close_period(Instant now) {
    const Duration since = last_period == kNever ? options.scarcity_period : now - last_period;
    last_period = now;
    next_period = next_on_grid(now, options.scarcity_period);
    if (options.learn_scarcity)
      for (const OfferId o : scarcity.close(since, live)) {
        ++live.version[o.value];
        changes.note(Change::What::shadow_price, now, o, SloId{}, changes.price(o), live.shadow_price[o.value]);
        changes.price(o) = live.shadow_price[o.value];
      }
    for (const Knees::Moved& m : knees.close(now, options.window, options.learn_knee, live)) note(now, m);
    if (options.learn_knee && now >= next_fit) {
      if (next_fit != kNever)
        for (const Knees::Moved& m : knees.refit(live)) note(now, m);
      next_fit = next_on_grid(now, options.window);
    }
    residency.price(now, units, live);
    healths.recover(now, live);
    note_health(now);
    loads.close(now, since, occupancy, live);
    live.reserve_short = loads.any_short();
  }

  void note(Instant now, const Knees::Moved& moved) {
    changes.note(Change::What::knee, now, moved.offer, moved.slo, moved.before, moved.after);
  }

  void note_health(Instant now) {
    for (const OfferId o : healths.changed()) {
      const double after =
          live.tripped_until[o.value] != 0 ? std::numeric_limits<double>::infinity() : live.derate[o.value];
      if (changes.health(o) == after) continue;
      changes.note(Change::What::health, now, o, SloId{}, changes.health(o), after);
      changes.health(o) = after;
    }
    healths.forget_changed();
  }

  /// Scarcity hears of every request where it would have gone with congestion left out.
  void demand(const Request& request, const Decision& decision) {
    const OfferId o = decision.cheapest_uncongested;
    if (!o.valid() || !options.learn_scarcity) return;
    const double prompt = static_cast<double>(request.prompt.value);
    const double cached = std::min(static_cast<double>(live.cached[o.value]), prompt);
    const double output = request.predicted.output_mean;
    const auto per_unit = [&](Resource r) { return live.per_unit[static_cast<std::size_t>(r)][o.value]; };
    const Scarcity::Uses uses = {per_unit(Resource::prefill) * (prompt - cached), per_unit(Resource::slots),
                                 per_unit(Resource::kv) * (prompt + output),
                                 per_unit(Resource::tokens) * (prompt - cached + live.meter_cached[o.value] * cached +
                                                               live.meter_output[o.value] * output),
                                 per_unit(Resource::requests)};
    scarcity.offered(o, uses, static_cast<double>(decision.reference_price),
                     occupancy.residence(o, request.predicted.output_mean));
  }

  const Snapshot& snapshot;
  Options options;
  Live live;
  LatencyFit latency;
  Occupancy occupancy;
  Predictor predictor;
  Knees knees;
  Scarcity scarcity;
  Residency residency;
  Healths healths;
  RetryBudget retries;
  Loads loads;
  Changes changes;
  std::vector<std::int64_t> units;  ///< by destination
  Instant next = kNever, next_period = kNever, last_period = kNever, next_fit = kNever;
  std::int64_t hour = std::numeric_limits<std::int64_t>::min();
};

Belief::Belief(const Snapshot& snapshot, const Options& options) : state_(std::make_unique<State>(snapshot, options)) {}
Belief::Belief(const Snapshot& snapshot) : Belief(snapshot, Options{}) {}
Belief::~Belief() = default;
Belief::Belief(Belief&&) noexcept = default;

Live& Belief::live(Instant now) {
  State& s = *state_;
  if (now >= s.next) s.tick(now);
  return s.live;
}

Prediction Belief::predict(ModelId model, TenantId tenant, SloId slo, Tokens max_output) const {
  return state_->predictor.predict(model, tenant, slo, max_output);
}

Claim Belief::dispatched(Instant now, const Request& request, const Decision& decision) {
  State& s = *state_;
  Claim claim;
  claim.offer = decision.chosen;
  claim.requested = request.model;
  claim.tenant = request.tenant;
  claim.slo = request.slo;
  claim.prompt = static_cast<std::int32_t>(request.prompt.value);
  claim.cached = std::min(s.live.cached[decision.chosen.value], claim.prompt);
  claim.output_p90 = request.predicted.output_p90;
  claim.at = now;
  claim.failed_at = request.failed_at;
  s.demand(request, decision);
  s.occupancy.admit(now, claim, s.live);
  s.knees.admitted(claim, s.occupancy.share(claim, s.live), s.live);
  claim.probe = s.healths.attempted(now, claim.offer, s.live);
  s.retries.dispatched(now);
  s.residency.dispatched(now, request.model, decision.chosen);
  s.loads.admitted(claim.offer, static_cast<double>(request.prompt.value) + request.predicted.output_mean);
  return claim;
}

void Belief::first_token(Instant now, Claim& claim, Duration ttft) {
  if (claim.first_token_seen) return;
  state_->latency.first_token(claim, ttft);
  state_->occupancy.first_token(now, claim, state_->live);
  claim.first_token_seen = true;
}

void Belief::completed(Instant now, const Claim& claim, const Observed& seen, bool slo_met) {
  State& s = *state_;
  s.occupancy.release(now, claim, seen.output.value, seen.cached.value, s.live);
  s.occupancy.paced(claim, seen);
  if (s.options.learn_knee && s.snapshot[claim.offer].profile && s.occupancy.replicas(claim.offer) > 0)
    s.latency.completed(claim, seen, s.occupancy.load(claim));
  s.predictor.completed(s.snapshot[claim.offer].model, claim.tenant, claim.slo, seen.output);
  if (s.options.learn_knee) {
    if (s.knees.completed(now, claim, slo_met, s.live)) s.note(now, s.knees.last());
  } else {
    s.knees.left(claim);
  }
  s.healths.succeeded(now, claim, seen, s.live);
  if (!s.healths.changed().empty()) s.note_health(now);
}

void Belief::rejected(Instant now, const Claim& claim, Rejection why, Duration retry_after, RateLimit limit) {
  State& s = *state_;
  s.healths.failed(now, claim, why, retry_after, limit, s.live);
  if (why == Rejection::failed)
    s.occupancy.release(now, claim, 0, 0, s.live);
  else
    s.occupancy.undo(now, claim, s.live);
  s.knees.left(claim);
  s.note_health(now);
}

void Belief::aborted(Instant now, const Claim& claim, const Observed& seen) {
  State& s = *state_;
  s.occupancy.release(now, claim, seen.output.value, seen.cached.value, s.live);
  s.knees.left(claim);
  s.healths.silent(now, claim, s.live);
  s.note_health(now);
}

bool Belief::may_retry(Instant now) { return state_->retries.spend(now); }

void Belief::inherit(Instant now, Belief& before) {
  State& s = *state_;
  State& b = *before.state_;
  const Kin kin(b.snapshot, s.snapshot);
  (void)live(now);
  (void)before.live(now);
  s.predictor.inherit(b.predictor, kin);
  s.latency.inherit(b.latency, kin);
  s.occupancy.inherit_pace(b.occupancy, kin);
  s.knees.inherit(b.knees, kin, b.live, s.live);
  s.healths.inherit(b.healths, kin, s.live);
  s.note_health(now);
}

void Belief::suspect(Instant now, DestinationId destination, double healthy_share) {
  state_->healths.suspect(now, destination, healthy_share, state_->live);
  state_->note_health(now);
}

void Belief::told(Instant now, const Claim& claim, const RateWindows& windows) {
  state_->occupancy.told(now, claim, windows, state_->live);
}

void Belief::scraped(Instant now, DestinationId destination, const EngineLoad& load) {
  state_->occupancy.scraped(now, destination, load, state_->live);
}

void Belief::units(Instant now, DestinationId destination, std::int64_t running_units) {
  State& s = *state_;
  s.occupancy.units(now, destination, running_units, s.live);
  const std::int64_t before = std::exchange(s.units[destination.value], running_units);
  if (before == running_units) return;
  for (const OfferId o : s.occupancy.offers(destination)) {
    ++s.live.version[o.value];
    s.changes.note(Change::What::units, now, o, SloId{}, static_cast<double>(before),
                   static_cast<double>(running_units));
  }
}

void Belief::holds(Instant now, const Holding& holding) {
  State& s = *state_;
  s.residency.holds(now, holding, s.live);
  s.residency.price(now, s.units, s.live);
  s.occupancy.holds(now, holding.destination, s.live);
}

double Belief::contingency(ModelId model) const { return state_->loads.contingency(model); }

double Belief::knee(OfferId offer, SloId slo) const { return state_->live.knee_by_class[slo.value][offer.value]; }

const ServerProfile* Belief::curve(OfferId offer) const {
  return state_->snapshot[offer].profile ? &state_->latency.curve(offer) : nullptr;
}

std::vector<Belief::Change> Belief::take_changes() { return state_->changes.take(); }

}  // namespace ace
