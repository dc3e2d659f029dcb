#include "plan/shared_pools.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plan/purchases.h"

namespace ace {
namespace {

Result<void> check(const SharedProblem& problem) {
  const auto wrong = [](const std::string& name, const std::string& what) {
    return Error(Errc::bad_input, fmt::format("shared pools: {}: {}", name, what));
  };
  if (problem.demands.empty() || problem.demands[0].work.empty()) return wrong("demand", "there is none");
  if (!(problem.hours > 0.0)) return wrong("step", "it lasts no time");
  if (Result<void> checked = ace::check(SizingProblem{problem.supplies, 0.0, {}}); !checked) return checked;
  for (const SharedDemand& d : problem.demands) {
    if (d.work.size() != problem.demands[0].work.size()) return wrong(d.name, "it has another number of steps");
    if (!std::isfinite(d.payg) || d.payg < 0.0) return wrong(d.name, "its PAYG price is not 0 USD or more");
    for (const double work : d.work)
      if (!std::isfinite(work) || work < 0.0)
        return wrong(d.name, fmt::format("a step has the demand {}; expected a finite number from 0 up", work));
    for (const SharedDemand::Use& use : d.uses) {
      if (use.supply >= problem.supplies.size()) return wrong(d.name, "it uses a supply that is not there");
      const bool fine =
          std::isfinite(use.capacity) && use.capacity > 0.0 && std::isfinite(use.variable) && use.variable >= 0.0;
      if (!fine) return wrong(d.name, "what it takes of a supply is not positive, or costs less than nothing");
    }
  }
  return {};
}

/// What is bought, as for one cell: its sizes, its limits and how much of it could be of use.
CommitmentProblem purchases_of(const SharedProblem& problem, double hours) {
  CommitmentProblem bought;
  bought.whole = problem.whole;
  bought.budget = problem.budget;
  const std::size_t steps = problem.demands[0].work.size();
  for (std::size_t k = 0; k < problem.supplies.size(); ++k) {
    const Supply& s = problem.supplies[k];
    std::vector<double> most(1, 0.0);  // of the supply, were all that may go there to go there
    for (std::size_t t = 0; t < steps; ++t) {
      double all = 0.0;
      for (const SharedDemand& d : problem.demands)
        for (const SharedDemand::Use& use : d.uses)
          if (use.supply == k) all += use.capacity * d.work[t];
      most[0] = std::max(most[0], all);
    }
    bought.cells.push_back({.problem = {{s}, 0.0, *AbsorbedLoad::of(most, 1.0, {})}, .held = {}});
    bought.commitments.push_back({.name = s.name,
                                  .unit_cost = static_cast<double>(s.fee_hourly.nano) * 1e-9 * hours,
                                  .units_min = s.units_min,
                                  .increment = s.increment,
                                  .units_max = s.units_max,
                                  .adds = {{k, 0}}});
  }
  return bought;
}

}  // namespace

Result<SharedPlan> size_shared(const SharedProblem& problem, const LpSolver& solver) {
  if (Result<void> checked = check(problem); !checked) return std::move(checked).error();
  const std::size_t steps = problem.demands[0].work.size();
  const CommitmentProblem bought = purchases_of(problem, problem.hours * static_cast<double>(steps));
  LinearProgram program;
  const Purchases purchases(bought, problem.whole, program);
  double all_payg = 0.0;  // from which each unit of work that capacity takes saves its price
  struct Served {
    std::size_t demand = 0;
    LinearProgram::Column column = 0;
  };
  std::vector<Served> served;
  for (std::size_t t = 0; t < steps; ++t) {
    std::vector<LinearProgram::Row> within;
    for (std::size_t k = 0; k < problem.supplies.size(); ++k) {
      within.push_back(program.add_row({-kInfinite, 0.0}));
      purchases.term(program, within[k], k, -problem.supplies[k].capacity);
    }
    for (std::size_t d = 0; d < problem.demands.size(); ++d) {
      const SharedDemand& demand = problem.demands[d];
      all_payg += demand.payg * demand.work[t] * problem.hours;
      if (demand.work[t] <= 0.0) continue;
      const LinearProgram::Row asked = program.add_row({-kInfinite, demand.work[t]});
      for (const SharedDemand::Use& use : demand.uses) {
        if (use.variable >= demand.payg) continue;
        const LinearProgram::Column column =
            program.add_column((use.variable - demand.payg) * problem.hours, {0.0, demand.work[t]});
        program.add_term(asked, column, 1.0);
        program.add_term(within[use.supply], column, use.capacity);
        served.push_back({d, column});
      }
    }
  }
  const Result<LpSolution> solution = solver.solve(program);
  if (!solution) return Error(solution.error()).with("shared pools");
  SharedPlan plan;
  plan.units = purchases.units(solution->columns);
  plan.served.resize(problem.demands.size());
  for (const Served& s : served) plan.served[s.demand] += solution->columns[s.column] * problem.hours;
  for (std::size_t k = 0; k < plan.units.size(); ++k) plan.fixed += bought.commitments[k].unit_cost * plan.units[k];
  plan.cost = all_payg + solution->cost;
  plan.bound = all_payg + solution->bound;
  return plan;
}

}  // namespace ace
