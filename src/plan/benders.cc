#include "plan/benders.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "plan/purchases.h"

namespace ace {
namespace {

/// A step of a cell's merit order. The cell costs p D - sum of gains x A(level), each level the capacity of this supply
/// and all before it: a level that moves up replaces the next dearer. So its cost is one concave function of one level
/// for each step, and tangents of these meet far sooner than tangents of their sum, which has as many dimensions.
struct Level {
  std::size_t cell = 0, supply = 0;
  double gain = 0.0;  ///< USD for capacity 1 at work for an hour: next dearer - own
};

std::vector<Level> levels_of(const CommitmentProblem& problem) {
  std::vector<Level> levels;
  for (std::size_t c = 0; c < problem.cells.size(); ++c) {
    const SizingProblem& sizing = problem.cells[c].problem;
    const std::vector<std::size_t> order = merit_order(sizing);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const double dearer = i + 1 < order.size() ? sizing.supplies[order[i + 1]].variable : sizing.payg;
      levels.push_back({c, order[i], dearer - sizing.supplies[order[i]].variable});
    }
  }
  return levels;
}

/// A level as capacity: constant + sum of factors x units of the commitments.
struct LevelSum {
  double constant = 0.0;
  std::vector<double> factors;
};

std::vector<LevelSum> sums_of(const CommitmentProblem& problem, const std::vector<Level>& levels) {
  std::vector<LevelSum> sums;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Level& level = levels[i];
    const CommitmentCell& cell = problem.cells[level.cell];
    LevelSum sum{0.0, std::vector<double>(problem.commitments.size(), 0.0)};
    if (i > 0 && levels[i - 1].cell == level.cell) sum = sums.back();
    const double capacity = cell.problem.supplies[level.supply].capacity;
    sum.constant += capacity * held_units(cell, level.supply);
    for (std::size_t n = 0; n < problem.commitments.size(); ++n)
      for (const Commitment::Adds& adds : problem.commitments[n].adds)
        if (adds.cell == level.cell && adds.supply == level.supply) sum.factors[n] += capacity;
    sums.push_back(std::move(sum));
  }
  return sums;
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

/// absorbed <= constant + slope x level
struct Tangent {
  std::size_t level = 0;
  double constant = 0.0, slope = 0.0;
};

/// The master with its tangents so far. Its columns: what is bought, what each level absorbs, what each scenario costs.
class Master {
 public:
  Master(const CommitmentProblem& problem, const std::vector<Level>& levels, const std::vector<LevelSum>& sums,
         bool whole)
      : sums_(&sums), purchases_(problem, whole, program_) {
    const double n = static_cast<double>(problem.scenarios), w = problem.tail_weight;
    std::vector<double> all_payg(problem.scenarios, 0.0);
    for (const CommitmentCell& cell : problem.cells)
      all_payg[cell.scenario] += cell.problem.payg * cell.problem.load.total();
    std::vector<LinearProgram::Column> costs;
    std::vector<LinearProgram::Row> at_least;
    for (std::size_t s = 0; s < problem.scenarios; ++s) {
      costs.push_back(program_.add_column((1.0 - w) / n, {0.0, kInfinite}));
      at_least.push_back(program_.add_row({all_payg[s], kInfinite}));  // cost + gains x absorbed >= all PAYG
      program_.add_term(at_least[s], costs[s], 1.0);
    }
    for (const Level& level : levels) {
      const CommitmentCell& cell = problem.cells[level.cell];
      absorbed_.push_back(program_.add_column(0.0, {0.0, cell.problem.load.total()}));
      program_.add_term(at_least[cell.scenario], absorbed_.back(), level.gain);
    }
    if (w <= 0.0) return;
    const LinearProgram::Column at_risk = program_.add_column(w, {0.0, kInfinite});  // where the tail begins
    for (std::size_t s = 0; s < problem.scenarios; ++s) {
      const LinearProgram::Column beyond = program_.add_column(w / (n * (1.0 - problem.tail)), {0.0, kInfinite});
      const LinearProgram::Row row = program_.add_row({0.0, kInfinite});  // beyond + at_risk - cost >= 0
      program_.add_term(row, beyond, 1.0);
      program_.add_term(row, at_risk, 1.0);
      program_.add_term(row, costs[s], -1.0);
    }
  }
  void add(const Tangent& tangent) {
    const LevelSum& sum = (*sums_)[tangent.level];
    const LinearProgram::Row row = program_.add_row({-kInfinite, tangent.constant + tangent.slope * sum.constant});
    program_.add_term(row, absorbed_[tangent.level], 1.0);
    for (std::size_t n = 0; n < sum.factors.size(); ++n)
      purchases_.term(program_, row, n, -tangent.slope * sum.factors[n]);
  }
  [[nodiscard]] Result<LpSolution> solve(const LpSolver& solver, double gap) const {
    LpSolver::Options options;
    options.gap = gap;
    return solver.solve(program_, options);
  }
  [[nodiscard]] std::vector<double> units(const LpSolution& solution) const {
    return purchases_.units(solution.columns);
  }
  [[nodiscard]] double absorbed(const LpSolution& solution, std::size_t level) const {
    return solution.columns[absorbed_[level]];
  }

 private:
  const std::vector<LevelSum>* sums_;
  LinearProgram program_;
  Purchases purchases_;
  std::vector<LinearProgram::Column> absorbed_;
};

class Cutting {
 public:
  Cutting(const CommitmentProblem& problem, const LpSolver& solver, const CutOptions& options)
      : problem_(&problem),
        solver_(&solver),
        options_(options),
        levels_(levels_of(problem)),
        sums_(sums_of(problem, levels_)) {
    constexpr int kFirst = 8;  // tangents to begin with, at equal steps of hours
    for (std::size_t i = 0; i < levels_.size(); ++i)
      for (int step = 0; step < kFirst; ++step) {
        const AbsorbedLoad& load = load_of(i);
        touch(i, load.level(load.hours() * step / kFirst));
      }
  }

  Result<CommitmentPlan> run() {
    // Tangents of the relaxed program hold for whole sizes too, and cost a linear program each instead of a search.
    if (Result<void> relaxed = close_gap(false); !relaxed) return std::move(relaxed).error();
    if (!problem_->whole) return best_;
    if (Result<void> whole = close_gap(true); !whole) return std::move(whole).error();
    return best_;
  }

 private:
  [[nodiscard]] const AbsorbedLoad& load_of(std::size_t level) const {
    return problem_->cells[levels_[level].cell].problem.load;
  }
  /// Both tangents at a corner of the load curve: an optimum lies on one.
  void touch(std::size_t level, double capacity) {
    const AbsorbedLoad& load = load_of(level);
    const double absorbed = load.at(capacity), right = load.hours_at_work(capacity),
                 left = load.hours_at_work_below(capacity);
    tangents_.push_back({level, absorbed - right * capacity, right});
    if (left > right) tangents_.push_back({level, absorbed - left * capacity, left});
  }

  Result<void> close_gap(bool whole) {
    best_.cost = std::numeric_limits<double>::infinity();
    Master master(*problem_, levels_, sums_, whole);
    std::size_t given = 0;
    while (best_.masters < options_.masters) {
      for (; given < tangents_.size(); ++given) master.add(tangents_[given]);
      const Result<LpSolution> solution = master.solve(*solver_, options_.gap / 4.0);
      if (!solution) return Error(solution.error()).with("commitments");
      ++best_.masters;
      best_.bound = solution->bound;
      const std::vector<double> units = master.units(*solution);
      evaluate(units);
      if (best_.cost - best_.bound <= options_.gap * std::max(1.0, std::abs(best_.cost))) return {};
      for (std::size_t i = 0; i < levels_.size(); ++i) {
        const double capacity = level_at(i, units), real = load_of(i).at(capacity);
        if (master.absorbed(*solution, i) > real + 1e-9 * load_of(i).total()) touch(i, capacity);
      }
      // Where no tangent is missing, what is left of the gap is the solver's tolerance.
      if (given == tangents_.size()) {
        if (best_.cost - best_.bound <= 1e-6 * std::max(1.0, std::abs(best_.cost))) return {};
        break;
      }
    }
    return Error(Errc::unavailable,
                 fmt::format("commitments: between {} and {} USD after {} masters; allow more of them, "
                             "or a wider gap",
                             best_.bound, best_.cost, best_.masters));
  }

  [[nodiscard]] double level_at(std::size_t level, const std::vector<double>& units) const {
    return std::inner_product(units.begin(), units.end(), sums_[level].factors.begin(), sums_[level].constant);
  }

  /// The true cost of these units, which may be the best so far.
  void evaluate(const std::vector<double>& units) {
    double fixed = 0.0;
    for (std::size_t n = 0; n < units.size(); ++n) fixed += problem_->commitments[n].unit_cost * units[n];
    std::vector<double> costs(problem_->scenarios, 0.0);
    for (const CommitmentCell& cell : problem_->cells)
      costs[cell.scenario] += cell.problem.payg * cell.problem.load.total();
    for (std::size_t i = 0; i < levels_.size(); ++i)
      costs[problem_->cells[levels_[i].cell].scenario] -= levels_[i].gain * load_of(i).at(level_at(i, units));
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
  std::vector<Level> levels_;
  std::vector<LevelSum> sums_;
  std::vector<Tangent> tangents_;
  CommitmentPlan best_;
};

}  // namespace

Result<CommitmentPlan> solve_by_cuts(const CommitmentProblem& problem, const LpSolver& solver,
                                     const CutOptions& options) {
  if (Result<void> checked = check(problem); !checked) return std::move(checked).error();
  return Cutting(problem, solver, options).run();
}

}  // namespace ace
