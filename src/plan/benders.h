#pragma once
/// Commitments by decomposition.
///
/// Hours are separable once it is known what is held, and then their cost is the merit order's, so the program is cut
/// in two (Benders; L-shaped, Van Slyke and Wets 1969): a small master over what is bought, and tangents of what each
/// step of the merit order absorbs, read off the load curve. It needs variable costs of 0 or more, which check()
/// demands: 0 is the bound of a scenario's cost.
#include <vector>

#include "plan/commitments.h"

namespace ace {

struct CommitmentPlan {
  std::vector<double> units;          ///< of each commitment
  double fixed = 0.0;                 ///< USD
  double cost = 0.0;                  ///< what is minimised
  double bound = 0.0;                 ///< no plan costs less
  std::vector<double> scenario_cost;  ///< USD, without `fixed`
  int masters = 0;                    ///< programs that were solved
};

struct CutOptions {
  double gap = 1e-7;   ///< relative, between cost and bound
  int masters = 1000;  ///< at most
};

/// @return bad_input as check() or for a reference out of range; out_of_range if nothing meets budget, reserve and
///         maxima together; unavailable if the gap is open after that many masters
Result<CommitmentPlan> solve_by_cuts(const CommitmentProblem& problem, const LpSolver& solver,
                                     const CutOptions& options = {});

}  // namespace ace
