#pragma once
/// Stretches of time of which the spine holds nothing.
#include <algorithm>
#include <vector>

#include "core/time.h"

namespace ace {

/// [from, to).
struct SpineGap {
  Instant from{}, to{};
  friend auto operator<=>(const SpineGap&, const SpineGap&) = default;
};

/// Gaps in order of time, as one where they touch. What is decided inside one cannot be verified: it is booked,
/// and what it saves is disallowed (ECONOMICS 7).
class SpineGaps {
 public:
  SpineGaps() = default;
  /// @param gaps in any order, each with from before to; others are left out
  explicit SpineGaps(std::vector<SpineGap> gaps) {
    std::sort(gaps.begin(), gaps.end());
    for (const SpineGap& gap : gaps) {
      if (gap.from >= gap.to) continue;
      if (!gaps_.empty() && gap.from <= gaps_.back().to)
        gaps_.back().to = std::max(gaps_.back().to, gap.to);
      else
        gaps_.push_back(gap);
    }
  }
  [[nodiscard]] bool hold(Instant t) const {
    const auto after =
        std::upper_bound(gaps_.begin(), gaps_.end(), t, [](Instant at, const SpineGap& gap) { return at < gap.from; });
    return after != gaps_.begin() && t < std::prev(after)->to;
  }
  [[nodiscard]] const std::vector<SpineGap>& all() const { return gaps_; }

 private:
  std::vector<SpineGap> gaps_;
};

}  // namespace ace
