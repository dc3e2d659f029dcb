#include "ledger/fixed_cost.h"

#include <algorithm>

namespace ace {
namespace {

using Kind = event::FixedCost::Kind;

/// Energy of a constant load over [from, to) at the booked hourly prices. Watts are physics; the amount becomes money
/// here.
Usd energy_cost(const Electricity& electricity, double watts, Instant from, Instant to) {
  double dollars = 0.0;
  for (Instant t = from; t < to;) {
    const Instant hour_end = instant((hour_of(t) + 1) * nanos(kHour));
    const Instant end = std::min(hour_end, to);
    const double kwh = watts * electricity.pue * to_seconds(end - t) / 3.6e6;
    dollars += kwh * (static_cast<double>(electricity.booked(t).nano) * 1e-9);
    t = end;
  }
  return usd_from_physics(dollars).value();
}

/// price x time / hour, exactly, rounded half away from zero.
Usd pro_rata(Usd hourly, std::int64_t units, Duration time) {
  const int128 nano = divide_half_away(int128{hourly.nano} * units * nanos(time), nanos(kHour));
  return Usd{static_cast<std::int64_t>(nano)};
}

Usd rent_of(const Rental& rental, Instant begin, Instant end) {
  const std::int64_t step = std::max<std::int64_t>(nanos(rental.increment), 1);
  const std::int64_t steps = (nanos(end - begin) + step - 1) / step;
  if (rental.hourly_series.empty()) return pro_rata(rental.hourly, 1, Duration{step * steps});
  Usd rent{};
  for (std::int64_t s = 0; s < steps; ++s) rent += pro_rata(rental.at(begin + Duration{s * step}), 1, Duration{step});
  return rent;
}

}  // namespace

std::vector<event::FixedCost> fixed_cost(const Snapshot& snapshot, DestinationId id, std::span<const UnitLife> units,
                                         Instant from, Instant to) {
  const Fleet& fleet = snapshot.fleet();
  const Destination& d = fleet.destinations[id.value];
  std::vector<event::FixedCost> costs;
  if (d.tier == Tier::owned && d.amortization_hourly != Usd{})
    costs.push_back({Kind::amortization, id, from, to, d.units.at_most(),
                     pro_rata(d.amortization_hourly, d.units.at_most(), to - from)});
  if (d.tier == Tier::reserved && d.commitment_hourly != Usd{})
    costs.push_back({Kind::commitment, id, from, to, 1, pro_rata(d.commitment_hourly, 1, to - from)});
  double watts_idle = 0.0;
  for (const Offer& offer : snapshot.offers())
    if (offer.destination == id && offer.profile && watts_idle == 0.0)
      watts_idle = offer.profile->watts_idle * static_cast<double>(d.replicas_per_unit());
  Usd power{}, rent{};
  std::int64_t started = 0;
  for (const UnitLife& unit : units) {
    const Instant begin = std::max(unit.requested, from);
    const Instant end = std::min(unit.released, to);
    if (begin >= end) continue;
    ++started;
    if (d.tier == Tier::owned) power += energy_cost(fleet.electricity, watts_idle, begin, end);
    if (d.rental) rent += rent_of(*d.rental, begin, end);
  }
  if (power != Usd{}) costs.push_back({Kind::idle_power, id, from, to, started, power});
  if (rent != Usd{}) costs.push_back({Kind::rental, id, from, to, started, rent});
  return costs;
}

std::optional<event::FixedCost> hosts_cost(const Fleet& fleet, Instant from, Instant to) {
  Usd hosts{};
  if (fleet.policies.cache_hosts_hourly) hosts += pro_rata(*fleet.policies.cache_hosts_hourly, 1, to - from);
  if (fleet.policies.gateway_hosts_hourly) hosts += pro_rata(*fleet.policies.gateway_hosts_hourly, 1, to - from);
  if (hosts == Usd{}) return std::nullopt;
  return event::FixedCost{Kind::hosts, DestinationId{}, from, to, 1, hosts};
}

}  // namespace ace
