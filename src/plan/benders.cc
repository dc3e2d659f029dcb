#include "plan/benders.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "plan/purchases.h"

namespace ace {
namespace {

/// Variable cost of one cell at given units, and its slope in each: both exact, from below everywhere else.
struct Tangent {
  double cost = 0.0;
  std::vector<double> slope;  ///< by supply, not positive
};

/// cost = p D - sum over the stack of (next dearer - own) x A(level): each level, moved up, replaces the next dearer.
Tangent tangent_of(const SizingProblem& problem, const std::vector<std::size_t>& order,
                   const std::vector<double>& units) {
  Tangent tangent{problem.payg * problem.load.total(), std::vector<double>(units.size(), 0.0)};
  std::vector<double> levels;
  double level = 0.0;
  for (const std::size_t k : order) levels.push_back(level += problem.supplies[k].capacity * units[k]);
  double slope = 0.0, dearer = problem.payg;
  for (std::size_t i = order.size(); i-- > 0;) {
    const Supply& supply = problem.supplies[order[i]];
    tangent.cost -= (dearer - supply.variable) * problem.load.at(levels[i]);
    slope -= (dearer - supply.variable) * problem.load.hours_at_work(levels[i]);
    tangent.slope[order[i]] = slope * supply.capacity;
    dearer = supply.variable;
  }
  return tangent;
}

/// mean and CVaR of the scenarios as the objective has them.
double blended(const CommitmentProblem& problem, const std::vector<double>& costs) {
  const double n = static_cast<double>(costs.size());
  const double mean = std::accumulate(costs.begin(), costs.end(), 0.0) / n;
  if (problem.tail_weight <= 0.0) return mean;
  std::vector<double> worst = costs;
  std::sort(worst.rbegin(), worst.rend());
  double left = (1.0 - problem.tail) * n, sum = 0.0;
  const double all = left;
  for (std::size_t i = 0; i < worst.size() && left > 0.0; ++i) {
    sum += worst[i] * std::min(1.0, left);
    left -= 1.0;
  }
  return (1.0 - problem.tail_weight) * mean + problem.tail_weight * sum / all;
}

/// The master with its tangents so far.
class Master {
 public:
  Master(const CommitmentProblem& problem, bool whole) : purchases_(problem, whole, program_) {
    const double n = static_cast<double>(problem.scenarios), w = problem.tail_weight;
    for (std::size_t s = 0; s < problem.scenarios; ++s)
      costs_.push_back(program_.add_column((1.0 - w) / n, {0.0, kInfinite}));
    if (w <= 0.0) return;
    const LinearProgram::Column at_risk = program_.add_column(w, {0.0, kInfinite});  // where the tail begins
    for (std::size_t s = 0; s < problem.scenarios; ++s) {
      const LinearProgram::Column beyond = program_.add_column(w / (n * (1.0 - problem.tail)), {0.0, kInfinite});
      const LinearProgram::Row row = program_.add_row({0.0, kInfinite});  // beyond + at_risk - cost >= 0
      program_.add_term(row, beyond, 1.0);
      program_.add_term(row, at_risk, 1.0);
      program_.add_term(row, costs_[s], -1.0);
    }
  }
  /// cost of scenario s >= constant + slopes x units
  struct Cut {
    std::size_t scenario = 0;
    double constant = 0.0;
    std::vector<double> slopes;
  };
  void add(const Cut& cut) {
    const LinearProgram::Row row = program_.add_row({cut.constant, kInfinite});
    program_.add_term(row, costs_[cut.scenario], 1.0);
    for (std::size_t i = 0; i < cut.slopes.size(); ++i) purchases_.term(program_, row, i, -cut.slopes[i]);
  }
  [[nodiscard]] Result<LpSolution> solve(const LpSolver& solver, double gap) const {
    LpSolver::Options options;
    options.gap = gap;
    return solver.solve(program_, options);
  }
  [[nodiscard]] std::vector<double> units(const LpSolution& solution) const {
    return purchases_.units(solution.columns);
  }

 private:
  LinearProgram program_;
  Purchases purchases_;
  std::vector<LinearProgram::Column> costs_;
};

class Cutting {
 public:
  Cutting(const CommitmentProblem& problem, const LpSolver& solver, const CutOptions& options)
      : problem_(&problem), solver_(&solver), options_(options) {
    for (const CommitmentCell& cell : problem.cells) orders_.push_back(merit_order(cell.problem));
    best_.cost = std::numeric_limits<double>::infinity();
  }

  Result<CommitmentPlan> run() {
    // Tangents of the relaxed program hold for whole sizes too, and cost a linear program each instead of a search.
    if (Result<void> relaxed = close_gap(false); !relaxed) return std::move(relaxed).error();
    if (!problem_->whole) return best_;
    best_.cost = std::numeric_limits<double>::infinity();
    if (Result<void> whole = close_gap(true); !whole) return std::move(whole).error();
    return best_;
  }

 private:
  Result<void> close_gap(bool whole) {
    Master master(*problem_, whole);
    stuck_ = 0;
    for (const Master::Cut& cut : cuts_) master.add(cut);
    for (double last = -1.0; best_.masters < options_.masters;) {
      const Result<LpSolution> solution = master.solve(*solver_, options_.gap / 4.0);
      if (!solution) return Error(solution.error()).with("commitments");
      ++best_.masters;
      best_.bound = solution->bound;
      const std::size_t before = cuts_.size();
      evaluate(master.units(*solution));
      if (best_.cost - best_.bound <= options_.gap * std::max(1.0, std::abs(best_.cost))) return {};
      for (std::size_t i = before; i < cuts_.size(); ++i) master.add(cuts_[i]);
      // The solver's own tolerance may leave a gap that no tangent closes: the same bound thrice is its last word.
      stuck_ = best_.bound <= last ? stuck_ + 1 : 0;
      last = best_.bound;
      if (stuck_ >= 3 && best_.cost - best_.bound <= 1e-6 * std::max(1.0, std::abs(best_.cost))) return {};
    }
    return Error(Errc::unavailable,
                 fmt::format("commitments: between {} and {} USD after {} masters; allow more of them, "
                             "or a wider gap",
                             best_.bound, best_.cost, best_.masters));
  }

  /// The true cost of these units, and a tangent for each scenario there.
  void evaluate(const std::vector<double>& units) {
    std::vector<std::vector<double>> by_cell;
    for (const CommitmentCell& cell : problem_->cells) {
      by_cell.emplace_back(cell.problem.supplies.size());
      for (std::size_t k = 0; k < by_cell.back().size(); ++k) by_cell.back()[k] = held_units(cell, k);
    }
    double fixed = 0.0;
    for (std::size_t i = 0; i < units.size(); ++i) {
      fixed += problem_->commitments[i].unit_cost * units[i];
      for (const Commitment::Adds& adds : problem_->commitments[i].adds) by_cell[adds.cell][adds.supply] += units[i];
    }
    std::vector<Master::Cut> cuts(problem_->scenarios);
    std::vector<double> costs(problem_->scenarios, 0.0);
    std::vector<Tangent> tangents;
    for (std::size_t c = 0; c < problem_->cells.size(); ++c) {
      tangents.push_back(tangent_of(problem_->cells[c].problem, orders_[c], by_cell[c]));
      costs[problem_->cells[c].scenario] += tangents[c].cost;
    }
    for (std::size_t s = 0; s < cuts.size(); ++s) cuts[s] = {s, costs[s], std::vector<double>(units.size(), 0.0)};
    for (std::size_t i = 0; i < units.size(); ++i)
      for (const Commitment::Adds& adds : problem_->commitments[i].adds) {
        Master::Cut& cut = cuts[problem_->cells[adds.cell].scenario];
        const double slope = tangents[adds.cell].slope[adds.supply];
        cut.slopes[i] += slope;
        cut.constant -= slope * units[i];
      }
    cuts_.insert(cuts_.end(), cuts.begin(), cuts.end());
    const double cost = fixed + blended(*problem_, costs);
    if (cost >= best_.cost) return;
    best_.units = units;
    best_.fixed = fixed;
    best_.cost = cost;
    best_.scenario_cost = costs;
  }

  const CommitmentProblem* problem_;
  const LpSolver* solver_;
  CutOptions options_;
  std::vector<std::vector<std::size_t>> orders_;  ///< by cell
  std::vector<Master::Cut> cuts_;
  CommitmentPlan best_;
  int stuck_ = 0;
};

}  // namespace

Result<CommitmentPlan> solve_by_cuts(const CommitmentProblem& problem, const LpSolver& solver,
                                     const CutOptions& options) {
  if (Result<void> checked = check(problem); !checked) return std::move(checked).error();
  return Cutting(problem, solver, options).run();
}

}  // namespace ace
