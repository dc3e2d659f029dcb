#pragma once
/// What each destination serves and could serve, in tokens per second: the figures behind the contingency.
#include <cstdint>
#include <vector>

#include "core/time.h"
#include "dispatch/contingency.h"
#include "dispatch/live.h"
#include "dispatch/occupancy.h"
#include "dispatch/snapshot.h"

namespace ace {

class Loads {
 public:
  explicit Loads(const Snapshot& snapshot);
  void admitted(OfferId offer, double tokens) {
    Site& site = sites_[site_of_[offer.value]];
    site.tokens += tokens;
    site.requests += 1.0;
  }
  /// Ends a period of this length and computes every model's contingency.
  void close(Instant now, Duration period, const Occupancy& occupancy, const Live& live);
  /// Infinite for a model without load.
  [[nodiscard]] double contingency(ModelId model) const { return contingency_[model.value]; }
  /// Could the loss of some single destination not be absorbed?
  [[nodiscard]] bool any_short() const { return short_; }

 private:
  struct Site {                           // by destination
    double tokens = 0.0, requests = 0.0;  ///< of the running period
    double tokens_per_s = 0.0, requests_per_s = 0.0;
    double peak = 0.0;  ///< tokens/s of the busiest period
  };
  [[nodiscard]] double free_room(Instant now, OfferId offer, const Occupancy& occupancy, const Live& live) const;
  const Snapshot* snapshot_;
  std::vector<Site> sites_;
  std::vector<std::uint32_t> site_of_;     // by offer
  std::vector<std::vector<OfferId>> own_;  // by model
  std::vector<double> contingency_;        // by model
  std::vector<Room> rooms_;                // scratch
  bool short_ = false;
};

}  // namespace ace
