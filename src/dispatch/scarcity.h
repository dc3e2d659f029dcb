#pragma once
/// The shadow price of scarce cheap capacity: keeps it for the requests whose alternative is dearest.
#include <array>
#include <cstdint>
#include <vector>

#include "core/time.h"
#include "dispatch/live.h"
#include "dispatch/snapshot.h"

namespace ace {

/// Highest value per unit of use, by a sketch weighted with use: the mean of the dearest bucket once the dearest 1% of
/// the use is set aside, so that one tiny request with a dear alternative does not price a whole destination.
class DearestUse {
 public:
  /// @param value nano-USD  @param use share of the cap, positive
  void add(double value, double use);
  [[nodiscard]] double per_unit() const;  ///< nano-USD per whole share; 0 if nothing was seen
  void halve();                           ///< once an hour: forget slowly

 private:
  static constexpr std::size_t kBuckets = 192;  ///< two per octave from 1 nano-USD per share up
  struct Bucket {
    double use = 0.0, value = 0.0;
  };
  std::array<Bucket, kBuckets> buckets_{};
  double use_ = 0.0;
};

/// Learns lambda(d, r) every period (ECONOMICS 3):
///
///   lambda <- clamp(lambda + 0.05 L (offered - k), 0, L)
///
/// offered: use of r, as a share of its cap, by all requests of the period for which d is cheapest with congestion left
/// out; for what is held (slots, KV) that is arrivals x use x predicted residence, for what flows (prefill, meters,
/// rate windows) it is amounts over what fits the period. L: highest outside price per unit of r. k: the knee, 1 for
/// resources that do not queue. A destination whose offered load stays under 0.9 k for kQuiet periods is not expected
/// to reach its knee: lambda is 0 at once. The resource shown is the one offered most of.
class Scarcity {
 public:
  static constexpr double kEta = 0.05;
  static constexpr int kQuiet = 6;
  explicit Scarcity(const Snapshot& snapshot);

  /// What a request would use of the offer: by resource, in shares of the cap as decide() counts them.
  using Uses = std::array<double, kResources>;
  /// @param value the request's reference PAYG price, nano-USD
  /// @param residence expected, for what is held
  void offered(OfferId cheapest, const Uses& uses, double value, Duration residence);
  /// Ends a period of this length. Writes `shadow_price` and `scarce` of the offers whose price moved and returns them.
  std::span<const OfferId> close(Duration period, Live& live);
  /// Once an hour.
  void forget();
  /// Demand of the period so far, as a share of the cap times seconds.
  [[nodiscard]] double lambda(DestinationId d, Resource r) const {
    return sites_[d.value].lambda[static_cast<std::size_t>(r)];
  }

 private:
  struct Site {  // by destination
    std::vector<OfferId> offers;
    std::array<double, kResources> flow_s{};  ///< seconds of flow that fill the cap; 0 = held for the residence
    std::array<double, kResources> offered_s{}, lambda{};
    std::array<int, kResources> quiet{};
    std::array<DearestUse, kResources> dearest;
    bool active = false;
    std::uint32_t requests = 0;  ///< every fourth teaches `dearest`, which is enough for a quantile
  };
  bool settle(Site& site, double period_s, double knee);
  std::vector<Site> sites_;
  std::vector<std::uint32_t> site_of_;  ///< by offer
  std::vector<OfferId> moved_;
};

}  // namespace ace
