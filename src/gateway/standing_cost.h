#pragma once
/// What a world costs while it is in force, whether it is used or not: FixedCost and GpuBooking events from the fleet
/// file and the time that passes. Pure: it is told the time.
#include <memory>
#include <vector>

#include "gateway/world.h"
#include "ledger/ledger.h"

namespace ace::gateway {

/// Of one world under one number of the spine, from the moment it came into force there. Every stretch of cost begins
/// then and covers the one said before, so that what a rental bills in increments never begins anew; bookings follow
/// one another. Units are those that the fleet file declares, as the belief has them.
class StandingCost {
 public:
  StandingCost(std::shared_ptr<const World> world, Instant since)
      : world_(std::move(world)), since_(since), told_(since) {}
  /// Is there anything that may ever have to be said?
  [[nodiscard]] bool any() const;
  /// What is to be said at `now`: bookings first, then the cost that follows from them, which is how `ace verify` reads
  /// it. Nothing within the millisecond in which it began, as no booking is shorter, nor where nothing passed since
  /// told().
  [[nodiscard]] std::vector<event::Event> until(Instant now) const;
  /// It was said until then.
  void said(Instant now) { told_ = now; }
  [[nodiscard]] Instant told() const { return told_; }

 private:
  std::shared_ptr<const World> world_;
  Instant since_, told_;
};

}  // namespace ace::gateway
