#include "spine/record.h"

namespace ace::event {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

Kind kind_of(const Event& event) {
  return std::visit(Overloaded{
                        [](const Admitted&) { return Kind::admitted; },
                        [](const Decided&) { return Kind::decided; },
                        [](const Attempted&) { return Kind::attempted; },
                        [](const FirstToken&) { return Kind::first_token; },
                        [](const Completed&) { return Kind::completed; },
                        [](const CacheHit&) { return Kind::cache_hit; },
                        [](const Passed&) { return Kind::passed; },
                        [](const SettlementClosed&) { return Kind::settlement_closed; },
                        [](const FixedCost&) { return Kind::fixed_cost; },
                        [](const GpuBooking&) { return Kind::gpu_booking; },
                        [](const PriceChanged&) { return Kind::price_changed; },
                        [](const FleetChanged&) { return Kind::fleet_changed; },
                        [](const HealthChanged&) { return Kind::health_changed; },
                        [](const CapacityObserved&) { return Kind::capacity_observed; },
                        [](const Changed&) { return Kind::changed; },
                        [](const UnitsChanged&) { return Kind::units_changed; },
                        [](const PlanMade&) { return Kind::plan_made; },
                        [](const Action&) { return Kind::action; },
                        [](const Gap&) { return Kind::gap; },
                        [](const Named&) { return Kind::named; },
                        [](const Lifecycle&) { return Kind::lifecycle; },
                    },
                    event);
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::none:
      return "none";
    case Kind::admitted:
      return "admitted";
    case Kind::decided:
      return "decided";
    case Kind::attempted:
      return "attempted";
    case Kind::first_token:
      return "first_token";
    case Kind::completed:
      return "completed";
    case Kind::cache_hit:
      return "cache_hit";
    case Kind::passed:
      return "passed";
    case Kind::changed:
      return "changed";
    case Kind::health_changed:
      return "health_changed";
    case Kind::fixed_cost:
      return "fixed_cost";
    case Kind::gpu_booking:
      return "gpu_booking";
    case Kind::units_changed:
      return "units_changed";
    case Kind::settlement_closed:
      return "settlement_closed";
    case Kind::price_changed:
      return "price_changed";
    case Kind::fleet_changed:
      return "fleet_changed";
    case Kind::capacity_observed:
      return "capacity_observed";
    case Kind::plan_made:
      return "plan_made";
    case Kind::action:
      return "action";
    case Kind::gap:
      return "gap";
    case Kind::named:
      return "named";
    case Kind::lifecycle:
      return "lifecycle";
  }
  return "unknown";
}

EventId own_id(const Event& event) {
  return std::visit(
      [](const auto& e) -> EventId {
        if constexpr (requires { e.id; })
          return {e.id.high, e.id.low};
        else
          return {};
      },
      event);
}

Key key_of(const Record& record) {
  const EventId own = own_id(record.event);
  Key key{record.tenant, own == EventId{} ? record.id : own, kind_of(record.event), record.ordinal};
  if (const auto* admitted = std::get_if<Admitted>(&record.event)) key.tenant = admitted->tenant;
  if (const auto* passed = std::get_if<Passed>(&record.event)) key.tenant = passed->tenant;
  if (const auto* closed = std::get_if<SettlementClosed>(&record.event)) key.tenant = closed->tenant;
  if (const auto* action = std::get_if<Action>(&record.event)) key.ordinal = static_cast<std::uint32_t>(action->stage);
  return key;
}

Instant at_of(const Event& event) {
  return std::visit(
      Overloaded{
          [](const Attempted& e) { return e.from; },
          [](const FixedCost& e) { return e.from; },
          [](const Gap& e) { return e.from; },
          [](const Changed& e) { return e.change.at; },
          [](const GpuBooking& e) {
            return instant(static_cast<std::int64_t>(static_cast<std::uint64_t>(e.start_ms) * 1'000'000U));
          },
          [](const auto& e) { return e.at; },
      },
      event);
}

}  // namespace ace::event
