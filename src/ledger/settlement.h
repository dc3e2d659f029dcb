#pragma once
/// Who pays what: marginal cost by settlement policy, fixed cost by use, idle by idle policy. ECONOMICS 9.
#include <map>
#include <utility>
#include <vector>

#include "ledger/ledger.h"

namespace ace {

/// The accounts that a settlement reads.
struct CostBooks {
  const Settler& settler;
  const Ledger::Options& options;
  const std::map<std::pair<DestinationId, event::FixedCost::Kind>, Usd>& fixed;
  const std::map<DestinationId, std::int64_t>& used_ppm;
};

/// Fills charges, clearing, fixed_lines, adjustments and the idle sums of `s`, whose usage lines are there and sorted,
/// so that
///   sum of usage totals + sum of adjustments = C4 + F, to the nano-dollar, under every policy and grouping.
void settle_costs(const CostBooks& books, Statement& s);

}  // namespace ace
