#pragma once
/// The knees of a whole fleet, and which of them applies where.
#include <cstdint>
#include <span>
#include <vector>

#include "dispatch/belief.h"
#include "dispatch/kin.h"
#include "dispatch/knee.h"
#include "dispatch/live.h"
#include "dispatch/occupancy.h"
#include "dispatch/snapshot.h"

namespace ace {

/// One Knee per (offer with a queue, class). Latency curve by precedence: configured measurement > online fit >
/// roofline. The prior is of the curve as LatencyFit has it and of the prompts and outputs really seen; it stands until
/// traffic has moved the knee.
///
/// Live.knee is the smallest over the classes in flight at the destination or dispatched there within the mean
/// residence of its requests (at least a look-ahead period); kKneeMost where nothing queues.
class Knees {
 public:
  /// @param scale of every prior; 1 but in tests
  Knees(const Snapshot& snapshot, const Occupancy& occupancy, const LatencyFit& latency, double scale, Live& live);

  void admitted(const Claim& claim, double share, Live& live);
  /// @return did a knee move
  bool completed(Instant now, const Claim& claim, bool slo_met, Live& live);
  /// The claim ended without an answer.
  void left(const Claim& claim);
  /// Every period: closes windows and drops the classes that have gone.
  struct Moved {
    OfferId offer;
    SloId slo;
    double before = 0.0, after = 0.0;
  };
  std::span<const Moved> close(Instant now, Duration window, bool learn, Live& live);
  /// Every few minutes: priors of knees that traffic has not moved yet, from the curve as fitted so far.
  std::span<const Moved> refit(Live& live);
  /// What another one has learnt of the same offers and classes. @param before_live its columns
  void inherit(const Knees& before, const Kin& kin, const Live& before_live, Live& live);
  /// The last move that completed() made.
  [[nodiscard]] const Moved& last() const { return last_; }

 private:
  struct Site {  // by offer with a queue
    OfferId offer;
    std::uint64_t answers = 0;  ///< that the curve of the last refit knew
  };
  struct Presence {  // by destination and class
    std::int32_t in_flight = 0;
    Instant last{};
    bool counts = false;
  };
  [[nodiscard]] Knee& knee(std::uint32_t site, SloId slo) { return knees_[site * classes_ + slo.value]; }
  [[nodiscard]] Presence& presence(DestinationId d, SloId slo) { return presence_[d.value * classes_ + slo.value]; }
  [[nodiscard]] double prior(const Site& site, std::size_t slo) const;
  /// Shows a knee that stands at its prior: there the wait takes what it may of the TTFT.
  void begin_at_prior(std::uint32_t site, SloId slo, Live& live);
  void show(std::uint32_t site, SloId slo, Live& live);
  void show_smallest(DestinationId d, Live& live);

  const Snapshot* snapshot_;
  const Occupancy* occupancy_;
  const LatencyFit* latency_;
  double scale_;
  std::size_t classes_;
  std::vector<double> epsilon_;         // by class
  std::vector<std::uint32_t> site_of_;  // by offer; kNoSite where nothing queues
  std::vector<Site> sites_;
  std::vector<Knee> knees_;         // by site and class
  std::vector<Presence> presence_;  // by destination and class
  std::vector<DestinationId> queues_;
  std::vector<Moved> moved_;
  Moved last_;
};

}  // namespace ace
