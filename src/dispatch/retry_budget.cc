#include "dispatch/retry_budget.h"

#include <algorithm>

namespace ace {

void RetryBudget::advance(Instant now) {
  const std::int64_t second = floor_div(nanos(now), nanos(kSecond));
  if (second <= second_) return;
  const std::int64_t gone = std::min(second - second_, kBins);
  for (std::int64_t i = 1; i <= gone; ++i) {
    Bin& bin = bins_[static_cast<std::size_t>((second - gone + i) % kBins)];
    sum_.dispatched -= bin.dispatched;
    sum_.retried -= bin.retried;
    bin = {};
  }
  second_ = second;
}

bool RetryBudget::spend(Instant now) {
  advance(now);
  const std::int64_t allowed = std::max(least_, sum_.dispatched * share_ppm_ / 1'000'000);
  if (share_ppm_ <= 0 || sum_.retried >= allowed) return false;
  ++bins_[index()].retried;
  ++sum_.retried;
  return true;
}

}  // namespace ace
