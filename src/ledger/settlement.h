#pragma once
/// Who pays what: marginal cost by settlement policy, fixed cost by use, idle by idle policy. ECONOMICS 9.
#include <map>
#include <utility>
#include <vector>

#include "ledger/fold.h"

namespace ace {

/// The accounts that a settlement reads.
struct CostBooks {
  const fold::Measures& measures;
  const Ledger::Options& options;
  const std::map<std::pair<DestinationId, event::FixedCost::Kind>, fold::Fixed>& fixed;
};

/// Fills charges, clearing, fixed_lines, `fixed`, `fixed_other`, adjustments and the idle sums of `s`, whose usage
/// lines are there and sorted, so that
///   sum of usage totals + sum of adjustments = C4 + F, to the nano-dollar, under every policy and grouping.
void settle_costs(const CostBooks& books, Statement& s);

}  // namespace ace
