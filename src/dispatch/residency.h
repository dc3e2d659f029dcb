#pragma once
/// What pools hold in memory, for whom that will do, and what fetching the rest would cost a request.
#include <cstdint>
#include <vector>

#include "core/statistics.h"
#include "core/time.h"
#include "dispatch/belief.h"
#include "dispatch/live.h"
#include "dispatch/snapshot.h"

namespace ace {

/// Price of a load to the request that causes it, nano-USD, not negative (ECONOMICS 3):
///
///   (load + reload) unit-seconds x the unit's hourly price / requests expected until eviction
///
/// A stay costs the way there and the way back of what it displaces once, whoever it serves: charged whole to the first
/// request the way back alone (some ten cents) would outbid any API, and no guest would ever come.
/// @param load_s, reload_s  seconds that all `units` are taken; reload_s 0 where nobody used what is displaced
/// @param hourly  of one unit
/// @param requests  at least 1 is taken
double load_price(double load_s, double reload_s, double units, Usd hourly, double requests);

/// Writes Live.resident, Live.ready and Live.warmth. A guest is expected to serve, until it is evicted, its model's
/// requests per second (averaged over about ten minutes) times the mean of its stays so far; before the first, an hour.
class Residency {
 public:
  Residency(const Snapshot& snapshot, Live& live);

  void holds(Instant now, const Belief::Holding& holding, Live& live);
  /// A request for this model was sent to this offer.
  void dispatched(Instant now, ModelId requested, OfferId offer);
  /// Prices every load anew. @param units running, by destination
  void price(Instant now, const std::vector<std::int64_t>& units, Live& live);

 private:
  struct Guest {
    OfferId offer;
    RateEwma asked{10 * kMinute};
    Duration stay{kHour};  ///< mean
    Instant since{};       ///< of the present stay
    bool there = false;
  };
  struct Pool {
    std::vector<std::size_t> guests;  ///< positions in guests_
    std::vector<OfferId> home;
    double reload_s = 0.0;
    bool home_used = false;
  };
  void set(OfferId offer, bool resident, bool open, double load_s, Live& live) const;

  const Snapshot* snapshot_;
  std::vector<double> patience_s_;                  ///< by class: the longest load that fits it
  std::vector<Pool> pools_;                         ///< by destination
  std::vector<Guest> guests_;                       ///< by offer
  std::vector<std::vector<std::size_t>> by_model_;  ///< positions in guests_
};

}  // namespace ace
