#pragma once
/// What each rule would have cost on a trace of availability, started again and again.
#include <cstdint>
#include <span>
#include <vector>

#include "plan/spot_policy.h"

namespace ace {

struct SpotTally {
  SpotRule rule = SpotRule::on_demand;
  std::int64_t missed = 0, evictions = 0, switches = 0;
  Duration on_spot{}, paid{}, lost{};
  Usd cost{};
};

struct SpotEvaluation {
  std::int64_t runs = 0;         ///< starts
  double availability = 0.0;     ///< share of the steps
  std::vector<SpotTally> rules;  ///< in the order of kSpotRules; sums over all runs
  Usd optimum{};                 ///< sum of the runs' optima: what who knows the trace pays
};

/// Starts the task every `stride` steps, as long as its deadline lies within the trace.
/// @return bad_input as run_spot() and spot_optimum(), and if the trace is shorter than the deadline; out_of_range if
///         all runs on demand throughout would cost more than a Usd holds
Result<SpotEvaluation> evaluate_spot(const SpotTask& task, const SpotPrices& prices,
                                     std::span<const std::uint8_t> available, Duration step, std::size_t stride = 1);

}  // namespace ace
