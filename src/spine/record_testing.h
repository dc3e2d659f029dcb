#pragma once
/// Random events of every kind, for the tests of this and other rooms.
#include <string>

#include "core/rng.h"
#include "spine/spine.h"

namespace ace::event::gen {

inline std::string label(Rng& rng) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABC0123456789._:/+-";
  std::string text(1, 't');
  for (std::uint64_t left = rng.below(20); left > 0; --left) text += kLetters[rng.below(kLetters.size())];
  return text;
}
inline Instant moment(Rng& rng) {
  return instant(rng.between(1'700'000'000, 1'900'000'000) * 1'000'000'000 + rng.between(0, 999'999'999));
}
inline std::int64_t small(Rng& rng) { return rng.chance(0.3) ? 0 : rng.between(0, 1 << rng.between(1, 30)); }
inline Duration span(Rng& rng) { return Duration{small(rng) * 1000}; }
inline Usd money(Rng& rng) { return Usd{rng.between(-1'000'000'000, 1'000'000'000)}; }
template <class Id>
Id index(Rng& rng) {
  return rng.chance(0.2) ? Id{} : Id{static_cast<std::uint32_t>(rng.below(2000))};
}
template <class Id>
Id id(Instant at, Rng& rng) {
  const RequestId made = make_request_id(at, rng);
  return {made.high, made.low};
}
inline Usage usage(Rng& rng) {
  Usage used(Tokens{small(rng)}, Tokens{small(rng)}, Tokens{small(rng)});
  if (rng.chance(0.2)) used.set(static_cast<Unit>(rng.below(kUnits)), small(rng));
  return used;
}
inline Digest digest(Rng& rng) {
  Digest d{};
  for (auto& byte : d) byte = static_cast<std::uint8_t>(rng.below(256));
  return d;
}
inline LiveColumn column(Rng& rng) {
  LiveColumn c;
  c.offer = static_cast<std::uint32_t>(rng.below(1 << 24));
  c.cached = static_cast<std::uint32_t>(rng.below(1 << 24));
  c.version = static_cast<std::uint8_t>(rng.below(256));
  c.running = rng.chance(0.9);
  c.resident = rng.chance(0.9);
  c.throttled = rng.chance(0.1);
  c.tripped = rng.chance(0.1);
  c.scarce = static_cast<std::uint8_t>(rng.below(kResources));
  for (auto& use : c.use) use = static_cast<std::uint32_t>(rng.below(kUseMax + 1));
  c.shadow_price = static_cast<float>(rng.uniform() * 1e9);
  return c;
}

/// A record of this alternative of `Event`, as a shell might write it.
inline Record record_of(std::size_t kind, Rng& rng) {
  Record r;
  const Instant at = moment(rng);
  r.id = id<EventId>(at, rng);
  r.tenant = static_cast<std::uint32_t>(rng.below(200));
  r.snapshot = rng.below(40);
  r.ordinal = static_cast<std::uint32_t>(rng.below(4));
  const RequestId request{r.id.high, r.id.low};
  const Instant later = at + span(rng);
  switch (kind) {
    case 0: {
      Admitted e{request, rng.between(-5, 5), later, r.tenant, static_cast<std::uint32_t>(rng.below(50)), {}, {}, {},
                 {}};
      e.declared_tenant = index<TenantId>(rng);
      e.requested = index<ModelId>(rng);
      e.slo = index<SloId>(rng);
      e.compliance = index<ComplianceId>(rng);
      e.prompt = Tokens{small(rng)};
      e.max_output = Tokens{small(rng)};
      e.needs = static_cast<std::uint32_t>(rng.below(128));
      e.h0 = Tokens{small(rng)};
      e.batch = rng.chance(0.5);
      e.project = static_cast<std::uint32_t>(rng.below(50));
      e.key = static_cast<std::uint32_t>(rng.below(50));
      r.event = e;
      break;
    }
    case 1: {
      Decided e;
      e.id = request;
      e.at = later;
      e.snapshot = r.snapshot;
      e.decision.verdict = static_cast<Verdict>(rng.below(4));
      for (auto& count : e.decision.excluded) count = rng.chance(0.8) ? 0 : static_cast<std::uint32_t>(small(rng));
      e.decision.reserve_short = rng.chance(0.1);
      for (std::uint64_t left = rng.below(kColumnsMax + 1); left > 0; --left) r.evidence.live.push_back(column(rng));
      e.decision.chosen = r.evidence.live.empty() ? OfferId{} : OfferId{r.evidence.live.front().offer};
      e.decision.feasible = static_cast<std::uint32_t>(r.evidence.live.size() + (rng.chance(0.2) ? rng.below(100) : 0));
      e.predicted.output_mean = rng.chance(0.5) ? 412.5 : rng.uniform() * 1000;
      e.predicted.output_p90 = rng.chance(0.5) ? 1024.0 : rng.uniform() * 4000;
      e.cached_predicted =
          Tokens{rng.chance(0.5) && !r.evidence.live.empty() ? r.evidence.live.front().cached : small(rng)};
      e.cheapest_payg = index<OfferId>(rng);
      r.evidence.waited = span(rng);
      r.evidence.failed_at = index<OfferId>(rng);
      r.evidence.others_digest = rng.chance(0.2) ? rng.next() : 0;
      r.event = e;
      break;
    }
    case 2: {
      Attempted e;
      e.id = request;
      e.offer = index<OfferId>(rng);
      e.from = at;
      e.to = later;
      e.answered = rng.chance(0.8);
      if (!e.answered) e.rejection = static_cast<Rejection>(rng.below(5));
      e.eviction = rng.chance(0.1);
      e.billed = usage(rng);
      e.energy_hour = at - span(rng);
      e.billed_as = index<OfferId>(rng);
      r.event = e;
      break;
    }
    case 3:
      r.event = FirstToken{request, later, index<OfferId>(rng), span(rng)};
      break;
    case 4: {
      Completed e;
      e.id = request;
      e.at = later;
      e.outcome = static_cast<Outcome>(rng.below(4));
      e.verdict = static_cast<Verdict>(rng.below(4));
      e.offer = index<OfferId>(rng);
      e.usage = usage(rng);
      e.output_requested = rng.chance(0.5) ? e.usage.completion() : Tokens{small(rng)};
      e.h1 = Tokens{small(rng)};
      e.ttft = span(rng);
      e.tpot = span(rng);
      e.slo_met = rng.chance(0.5);
      e.lookup_cost = money(rng);
      e.observed_cost_nano = rng.chance(0.5) ? -1 : small(rng);
      e.in_gap = rng.chance(0.1);
      e.exact_match = rng.chance(0.9);
      r.event = e;
      break;
    }
    case 5:
      r.event = CacheHit{static_cast<CacheHit::Kind>(rng.below(3)), request, later, id<RequestId>(at, rng), money(rng)};
      break;
    case 6:
      r.event = SettlementClosed{later,      rng.between(0, 1 << 20),
                                 r.tenant,   index<ModelId>(rng),
                                 small(rng), money(rng),
                                 money(rng), money(rng),
                                 money(rng), static_cast<std::uint32_t>(rng.below(11))};
      break;
    case 7:
      r.event = FixedCost{static_cast<FixedCost::Kind>(rng.below(5)),
                          index<DestinationId>(rng),
                          at,
                          later,
                          small(rng),
                          money(rng),
                          rng.between(-1, 1'000'000)};
      break;
    case 8:
      r.event = GpuBooking{static_cast<GpuBooking::Use>(rng.below(4)), label(rng), nanos(at) / 1'000'000,
                           nanos(at) / 1'000'000 + small(rng)};
      break;
    case 9:
      r.event = PriceChanged{later, index<OfferId>(rng), static_cast<Unit>(rng.below(kUnits)), UsdPerMtok{small(rng)},
                             UsdPerMtok{small(rng)}};
      break;
    case 10: {
      FleetChanged e;
      e.at = later;
      e.source = static_cast<FleetChanged::Source>(rng.below(4));
      e.files.push_back({FleetChanged::File::Role::fleet, label(rng), digest(rng)});
      for (auto* names : {&e.destinations, &e.models, &e.tenants, &e.slo_classes, &e.compliance})
        for (std::uint64_t left = rng.below(4) + 1; left > 0; --left) names->push_back(label(rng));
      e.offers.push_back({DestinationId{0}, ModelId{0}});
      e.digest = rng.next();
      r.event = e;
      break;
    }
    case 11:
      r.event = HealthChanged{static_cast<HealthChanged::State>(rng.below(5)), later, index<OfferId>(rng),
                              rng.chance(0.5) ? Instant{} : later + span(rng), 1.0 + rng.uniform()};
      break;
    case 12:
      r.event = CapacityObserved{static_cast<CapacityObserved::Source>(rng.below(5)),
                                 later,
                                 index<DestinationId>(rng),
                                 small(rng),
                                 small(rng),
                                 small(rng),
                                 rng.chance(0.5) ? -1 : small(rng),
                                 rng.chance(0.5) ? -1 : small(rng)};
      break;
    case 13:
      r.event = Changed{{static_cast<Belief::Change::What>(rng.below(11)), later, index<OfferId>(rng),
                         index<SloId>(rng), rng.uniform(), rng.uniform()}};
      break;
    case 14:
      r.event = UnitsChanged{later, index<DestinationId>(rng), small(rng), small(rng),
                             rng.chance(0.5) ? "eviction" : "fleet file"};
      break;
    case 15: {
      PlanMade e{{r.id.high, r.id.low}, later, later + span(rng), later + span(rng), {}, money(rng), digest(rng)};
      for (std::uint64_t left = rng.below(4); left > 0; --left)
        e.targets.push_back({DestinationId{static_cast<std::uint32_t>(rng.below(9))}, small(rng)});
      r.event = e;
      break;
    }
    case 16: {
      Action e;
      e.stage = static_cast<Action::Stage>(rng.below(5));
      e.kind = static_cast<Action::Kind>(rng.below(10));
      e.outcome = static_cast<Action::Outcome>(rng.below(4));
      e.id = {r.id.high, r.id.low};
      e.at = later;
      if (rng.chance(0.5)) e.plan = id<PlanId>(at, rng);
      e.cluster = static_cast<std::uint32_t>(rng.below(9));
      e.target = static_cast<std::uint32_t>(rng.below(9000));
      e.destination = index<DestinationId>(rng);
      e.units = small(rng);
      e.rung = static_cast<std::uint32_t>(rng.below(5));
      e.epoch = rng.next();
      e.why = static_cast<std::uint32_t>(rng.below(9));
      e.value = money(rng);
      e.cost_at_risk = money(rng);
      r.event = e;
      break;
    }
    case 17:
      r.event = Gap{static_cast<Gap::Cause>(rng.below(5)), at, later, rng.chance(0.5) ? -1 : small(rng)};
      break;
    case 18:
      r.event = Named{static_cast<Named::Kind>(rng.below(7)), later, static_cast<std::uint32_t>(rng.below(1 << 20)),
                      label(rng)};
      break;
    case 19:
      r.event = Lifecycle{static_cast<Lifecycle::What>(rng.below(4)), later, static_cast<std::uint64_t>(small(rng))};
      break;
    default: {
      Passed e;
      e.id = request;
      e.at = later;
      e.tenant = r.tenant;
      e.team = static_cast<std::uint32_t>(rng.below(50));
      e.project = static_cast<std::uint32_t>(rng.below(50));
      e.key = static_cast<std::uint32_t>(rng.below(50));
      e.declared_tenant = index<TenantId>(rng);
      e.compliance = index<ComplianceId>(rng);
      e.destination = index<DestinationId>(rng);
      e.status = static_cast<std::int32_t>(rng.below(1000));
      e.sent = small(rng);
      e.received = small(rng);
      r.event = e;
      break;
    }
  }
  return r;
}
inline Record record(Rng& rng) { return record_of(rng.below(std::variant_size_v<Event>), rng); }

}  // namespace ace::event::gen
