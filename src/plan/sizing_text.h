#pragma once
/// A sizing as people and machines read it.
#include <string>
#include <vector>

#include "plan/pool_trace.h"
#include "plan/sizing.h"

namespace ace {

/// What is shown of one pool. References are to what the caller keeps.
struct SizingPage {
  std::string name;
  const Series& planned_on;
  const Series& judged_on;
  bool in_sample = false;
  const BurstProfile& burst;
  const SizingProblem& train;
  const SizingProblem& judge;
  const Sizing& sizing;
  std::string limits{};  ///< that the optimum keeps to, in words; empty = none
  /// Request by request: of nothing, optimum, p90, today and oracle; empty where demand came without requests.
  std::vector<ReplayedCost> replayed{};
};
std::string to_text(const SizingPage& page);
/// One JSON object; money as decimal strings of USD.
std::string to_json(const SizingPage& page);

}  // namespace ace
