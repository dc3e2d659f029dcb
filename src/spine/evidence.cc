#include "spine/evidence.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace ace::event {
namespace {

using What = Belief::Change::What;

constexpr auto kTokensAt = static_cast<std::size_t>(Resource::tokens);
constexpr auto kRequestsAt = static_cast<std::size_t>(Resource::requests);

/// The column that a change is of; null if it is of none that lives beside a decision's own.
double* place_of(const Belief::Change& change, Live& live) {
  const std::size_t o = change.offer.value;
  switch (change.what) {
    case What::knee:
      return change.slo.valid() ? &live.knee_by_class[change.slo.value][o] : &live.knee[o];
    case What::wait_scale:
      return change.slo.valid() ? &live.wait_scale[change.slo.value][o] : nullptr;
    case What::fail_probability:
      return &live.fail_probability[o];
    case What::token_share:
      return &live.per_unit[kTokensAt][o];
    case What::request_share:
      return &live.per_unit[kRequestsAt][o];
    case What::meter_output:
      return &live.meter_output[o];
    case What::meter_cached:
      return &live.meter_cached[o];
    case What::warmth:
      return &live.warmth[o];
    case What::health:
    case What::shadow_price:
    case What::price:
    case What::units:
      return nullptr;
  }
  return nullptr;
}

double per_token(UsdPerMtok price) { return static_cast<double>(price.nano) * 1e-6; }
UsdPerMtok per_million(double price) { return {static_cast<std::int64_t>(price * 1e6 + (price < 0.0 ? -0.5 : 0.5))}; }

double* price_of(Unit unit, Live& live, std::size_t o) {
  if (unit == Unit::input) return &live.price_input[o];
  if (unit == Unit::cached_input) return &live.price_cached[o];
  return unit == Unit::output ? &live.price_output[o] : nullptr;
}

void set_health(const HealthChanged& e, Live& live) {
  const std::size_t o = e.offer.value;
  const std::int64_t until = e.until == Instant{} ? std::numeric_limits<std::int64_t>::max() : nanos(e.until);
  live.derate[o] = e.derate;
  switch (e.state) {
    case HealthChanged::State::healthy:
    case HealthChanged::State::derated:
      live.throttled_until[o] = live.tripped_until[o] = 0;
      return;
    case HealthChanged::State::throttled:
      live.throttled_until[o] = until;
      return;
    case HealthChanged::State::tripped:
    case HealthChanged::State::unreachable:
      live.tripped_until[o] = until;
      return;
  }
}

/// Says what brings a reader's columns of one offer to where they are.
class Telling {
 public:
  Telling(const Snapshot& fleet, OfferId offer, Instant now, Live& live, Live& told,
          const std::function<void(Event)>& say)
      : fleet_(fleet), offer_(offer), now_(now), live_(live), told_(told), say_(say) {}

  void all() {
    change(What::knee, SloId{});
    for (std::uint32_t s = 0; s < live_.knee_by_class.size(); ++s) {
      change(What::knee, SloId{s});
      change(What::wait_scale, SloId{s});
    }
    for (const What what : {What::fail_probability, What::token_share, What::request_share, What::meter_output,
                            What::meter_cached, What::warmth})
      change(what, SloId{});
    for (const Unit unit : {Unit::input, Unit::cached_input, Unit::output}) price(unit);
    health();
  }

 private:
  void tell(Event event) {
    apply(fleet_, event, told_);
    say_(std::move(event));
  }
  void change(What what, SloId slo) {
    Belief::Change change{what, now_, offer_, slo};
    change.before = *place_of(change, told_);
    change.after = *place_of(change, live_);
    if (change.before != change.after) tell(Changed{change});
  }
  void price(Unit unit) {
    const double before = *price_of(unit, told_, offer_.value), after = *price_of(unit, live_, offer_.value);
    if (before != after) tell(PriceChanged{now_, offer_, unit, per_million(before), per_million(after)});
  }
  void health() {
    const std::size_t o = offer_.value;
    const auto ahead = [&](std::int64_t until) { return until > nanos(now_) ? until : 0; };
    const std::int64_t throttled = ahead(live_.throttled_until[o]), tripped = ahead(live_.tripped_until[o]);
    const double derate = live_.derate[o];
    if (std::tuple(ahead(told_.throttled_until[o]), ahead(told_.tripped_until[o]), told_.derate[o]) ==
        std::tuple(throttled, tripped, derate))
      return;
    using State = HealthChanged::State;
    if (throttled == 0 && tripped == 0) {
      tell(HealthChanged{derate > 1.0 ? State::derated : State::healthy, now_, offer_, Instant{}, derate});
      return;
    }
    // One event says one state. What only comes on top of what was said needs no word that the rest is over.
    if ((throttled == 0 && ahead(told_.throttled_until[o]) != 0) ||
        (tripped == 0 && ahead(told_.tripped_until[o]) != 0))
      tell(HealthChanged{derate > 1.0 ? State::derated : State::healthy, now_, offer_, Instant{}, derate});
    if (throttled != ahead(told_.throttled_until[o]) || (tripped == 0 && told_.derate[o] != derate))
      tell(HealthChanged{State::throttled, now_, offer_, instant(throttled), derate});
    if (tripped != ahead(told_.tripped_until[o]) || told_.derate[o] != derate)
      tell(HealthChanged{State::tripped, now_, offer_, instant(tripped), derate});
  }

  const Snapshot& fleet_;
  const OfferId offer_;
  const Instant now_;
  Live &live_, &told_;
  const std::function<void(Event)>& say_;
};

std::uint32_t sum(const std::array<std::uint32_t, kExclusions>& counts) {
  std::uint32_t total = 0;
  for (const std::uint32_t count : counts) total += count;
  return total;
}

}  // namespace

Result<void> belongs(const Snapshot& fleet, const Event& event) {
  const auto within = [](const char* what, std::uint32_t index, std::size_t size) -> Result<void> {
    if (index < size) return {};
    return Error(Errc::corrupt, std::string(what) + " " + std::to_string(index) + " of an event is not among the " +
                                    std::to_string(size) + " of its snapshot");
  };
  const std::size_t offers = fleet.offers().size();
  if (const auto* changed = std::get_if<Changed>(&event)) {
    const Belief::Change& change = changed->change;
    if (Result<void> fine = within("offer", change.offer.value, offers); !fine) return fine;
    return change.slo.valid() ? within("SLO class", change.slo.value, fleet.fleet().slo_classes.size())
                              : Result<void>();
  }
  if (const auto* priced = std::get_if<PriceChanged>(&event)) return within("offer", priced->offer.value, offers);
  if (const auto* health = std::get_if<HealthChanged>(&event)) return within("offer", health->offer.value, offers);
  if (const auto* units = std::get_if<UnitsChanged>(&event))
    return within("destination", units->destination.value, fleet.fleet().destinations.size());
  return {};
}

void apply(const Snapshot& fleet, const Event& event, Live& live) {
  if (!belongs(fleet, event)) return;
  if (const auto* changed = std::get_if<Changed>(&event)) {
    if (double* const place = place_of(changed->change, live)) *place = changed->change.after;
  } else if (const auto* priced = std::get_if<PriceChanged>(&event)) {
    if (double* const place = price_of(priced->unit, live, priced->offer.value)) *place = per_token(priced->after);
  } else if (const auto* health = std::get_if<HealthChanged>(&event)) {
    set_health(*health, live);
  } else if (const auto* units = std::get_if<UnitsChanged>(&event)) {
    live.size_to(fleet, units->destination, units->after);
  }
}

void Witness::before(const Request& request, Instant now, Live& live, const std::function<void(Event)>& say) {
  for (const OfferId offer : fleet_->candidates(request.model)) {
    quantise(*fleet_, request.slo, offer, live);
    Telling(*fleet_, offer, now, live, told_, say).all();
  }
}

Evidence Witness::evidence(const Request& request, Instant now, const Live& live, Scratch& scratch,
                           std::size_t columns_max) const {
  std::vector<Candidate> in = explain(*fleet_, live, request, now, scratch);
  std::erase_if(in, [](const Candidate& c) { return c.exclusion != Exclusion::none; });
  std::sort(in.begin(), in.end(), [&](const Candidate& a, const Candidate& b) {
    const auto place = [&](const Candidate& c) {
      return std::tuple(c.terms.key(), (*fleet_)[c.offer].destination, (*fleet_)[c.offer].model);
    };
    return place(a) < place(b);
  });
  Evidence evidence;
  evidence.waited = request.waited;
  evidence.failed_at = request.failed_at;
  for (const Candidate& c : in) evidence.live.push_back(column_of(*fleet_, request.slo, c.offer, live, now));
  if (evidence.live.size() > columns_max) {
    evidence.others_digest = digest_of(std::span(evidence.live).subspan(columns_max));
    evidence.live.resize(columns_max);
  }
  return evidence;
}

OfferId cheapest_payg(const Snapshot& fleet, const Admitted& admitted, ModelId model, const Usage& usage) {
  const Fleet& f = fleet.fleet();
  const SloId slo = admitted.slo.valid() ? admitted.slo : f.default_slo;
  const std::string_view data_class =
      admitted.declared_tenant.valid() ? f.tenants[admitted.declared_tenant.value].data_class : std::string_view();
  const auto cheapest = fleet.cheapest_payg(model, admitted.compliance, data_class, usage,
                                            admitted.batch || f.slo_classes[slo.value].deferrable());
  return cheapest ? cheapest->offer : OfferId{};
}

Request request_of(const Snapshot& fleet, const Admitted& admitted, const Record& record) {
  Request request;
  request.model = admitted.requested;
  request.tenant = admitted.declared_tenant;
  request.slo = admitted.slo;
  request.compliance = admitted.compliance;
  if (request.tenant.valid()) request.data_class = fleet.fleet().tenants[request.tenant.value].data_class;
  request.prompt = admitted.prompt;
  request.max_output = admitted.max_output;
  request.needs = admitted.needs;
  request.batch = admitted.batch;
  request.predicted = std::get<Decided>(record.event).predicted;
  request.waited = record.evidence.waited;
  request.failed_at = record.evidence.failed_at;
  return request;
}

Result<void> belongs(const Snapshot& fleet, const Admitted& admitted, const Record& record) {
  const auto within = [](const char* what, std::uint32_t index, std::size_t size, bool may_lack) -> Result<void> {
    if (index < size || (may_lack && index == ModelId{}.value)) return {};
    return Error(Errc::corrupt, std::string(what) + " " + std::to_string(index) + " of a decision is not among the " +
                                    std::to_string(size) + " of its snapshot");
  };
  const Fleet& f = fleet.fleet();
  const std::size_t offers = fleet.offers().size();
  Result<void> fine = within("model", admitted.requested.value, f.models.size(), false);
  if (fine) fine = within("tenant", admitted.declared_tenant.value, f.tenants.size(), true);
  if (fine) fine = within("SLO class", admitted.slo.value, f.slo_classes.size(), true);
  if (fine) fine = within("compliance rule", admitted.compliance.value, f.compliance.size(), true);
  if (fine) fine = within("offer", record.evidence.failed_at.value, offers, true);
  if (fine) fine = within("offer", std::get<Decided>(record.event).decision.chosen.value, offers, true);
  for (const LiveColumn& column : record.evidence.live)
    if (fine) fine = within("offer", column.offer, offers, false);
  return fine;
}

Decision Hindsight::decide_again(const Admitted& admitted, const Record& record) {
  const Request request = request_of(*fleet_, admitted, record);
  for (const OfferId offer : fleet_->candidates(request.model)) live_.running[offer.value] = 0;
  for (const LiveColumn& column : record.evidence.live) event::apply(*fleet_, request.slo, column, live_);
  live_.reserve_short = std::get<Decided>(record.event).decision.reserve_short;
  return decide(*fleet_, live_, request, std::get<Decided>(record.event).at, scratch_);
}

std::vector<Candidate> Hindsight::explain_again(const Admitted& admitted, const Record& record) {
  const Request request = request_of(*fleet_, admitted, record);
  for (const LiveColumn& column : record.evidence.live) event::apply(*fleet_, request.slo, column, live_);
  const auto& decided = std::get<Decided>(record.event);
  live_.reserve_short = decided.decision.reserve_short;
  std::vector<Candidate> candidates = explain(*fleet_, live_, request, decided.at, scratch_);
  for (Candidate& candidate : candidates) {
    const auto of = [&](const LiveColumn& column) { return column.offer == candidate.offer.value; };
    // Its load was not recorded, since it was not among those that could serve.
    if (candidate.exclusion == Exclusion::none &&
        std::none_of(record.evidence.live.begin(), record.evidence.live.end(), of))
      candidate.exclusion = Exclusion::saturated;
  }
  return candidates;
}

std::string difference(const Record& recorded, const Decision& again) {
  const Decision& then = std::get<Decided>(recorded.event).decision;
  const auto differs = [](const std::string& what, auto was, auto is) {
    return what + ": recorded " + std::to_string(was) + ", decided again " + std::to_string(is);
  };
  if (then.verdict != again.verdict)
    return "verdict: recorded " + std::string(name_of(then.verdict)) + ", decided again " +
           std::string(name_of(again.verdict));
  if (then.chosen != again.chosen) return differs("offer chosen", then.chosen.value, again.chosen.value);
  for (std::size_t why = 0; why <= static_cast<std::size_t>(Exclusion::unpriced); ++why)
    if (then.excluded[why] != again.excluded[why])
      return differs("excluded for " + std::string(name_of(static_cast<Exclusion>(why))), then.excluded[why],
                     again.excluded[why]);
  if (recorded.evidence.live.size() != again.feasible)
    return differs("feasible", recorded.evidence.live.size(), again.feasible);
  if (then.feasible + sum(then.excluded) != again.feasible + sum(again.excluded))
    return differs("candidates", then.feasible + sum(then.excluded), again.feasible + sum(again.excluded));
  return {};
}

}  // namespace ace::event
