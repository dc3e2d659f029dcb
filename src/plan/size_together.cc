#include "plan/size_together.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plan/benders.h"

namespace ace {
namespace {

constexpr double kHoursOfMonth = 730.0;

std::size_t steps_of_day(const Series& demand) {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, nanos(kDay) / nanos(demand.step)));
}

/// Days of the shortest window, from its start on; a begun last one is left out.
std::size_t whole_days(std::span<const PoolToSize> pools) {
  std::size_t days = static_cast<std::size_t>(-1);
  for (const PoolToSize& pool : pools) days = std::min(days, pool.demand.values.size() / steps_of_day(pool.demand));
  return days;
}

}  // namespace

Result<std::vector<std::vector<std::int64_t>>> size_together(std::span<const PoolToSize> pools,
                                                             const SizingLimits& limits, const LpSolver& solver) {
  if (limits.reserve && !(*limits.reserve >= 0.0 && *limits.reserve <= 1.0))
    return Error(Errc::bad_input, fmt::format("the reserve is for the quantile {}; expected 0 to 1", *limits.reserve));
  const bool by_day = limits.tail_weight > 0.0;
  CommitmentProblem all;
  all.tail_weight = limits.tail_weight;
  all.tail = limits.tail;
  all.scenarios = by_day ? whole_days(pools) : 1;
  if (by_day && all.scenarios < 2)
    return Error(
        Errc::bad_input,
        "the days of the window are the scenarios of CVaR, and there are fewer than two whole ones to plan on");
  double hours = 0.0;
  for (const PoolToSize& pool : pools) {
    const SizingProblem& problem = pool.problem;
    hours = by_day ? 24.0 : problem.load.hours();
    const std::size_t first_cell = all.cells.size(), first = all.commitments.size();
    for (const Supply& s : problem.supplies)
      all.commitments.push_back({.name = s.name,
                                 .unit_cost = static_cast<double>(s.fee_hourly.nano) * 1e-9 * hours,
                                 .units_min = s.units_min,
                                 .increment = s.increment,
                                 .units_max = s.units_max,
                                 .adds = {}});
    for (std::size_t s = 0; s < all.scenarios; ++s) {
      CommitmentCell cell{.problem = problem, .held = {}, .scenario = s};
      if (by_day) {
        const std::size_t steps = steps_of_day(pool.demand);
        Result<AbsorbedLoad> load = AbsorbedLoad::of(std::span(pool.demand.values).subspan(s * steps, steps),
                                                     24.0 / static_cast<double>(steps), pool.burst);
        if (!load) return std::move(load).error().with(fmt::format("day {} of the window", s + 1));
        cell.problem.load = *std::move(load);
      }
      if (limits.reserve) cell.capacity_min = problem.load.quantile(*limits.reserve);
      for (std::size_t k = 0; k < problem.supplies.size(); ++k)
        all.commitments[first + k].adds.push_back({first_cell + s, k});
      all.cells.push_back(std::move(cell));
    }
  }
  if (limits.budget_monthly) all.budget = *limits.budget_monthly * hours / kHoursOfMonth;
  const Result<CommitmentPlan> plan = solve_by_cuts(all, solver);
  if (!plan) return Error(plan.error());
  std::vector<std::vector<std::int64_t>> units;
  std::size_t at = 0;
  for (const PoolToSize& pool : pools) {
    units.emplace_back();
    for (std::size_t k = 0; k < pool.problem.supplies.size(); ++k)
      units.back().push_back(std::llround(plan->units[at++]));
  }
  return units;
}

}  // namespace ace
