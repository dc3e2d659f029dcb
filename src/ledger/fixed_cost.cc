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
  for (std::int64_t s = 0; s < steps;) {  // all that begin within an hour cost the same
    const Instant start = begin + Duration{s * step};
    const std::int64_t rest = (hour_of(start) + 1) * nanos(kHour) - nanos(start);
    const std::int64_t alike = std::min(steps - s, (rest + step - 1) / step);
    rent.nano += pro_rata(rental.at(start), 1, Duration{step}).nano * alike;
    s += alike;
  }
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
  Instant of_begin{}, of_end{};  // that the next two are of: most units live as long as the one before
  Usd power_of_one{}, rent_of_one{};
  for (const UnitLife& unit : units) {
    const Instant begin = std::max(unit.requested, from);
    const Instant end = std::min(unit.released, to);
    if (begin >= end) continue;
    if (started == 0 || begin != of_begin || end != of_end) {
      of_begin = begin, of_end = end;
      if (d.tier == Tier::owned) power_of_one = energy_cost(fleet.electricity, watts_idle, begin, end);
      if (d.rental) rent_of_one = rent_of(*d.rental, begin, end);
    }
    ++started;
    power += power_of_one;
    rent += rent_of_one;
  }
  if (power != Usd{}) costs.push_back({Kind::idle_power, id, from, to, started, power});
  if (rent != Usd{}) costs.push_back({Kind::rental, id, from, to, started, rent});
  return costs;
}

std::vector<event::GpuBooking> gpu_bookings(const Destination& d, std::span<const UnitLife> units, Instant from,
                                            Instant to) {
  std::vector<event::GpuBooking> all;
  for (std::size_t u = 0; u < units.size(); ++u) {
    const std::int64_t start = nanos(std::max(units[u].requested, from)) / 1'000'000;
    const std::int64_t end = nanos(std::min(units[u].released, to)) / 1'000'000;
    if (start >= end) continue;
    for (std::int64_t g = 0; g < d.gpus_per_unit; ++g)
      all.push_back(
          {event::GpuBooking::Use::served, d.name + "/" + std::to_string(u) + "/" + std::to_string(g), start, end});
  }
  return all;
}

std::optional<event::FixedCost> hosts_cost(const Fleet& fleet, Instant from, Instant to) {
  Usd hosts{};
  if (fleet.policies.cache_hosts_hourly) hosts += pro_rata(*fleet.policies.cache_hosts_hourly, 1, to - from);
  if (fleet.policies.gateway_hosts_hourly) hosts += pro_rata(*fleet.policies.gateway_hosts_hourly, 1, to - from);
  if (hosts == Usd{}) return std::nullopt;
  return event::FixedCost{Kind::hosts, DestinationId{}, from, to, 1, hosts};
}

bool has_fixed_cost(const Snapshot& snapshot, Instant at) {
  const std::vector<Destination>& all = snapshot.fleet().destinations;
  const UnitLife unit{at};
  for (std::uint32_t d = 0; d < all.size(); ++d) {
    const std::size_t units = runs_on_gpus(all[d].tier) && all[d].units.at_most() > 0 ? 1 : 0;
    if (!fixed_cost(snapshot, DestinationId{d}, {&unit, units}, at, at + kHour).empty()) return true;
  }
  return hosts_cost(snapshot.fleet(), at, at + kHour).has_value();
}

}  // namespace ace
