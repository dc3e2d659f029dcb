#include "dispatch/belief.h"

#include <limits>

#include "dispatch/dispatch.h"
#include "dispatch/occupancy.h"
#include "dispatch/predictor.h"

namespace ace {
namespace {

/// Averages decay on this grid; between its points columns move by events only.
constexpr Duration kGrid{100'000'000};

}  // namespace

struct Belief::State {
  State(const Snapshot& fleet, const Options& wanted)
      : snapshot(fleet), options(wanted), live(fleet), occupancy(fleet, live), predictor(fleet) {}

  void tick(Instant now) {
    occupancy.decay(now, live);
    if (const std::int64_t h = hour_of(now); h != hour) {
      hour = h;
      live.price_energy(snapshot, now);
    }
    next = instant((floor_div(nanos(now), nanos(kGrid)) + 1) * nanos(kGrid));
  }

  const Snapshot& snapshot;
  Options options;
  Live live;
  Occupancy occupancy;
  Predictor predictor;
  Instant next = instant(std::numeric_limits<std::int64_t>::min());
  std::int64_t hour = std::numeric_limits<std::int64_t>::min();
  std::vector<Change> changes;
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
  claim.cached = s.live.cached[decision.chosen.value];
  claim.output_p90 = request.predicted.output_p90;
  claim.at = now;
  claim.failed_at = request.failed_at;
  s.occupancy.admit(now, claim, s.live);
  return claim;
}

void Belief::first_token(Instant, Claim& claim, Duration) { claim.first_token_seen = true; }

void Belief::completed(Instant now, const Claim& claim, const Observed& seen, bool) {
  State& s = *state_;
  s.occupancy.release(now, claim, seen.output.value, seen.cached.value, s.live);
  s.predictor.completed(s.snapshot[claim.offer].model, claim.tenant, claim.slo, seen.output);
}

void Belief::rejected(Instant now, const Claim& claim, Rejection, Duration, RateLimit) {
  state_->occupancy.release(now, claim, 0, 0, state_->live);
}

void Belief::aborted(Instant now, const Claim& claim, const Observed& seen) {
  state_->occupancy.release(now, claim, seen.output.value, seen.cached.value, state_->live);
}

bool Belief::may_retry(Instant) { return true; }

void Belief::units(Instant now, DestinationId destination, std::int64_t running_units) {
  state_->occupancy.units(now, destination, running_units, state_->live);
}

double Belief::contingency(ModelId) const { return std::numeric_limits<double>::infinity(); }

double Belief::knee(OfferId offer, SloId slo) const { return state_->live.knee_by_class[slo.value][offer.value]; }

std::vector<Belief::Change> Belief::take_changes() { return std::exchange(state_->changes, {}); }

}  // namespace ace
