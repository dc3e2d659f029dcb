#pragma once
/// What the spine has not been told yet of moved knees, prices and health.
#include <cstdint>
#include <utility>
#include <vector>

#include "dispatch/belief.h"

namespace ace {

/// At most one pending change per kind, offer and class, so it is bounded whether or not anybody takes them.
class Changes {
 public:
  explicit Changes(const Snapshot& snapshot)
      : offers_(snapshot.offers().size()),
        classes_(snapshot.fleet().slo_classes.size()),
        pending_of_(offers_ * (kKinds + classes_), kNone),
        health_(offers_, 1.0),
        price_(offers_, 0.0) {}

  void note(Belief::Change::What what, Instant at, OfferId offer, SloId slo, double before, double after) {
    const std::size_t kind = slo.valid() ? kKinds + slo.value : static_cast<std::size_t>(what);
    std::uint32_t& place = pending_of_[kind * offers_ + offer.value];
    if (place == kNone) {
      place = static_cast<std::uint32_t>(pending_.size());
      pending_.push_back({what, at, offer, slo, before, after});
      return;
    }
    pending_[place].at = at;
    pending_[place].after = after;
  }
  std::vector<Belief::Change> take() {
    if (!pending_.empty()) pending_of_.assign(pending_of_.size(), kNone);
    return std::exchange(pending_, {});
  }
  /// As last noted.
  double& health(OfferId offer) { return health_[offer.value]; }
  double& price(OfferId offer) { return price_[offer.value]; }

 private:
  static constexpr std::size_t kKinds = 5;
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  std::size_t offers_, classes_;
  std::vector<std::uint32_t> pending_of_;  // by kind or class, by offer
  std::vector<Belief::Change> pending_;
  std::vector<double> health_, price_;  // by offer
};

}  // namespace ace
