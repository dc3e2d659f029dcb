#pragma once
/// Linear programs by Clp, integer ones by Cbc (COIN-OR).
#include "plan/lp.h"

namespace ace {

/// One thread, no state between calls, prints nothing: the same program gives the same solution.
class CoinSolver final : public LpSolver {
 public:
  using LpSolver::solve;
  Result<LpSolution> solve(const LinearProgram& program, const Options& options) const override;
};

}  // namespace ace
