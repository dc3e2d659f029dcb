#include "replay/unit_states.h"

#include <algorithm>

#include "core/check.h"

namespace ace {
namespace {

Instant next_minute(Instant t) { return instant((floor_div(nanos(t), nanos(kMinute)) + 1) * nanos(kMinute)); }

}  // namespace

UnitStates::UnitStates(const Snapshot& fleet, const Rng& rng)
    : fleet_(&fleet), pools_(fleet.fleet().destinations.size()) {
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    const Destination& d = fleet.fleet().destinations[i];
    pools_[i].gpu = runs_on_gpus(d.tier);
    pools_[i].rented = d.rental.has_value();
    pools_[i].rng = rng.split("units").split(d.name);
  }
}

void UnitStates::start_unit(Pool& pool, Instant now, Duration delay) {
  if (!pool.draining.empty()) {  // it still runs: nothing to wait for
    pool.up.push_back(pool.draining.back());
    pool.draining.pop_back();
    return;
  }
  pool.up.push_back(pool.units.size());
  pool.units.push_back({now, now + delay, Instant::max()});
}

void UnitStates::stop_unit(Pool& pool, Instant released) {
  pool.units[pool.up.back()].released = released;
  pool.up.pop_back();
}

void UnitStates::switch_off(Pool& pool, Instant now) {
  if (pool.units[pool.up.back()].ready >= now) return stop_unit(pool, now);  // it never took a request
  pool.draining.push_back(pool.up.back());
  pool.up.pop_back();
}

void UnitStates::drained(Instant now, DestinationId destination, std::size_t unit) {
  Pool& pool = pools_[destination.value];
  ACE_CHECK(unit < pool.draining.size(), "a unit that is empty was switched off before");
  pool.units[pool.draining[unit]].released = now;
  pool.draining.erase(pool.draining.begin() + static_cast<std::ptrdiff_t>(unit));
}

std::int64_t UnitStates::ready(const Pool& pool, Instant now) {
  return std::count_if(pool.up.begin(), pool.up.end(), [&](std::size_t u) { return pool.units[u].ready <= now; });
}

/// Units that the market has on offer.
std::int64_t UnitStates::offered(const Destination& destination, Instant t, std::int64_t otherwise) {
  if (!destination.rental || destination.rental->availability.values.empty()) return otherwise;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(destination.rental->availability.at(t)));
}

std::vector<UnitStates::Step> UnitStates::start(Instant now) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    if (!pools_[i].gpu) continue;
    const Destination& d = fleet_->fleet().destinations[i];
    std::int64_t units = d.units.scheduled(now);
    if (d.units.reactive) units = std::clamp(units, d.units.reactive->units_min, d.units.reactive->units_max);
    for (std::int64_t u = std::min(units, offered(d, now, units)); u > 0; --u) start_unit(pools_[i], now, Duration{0});
    pools_[i].running = ready(pools_[i], now);
    steps.push_back({DestinationId{static_cast<std::uint32_t>(i)}, 0, pools_[i].running, 0, 0, "fleet file"});
  }
  minute_ = floor_div(nanos(now), nanos(kMinute));
  plan_next(now);
  return steps;
}

void UnitStates::plan_next(Instant now) {
  next_ = Instant::max();
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    const Pool& pool = pools_[i];
    if (!pool.gpu) continue;
    const Destination& d = fleet_->fleet().destinations[i];
    const bool moves = !d.units.schedule.empty() || d.units.reactive ||
                       (d.rental && (d.rental->hazard_per_hour > 0.0 || !d.rental->availability.values.empty()));
    if (moves) next_ = std::min(next_, next_minute(now));
    for (const std::size_t u : pool.up)
      if (pool.units[u].ready > now) next_ = std::min(next_, pool.units[u].ready);
    for (const Instant end : pool.take_away) next_ = std::min(next_, end);
  }
}

/// The market takes units away: notice now, loss after it. @return how many of them were running
std::int64_t UnitStates::evict(Pool& pool, const Destination& destination, Instant now) {
  const Rental& rental = *destination.rental;
  const auto up = static_cast<std::int64_t>(pool.up.size());
  std::int64_t taken = 0;
  if (!rental.availability.values.empty()) {
    taken = std::max<std::int64_t>(0, up - offered(destination, now, up));
  } else if (rental.hazard_per_hour > 0.0) {
    for (std::int64_t u = 0; u < up; ++u) taken += pool.rng.chance(rental.hazard_per_hour / 60.0) ? 1 : 0;
  }
  std::int64_t running = 0;
  for (std::int64_t u = 0; u < taken; ++u) {
    const bool ran = pool.units[pool.up.back()].ready < now;
    stop_unit(pool, now + rental.notice);
    if (!ran) continue;
    pool.take_away.push_back(now + rental.notice);
    ++running;
  }
  return running;
}

/// Has a reactive pool rested, and has the market another unit?
bool UnitStates::may_start(const Pool& pool, const Destination& destination, Instant now) {
  const auto up = static_cast<std::int64_t>(pool.up.size());
  const bool rested = pool.last_down == Instant::min() || now - pool.last_down >= destination.units.reactive->min_down;
  return rested && offered(destination, now, up + 1) > up;
}

void UnitStates::wake(Instant now, DestinationId id) {
  Pool& pool = pools_[id.value];
  const Destination& destination = fleet_->fleet().destinations[id.value];
  if (!asleep(id) || destination.units.reactive->units_max < 1 || !may_start(pool, destination, now)) return;
  start_unit(pool, now, destination.units.reactive->start_delay);
  next_ = std::min(next_, std::max(now, pool.units[pool.up.back()].ready));
}

/// Units as the schedule or the reactive policy has them, as far as the market offers them.
void UnitStates::follow(Pool& pool, const Destination& destination, Instant now, Load load) {
  const auto up = static_cast<std::int64_t>(pool.up.size());
  if (!destination.units.reactive) {
    const std::int64_t plan = destination.units.scheduled(now);
    const std::int64_t wanted = std::min(plan, offered(destination, now, plan));
    for (std::int64_t u = up; u < wanted; ++u) start_unit(pool, now, Duration{0});
    for (std::int64_t u = up; u > wanted; --u) switch_off(pool, now);
    return;
  }
  const ReactivePolicy& policy = *destination.units.reactive;
  if ((load >= policy.up_at || up < policy.units_min) && up < policy.units_max) {
    if (may_start(pool, destination, now)) start_unit(pool, now, policy.start_delay);
  } else if (load < policy.down_at && up > policy.units_min &&
             now - pool.units[pool.up.back()].requested >= policy.min_up) {
    switch_off(pool, now);
    pool.last_down = now;
  }
}

std::vector<UnitStates::Step> UnitStates::tick(Instant now, const std::vector<Load>& load) {
  std::vector<Step> steps;
  const std::int64_t minute = floor_div(nanos(now), nanos(kMinute));
  const bool turned = minute != minute_;  // a notice of no length comes back to the same minute
  minute_ = minute;
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    Pool& pool = pools_[i];
    if (!pool.gpu) continue;
    const Destination& d = fleet_->fleet().destinations[i];
    Step step{DestinationId{static_cast<std::uint32_t>(i)}, pool.running, 0, 0, 0,
              d.units.reactive ? "reactive" : "schedule"};
    const auto over =
        std::partition_point(pool.take_away.begin(), pool.take_away.end(), [&](Instant end) { return end <= now; });
    step.gone = over - pool.take_away.begin();
    pool.take_away.erase(pool.take_away.begin(), over);
    if (turned) {
      const std::size_t had = pool.up.size();
      if (d.rental) step.condemned = evict(pool, d, now);
      if (pool.up.size() == had)
        follow(pool, d, now, load[i]);  // else the market has nothing to replace it this minute
    }
    step.running = pool.running = ready(pool, now);
    if (step.condemned > 0 || step.gone > 0) step.cause = "eviction";
    if (step.running != step.before || step.condemned > 0 || step.gone > 0) steps.push_back(step);
  }
  plan_next(now);
  return steps;
}

std::vector<UnitLife> UnitStates::lives(const Pool& pool) {
  std::vector<UnitLife> lives;
  for (const Unit& unit : pool.units) lives.push_back({unit.requested, unit.released});
  return lives;
}

std::vector<event::FixedCost> UnitStates::fixed_cost(Instant from, Instant to) const {
  std::vector<event::FixedCost> costs;
  for (std::uint32_t i = 0; i < pools_.size(); ++i)
    for (event::FixedCost& cost : ace::fixed_cost(*fleet_, DestinationId{i}, lives(pools_[i]), from, to))
      costs.push_back(std::move(cost));
  if (const std::optional<event::FixedCost> hosts = hosts_cost(fleet_->fleet(), from, to)) costs.push_back(*hosts);
  return costs;
}

std::vector<UnitStates::Booked> UnitStates::bookings(Instant from, Instant to) const {
  std::vector<Booked> all;
  for (std::uint32_t i = 0; i < pools_.size(); ++i)
    for (event::GpuBooking& booking : gpu_bookings(fleet_->fleet().destinations[i], lives(pools_[i]), from, to))
      all.push_back({DestinationId{i}, std::move(booking)});
  return all;
}

}  // namespace ace
