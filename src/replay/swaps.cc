#include "replay/swaps.h"

#include <algorithm>

namespace ace {

Swaps::Swaps(const Snapshot& fleet, bool allowed)
    : fleet_(&fleet), pools_(fleet.fleet().destinations.size()), homes_(fleet.fleet().models.size()) {
  for (const Offer& offer : fleet.offers()) {
    Pool& pool = pools_[offer.destination.value];
    const Duration load = from_seconds(offer.load_s);
    if (offer.resident)
      pool.home_load += load;
    else if (offer.guest() && allowed)
      pool.longest_load = std::max(pool.longest_load, load);
  }
  for (const Offer& offer : fleet.offers()) {  // a home is what guests come to
    Pool& pool = pools_[offer.destination.value];
    pool.swaps = pool.swaps || (offer.resident && pool.longest_load > Duration{0});
  }
  for (std::uint32_t i = 0; i < fleet.offers().size(); ++i) {
    const Offer& offer = fleet.offers()[i];
    if (offer.resident && pools_[offer.destination.value].swaps)
      homes_[offer.model.value].emplace_back(offer.destination, OfferId{i});
  }
}

void Swaps::start(Instant now) {
  for (Pool& pool : pools_) pool.last_used = now;
  plan_next();
}

Duration Swaps::spell(const Pool& pool) const {
  return pool.home_load + (pool.guest.valid() ? from_seconds((*fleet_)[pool.guest].load_s) : pool.longest_load);
}

Instant Swaps::due(const Pool& pool) const {
  if (!pool.swaps) return Instant::max();
  switch (pool.state) {
    case State::home:
      return pool.open || pool.in_flight > 0 ? Instant::max() : pool.last_used + spell(pool);
    case State::guest:
      return pool.in_flight > 0 ? Instant::max() : pool.last_used + spell(pool);
    case State::fetching:
    case State::returning:
      return pool.until;
    case State::leaving:
      return Instant::max();  // what runs there ends, or is lost
  }
  return Instant::max();
}

void Swaps::plan_next() {
  next_ = Instant::max();
  for (const Pool& pool : pools_) next_ = std::min(next_, due(pool));
}

void Swaps::tell(std::size_t destination) {
  const Pool& pool = pools_[destination];
  Belief::Holding holding;
  holding.destination = DestinationId{static_cast<std::uint32_t>(destination)};
  holding.guest = pool.guest;
  holding.loaded = pool.state != State::fetching && pool.state != State::returning;
  holding.open = pool.state == State::home ? pool.open : pool.state == State::guest || pool.state == State::fetching;
  moved_.push_back(holding);
}

void Swaps::begin_load(Pool& pool, Instant now, State state, Duration takes) {
  pool.state = state;
  pool.open = false;
  pool.until = now + takes;
  ++pool.loads.count;
  pool.loads.time += takes;
}

void Swaps::tick(Instant now) {
  for (std::size_t d = 0; d < pools_.size(); ++d) {
    Pool& pool = pools_[d];
    if (due(pool) > now) continue;
    switch (pool.state) {
      case State::home:
        pool.open = true;
        break;
      case State::fetching:
        pool.state = State::guest;
        pool.last_used = now;
        break;
      case State::guest:
        pool.guest = OfferId{};
        begin_load(pool, now, State::returning, pool.home_load);
        break;
      case State::returning:
        pool.state = State::home;
        pool.last_used = now;
        break;
      case State::leaving:
        break;
    }
    tell(d);
  }
  plan_next();
}

Instant Swaps::fetch(Instant now, OfferId guest) {
  const std::uint32_t d = (*fleet_)[guest].destination.value;
  Pool& pool = pools_[d];
  if (pool.state != State::fetching) {
    ACE_CHECK(pool.state == State::home && pool.open && pool.in_flight == 0, "a guest comes to an idle home");
    pool.guest = guest;
    begin_load(pool, now, State::fetching, from_seconds((*fleet_)[guest].load_s));
    tell(d);
    plan_next();
  }
  ACE_CHECK(pool.guest == guest, "one guest at a time");
  return pool.until;
}

void Swaps::began(Instant now, DestinationId destination) {
  Pool& pool = pools_[destination.value];
  if (!pool.swaps) return;
  ++pool.in_flight;
  pool.last_used = now;
  if (std::exchange(pool.open, false)) tell(destination.value);
  plan_next();
}

void Swaps::ended(Instant now, DestinationId destination) {
  Pool& pool = pools_[destination.value];
  if (!pool.swaps) return;
  --pool.in_flight;
  pool.last_used = now;
  if (pool.state == State::leaving && pool.in_flight == 0) {
    pool.guest = OfferId{};
    begin_load(pool, now, State::returning, pool.home_load);
    tell(destination.value);
  }
  plan_next();
}

void Swaps::asked(Instant now, ModelId model) {
  for (const auto& [destination, home] : homes_[model.value]) {
    Pool& pool = pools_[destination.value];
    if (pool.state == State::home) {
      pool.last_used = now;
      if (std::exchange(pool.open, false)) tell(destination.value);
      plan_next();
    } else if (pool.state == State::guest) {
      pool.state = State::leaving;
      if (pool.in_flight == 0) {
        pool.guest = OfferId{};
        begin_load(pool, now, State::returning, pool.home_load);
      }
      tell(destination.value);
      plan_next();
    }
  }
}

}  // namespace ace
