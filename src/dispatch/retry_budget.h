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
  /// A quiet service may still retry this often in the window.
  static constexpr std::int64_t kLeast = 3;
  /// @param share_ppm retries allowed per million dispatches
  explicit RetryBudget(std::int64_t share_ppm) : share_ppm_(share_ppm) {}

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
  std::int64_t share_ppm_;
  std::array<Bin, kBins> bins_{};
  Bin sum_;
  std::int64_t second_ = 0;
};

}  // namespace ace
