#pragma once
/// Which units run when, and what they cost whether used or not: fleet file, schedule, reactive policy, spot market.
#include <cstdint>
#include <vector>

#include "core/rng.h"
#include "ledger/ledger.h"
#include "spine/spine.h"

namespace ace {

/// A unit is billed from its request to its release. One that is switched off takes nothing new, finishes what it has
/// and is released when the last of it has left; until then it is the first to come back. One that the market takes is
/// released, and loses what it has, at the end of the notice. The youngest go first: the oldest have the warmest
/// caches.
class UnitStates {
 public:
  UnitStates(const Snapshot& fleet, const Rng& rng);

  /// How loaded a destination is, as the dispatcher believes: largest queueing share over its knee.
  using Load = double;

  struct Step {
    DestinationId destination;
    std::int64_t before = 0, running = 0;  ///< units that take requests, until now and from now on
    std::int64_t condemned = 0;            ///< running units that the market has just given notice to
    std::int64_t gone = 0;                 ///< units whose notice is over: what drains there is lost now
    const char* cause = "";
  };
  /// Units at the start of the run. The clock starts here.
  std::vector<Step> start(Instant now);
  /// The next moment at which something may change: whole minutes, or the end of a start-up or of a notice.
  [[nodiscard]] Instant next() const { return next_; }
  /// Changes at `now`, which is next(). @param load by destination
  std::vector<Step> tick(Instant now, const std::vector<Load>& load);
  /// Has a reactive pool no unit at all, running or starting? Nothing there can be loaded, so demand has to wake it.
  [[nodiscard]] bool asleep(DestinationId destination) const {
    const Pool& pool = pools_[destination.value];
    return pool.gpu && pool.up.empty() && fleet_->fleet().destinations[destination.value].units.reactive.has_value();
  }
  /// Starts a unit of a pool that is asleep, unless it rests (min_down) or the market has none.
  void wake(Instant now, DestinationId destination);
  /// A unit that was switched off has nothing left to do. @param unit its place among those of the destination that
  /// still drain, in the order of being switched off
  void drained(Instant now, DestinationId destination, std::size_t unit);
  /// All fixed cost of [from, to]: amortization, idle power, commitments, rentals with their increments, hosts.
  [[nodiscard]] std::vector<event::FixedCost> fixed_cost(Instant from, Instant to) const;
  /// Running stretches of each GPU as bookings.
  struct Booked {
    DestinationId destination;
    event::GpuBooking booking;
  };
  [[nodiscard]] std::vector<Booked> bookings(Instant from, Instant to) const;
  [[nodiscard]] std::int64_t running(DestinationId destination) const { return pools_[destination.value].running; }

 private:
  struct Unit {
    Instant requested{}, ready{}, released = Instant::max();  ///< billed over [requested, released)
  };
  struct Pool {
    bool gpu = false, rented = false;
    std::int64_t running = 0;
    std::vector<Unit> units;            ///< every unit ever started
    std::vector<std::size_t> up;        ///< positions in `units` that run or start
    std::vector<std::size_t> draining;  ///< likewise, switched off; the latest comes back first
    Instant last_down = Instant::min();
    std::vector<Instant> take_away;  ///< ends of notices of units that ran, oldest first
    Rng rng{0, ""};
  };
  [[nodiscard]] static std::vector<UnitLife> lives(const Pool& pool);
  [[nodiscard]] static std::int64_t offered(const Destination& destination, Instant t, std::int64_t otherwise);
  std::int64_t evict(Pool& pool, const Destination& destination, Instant now);
  void follow(Pool& pool, const Destination& destination, Instant now, Load load);
  void start_unit(Pool& pool, Instant now, Duration delay);
  void stop_unit(Pool& pool, Instant released);
  void switch_off(Pool& pool, Instant now);
  [[nodiscard]] static bool may_start(const Pool& pool, const Destination& destination, Instant now);
  static std::int64_t ready(const Pool& pool, Instant now);
  void plan_next(Instant now);

  const Snapshot* fleet_;
  std::vector<Pool> pools_;
  Instant next_ = Instant::max();
  std::int64_t minute_ = 0;  ///< the last whole minute that was looked at
};

}  // namespace ace
