#pragma once
/// Whole sizes of all pools at once, within what limits them together.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/lp.h"
#include "plan/size.h"

namespace ace {

struct SizingLimits {
  std::optional<double> budget_monthly{};  ///< USD for 730 hours of all fees, of all pools
  /// With the largest unit out, what is held still covers this quantile of a pool's demand; in [0, 1].
  std::optional<double> reserve{};
  double tail_weight = 0.0;  ///< of CVaR against the mean, over the days of the window; in [0, 1]
  double tail = 0.95;        ///< share of days that are not the worst
};

struct PoolToSize {
  const SizingProblem& problem;
  const Series& demand;  ///< what the problem's load was made of
  const BurstProfile& burst;
};

/// Least cost over the window, or of mean and CVaR over its days as scenarios, each of which the same units serve.
/// @return units of each pool's supplies; bad_input if the tail has a weight and a window fewer than two whole days;
///         out_of_range if no sizes meet the limits
Result<std::vector<std::vector<std::int64_t>>> size_together(std::span<const PoolToSize> pools,
                                                             const SizingLimits& limits, const LpSolver& solver);

}  // namespace ace
