#pragma once
/// Pools that several demands share, not all of which may go everywhere: models on one pool, regions with compliance.
/// There the merit order of an hour depends on who asks, so this is one program over all hours (lp.h), for windows of
/// up to a few thousand steps; what one demand alone uses is sized by curves (size.h) or cuts (benders.h).
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plan/lp.h"
#include "plan/size.h"

namespace ace {

struct SharedDemand {
  std::string name;
  std::vector<double> work;  ///< by step, in its own unit; all demands have as many steps
  double payg = 0.0;         ///< USD for one unit of work for an hour, without capacity
  /// Where it may go, and what it takes there; compliance is what is not listed.
  struct Use {
    std::size_t supply = 0;
    double capacity = 1.0;  ///< of the supply, for one unit of work; positive
    double variable = 0.0;  ///< USD for one unit of work for an hour; not negative
  };
  std::vector<Use> uses;
};

struct SharedProblem {
  std::vector<Supply> supplies{};  ///< their variable cost is not read: it is the demands'
  std::vector<SharedDemand> demands{};
  double hours = 1.0;  ///< of a step
  bool whole = true;
  std::optional<double> budget{};  ///< USD of fees over all steps
};

struct SharedPlan {
  std::vector<double> units;                    ///< of each supply
  std::vector<double> served;                   ///< work x hours of each demand that capacity takes
  double fixed = 0.0, cost = 0.0, bound = 0.0;  ///< USD over all steps; cost with `fixed`
};

/// @return bad_input naming the demand or supply that is wrong, or as the solver
Result<SharedPlan> size_shared(const SharedProblem& problem, const LpSolver& solver);

}  // namespace ace
