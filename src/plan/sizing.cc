#include "plan/sizing.h"

#include <algorithm>

namespace ace {
namespace {

/// Whole sizes that hold at least `units` of each.
std::vector<std::int64_t> at_least(const SizingProblem& problem, const std::vector<double>& units) {
  std::vector<std::int64_t> sizes;
  for (std::size_t k = 0; k < units.size(); ++k) sizes.push_back(sizes_around(problem.supplies[k], units[k]).ceil);
  return sizes;
}

std::vector<std::int64_t> best_sizes(const SizingProblem& problem) {
  return rounded(problem, screening_optimum(problem));
}

}  // namespace

Result<Sizing> size_up(const SizingProblem& train, const SizingProblem& judge, std::vector<std::int64_t> optimum,
                       const std::vector<double>& falls) {
  for (const SizingProblem* problem : {&train, &judge})
    if (Result<void> checked = check(*problem); !checked) return std::move(checked).error();
  Sizing sizing;
  const std::size_t n = train.supplies.size();
  sizing.relaxed = screening_optimum(train);
  sizing.p90 = train.load.quantile(0.9);
  std::vector<std::int64_t> today(n);
  for (std::size_t k = 0; k < n; ++k) today[k] = train.supplies[k].units_today;

  const struct {
    SizedPlan* plan;
    const char* name;
    std::vector<std::int64_t> units;
  } plans[] = {{&sizing.nothing, "nothing", std::vector<std::int64_t>(n, 0)},
               {&sizing.optimum, "optimum", optimum},
               {&sizing.availability, "p90", at_least(train, screening_at(train, sizing.p90))},
               {&sizing.today, "today", today},
               {&sizing.oracle, "oracle", best_sizes(judge)}};
  for (const auto& p : plans) {
    Result<PricedPlan> priced = price_plan(judge, p.units);
    if (!priced) return std::move(priced).error().with(p.name);
    *p.plan = {p.name, *std::move(priced)};
  }
  // With several supplies whole sizes are searched for, so that a plan of ours may beat what hindsight found.
  for (const SizedPlan* plan : {&sizing.nothing, &sizing.optimum, &sizing.availability, &sizing.today})
    if (plan->priced.total() < sizing.oracle.priced.total()) sizing.oracle.priced = plan->priced;
  sizing.regret = sizing.optimum.priced.total() - sizing.oracle.priced.total();

  const std::vector<double> held(optimum.begin(), optimum.end());
  for (std::size_t k = 0; k < n; ++k) {
    sizing.break_even.push_back(break_even_utilization(train.supplies[k], train.payg));
    // An expectation per hour, as money.
    Result<Usd> saves = usd_from_physics(value_of_next(train, held, k) / train.load.hours());
    if (!saves) return std::move(saves).error().with("the value of the next unit");
    sizing.next_saves.push_back(*saves);
  }
  for (const double fall : falls) {
    SizingProblem lower = judge;
    lower.load = judge.load.scaled(1.0 - fall);
    Result<PricedPlan> with = price_plan(lower, optimum), without = price_plan(lower, plans[0].units),
                       best = price_plan(lower, best_sizes(lower));
    for (const auto* plan : {&with, &without, &best})
      if (!*plan) return Error(plan->error()).with("exposure");
    sizing.exposure.push_back({fall, with->total(), without->total(), std::min(best->total(), with->total())});
  }
  return sizing;
}

}  // namespace ace
