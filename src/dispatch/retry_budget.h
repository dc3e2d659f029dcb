#pragma once
/// Retries as a fraction of live traffic, so that they cannot amplify an outage.
#include <array>
#include <cstdint>

#include "core/time.h"

namespace ace {

/// Counts dispatches and retries over the last ten seconds, in bins of one. Counted are attempts the upstream may have
/// worked on and repeats at the same destination; a fast rejection re-dispatched elsewhere is spill and never asks
/// here.
class RetryBudget {
 public:
  /// @param share_ppm retries allowed per million dispatches; none at all if it is 0
  /// @param least so many are allowed in the window whatever the traffic, or a quiet service would never retry
  RetryBudget(std::int64_t share_ppm, std::int64_t least) : share_ppm_(share_ppm), least_(least) {}

  void dispatched(Instant now) {
    advance(now);
    ++bins_[index()].dispatched;
    ++sum_.dispatched;
  }
  /// Allows one more retry and counts it, or refuses.
  bool spend(Instant now);

 private:
  static constexpr std::int64_t kBins = 10;
  struct Bin {
    std::int64_t dispatched = 0, retried = 0;
  };
  [[nodiscard]] std::size_t index() const { return static_cast<std::size_t>(second_ % kBins); }
  void advance(Instant now);
  std::int64_t share_ppm_, least_;
  std::array<Bin, kBins> bins_{};
  Bin sum_;
  std::int64_t second_ = 0;
};

}  // namespace ace
