#include "plan/coin_solver.h"

#include <coin/Cbc_C_Interface.h>
#include <coin/Clp_C_Interface.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "core/check.h"

namespace ace {
namespace {

using Program = LinearProgram;
using Solution = LpSolution;

/// The factors by column, as both libraries take them.
struct Matrix {
  std::vector<int> starts, rows;
  std::vector<double> factors, column_lower, column_upper, row_lower, row_upper;

  explicit Matrix(const Program& p) {
    std::vector<Program::Term> terms = p.terms;
    std::sort(terms.begin(), terms.end(), [](const Program::Term& a, const Program::Term& b) {
      return a.column != b.column ? a.column < b.column : a.row < b.row;
    });
    starts.assign(p.cost.size() + 1, 0);
    for (const Program::Term& term : terms) {
      ++starts[term.column + 1];
      rows.push_back(static_cast<int>(term.row));
      factors.push_back(term.factor);
    }
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (const Program::Bounds& b : p.columns) {
      column_lower.push_back(b.lower);
      column_upper.push_back(b.upper);
    }
    for (const Program::Bounds& b : p.rows) {
      row_lower.push_back(b.lower);
      row_upper.push_back(b.upper);
    }
  }
};

Result<void> check(const Program& p) {
  ACE_CHECK(p.columns.size() == p.cost.size() && p.integer.size() == p.cost.size(), "each column has all its parts");
  const auto bad = [](std::string what) { return Error(Errc::bad_input, "the program to solve: " + std::move(what)); };
  const auto sound = [](const Program::Bounds& b) {
    return b.lower <= b.upper && b.lower < kInfinite && b.upper > -kInfinite;  // false for what is no number
  };
  for (std::size_t c = 0; c < p.cost.size(); ++c)
    if (!std::isfinite(p.cost[c]) || !sound(p.columns[c]))
      return bad(
          fmt::format("column {} costs {} within [{}, {}]", c, p.cost[c], p.columns[c].lower, p.columns[c].upper));
  for (std::size_t r = 0; r < p.rows.size(); ++r)
    if (!sound(p.rows[r])) return bad(fmt::format("row {} lies within [{}, {}]", r, p.rows[r].lower, p.rows[r].upper));
  for (const Program::Term& t : p.terms)
    if (!std::isfinite(t.factor) || t.row >= p.rows.size() || t.column >= p.cost.size())
      return bad(fmt::format("factor {} of column {} in row {}", t.factor, t.column, t.row));
  return {};
}

/// How far a solution is from keeping the bounds: what a solver calls one is looked at, as a plan of money hangs on it.
double excess(const Program& p, const std::vector<double>& columns) {
  std::vector<double> rows(p.rows.size(), 0.0), scale(p.rows.size(), 1.0);
  for (const Program::Term& t : p.terms) {
    rows[t.row] += t.factor * columns[t.column];
    scale[t.row] = std::max(scale[t.row], std::abs(t.factor * columns[t.column]));
  }
  double most = 0;
  for (std::size_t r = 0; r < rows.size(); ++r)
    most = std::max({most, (p.rows[r].lower - rows[r]) / scale[r], (rows[r] - p.rows[r].upper) / scale[r]});
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const double size = std::max(1.0, std::abs(columns[c]));
    most = std::max({most, (p.columns[c].lower - columns[c]) / size, (columns[c] - p.columns[c].upper) / size});
  }
  return most;
}

Error infeasible() { return {Errc::out_of_range, "no solution keeps all bounds of the program"}; }
Error unbounded() { return {Errc::out_of_range, "the cost of the program has no least value"}; }

double cost_of(const Program& p, const std::vector<double>& columns) {
  return std::inner_product(columns.begin(), columns.end(), p.cost.begin(), 0.0);
}

/// The dual simplex: it was the fastest by far on what commitment sizing asks (docs/PERFORMANCE.md).
Result<Solution> solve_linear(const Program& p, const Matrix& m) {
  const std::unique_ptr<Clp_Simplex, void (*)(Clp_Simplex*)> model(Clp_newModel(), Clp_deleteModel);
  Clp_setLogLevel(model.get(), 0);
  const auto columns = static_cast<int>(p.cost.size()), rows = static_cast<int>(p.rows.size());
  Clp_loadProblem(model.get(), columns, rows, m.starts.data(), m.rows.data(), m.factors.data(), m.column_lower.data(),
                  m.column_upper.data(), p.cost.data(), m.row_lower.data(), m.row_upper.data());
  Clp_initialDualSolve(model.get());
  switch (Clp_status(model.get())) {
    case 0:
      break;
    case 1:
      return infeasible();
    case 2:
      return unbounded();
    default:
      return Error(Errc::unavailable, "the linear program was given up");
  }
  Solution s;
  const double* const x = Clp_primalColumnSolution(model.get());
  const double* const y = Clp_dualRowSolution(model.get());
  s.columns.assign(x, x + columns);
  s.duals.assign(y, y + rows);
  s.cost = s.bound = cost_of(p, s.columns);
  return s;
}

/// @param simplify  Cbc works on a program that it made smaller first, which is much faster
Result<Solution> solve_integer(const Program& p, const Matrix& m, const LpSolver::Options& options, bool simplify) {
  const std::unique_ptr<Cbc_Model, void (*)(Cbc_Model*)> model(Cbc_newModel(), Cbc_deleteModel);
  const auto columns = static_cast<int>(p.cost.size()), rows = static_cast<int>(p.rows.size());
  Cbc_loadProblem(model.get(), columns, rows, m.starts.data(), m.rows.data(), m.factors.data(), m.column_lower.data(),
                  m.column_upper.data(), p.cost.data(), m.row_lower.data(), m.row_upper.data());
  for (int c = 0; c < columns; ++c)
    if (p.integer[static_cast<std::size_t>(c)]) Cbc_setInteger(model.get(), c);
  Cbc_setParameter(model.get(), "logLevel", "0");
  Cbc_setParameter(model.get(), "ratioGap", fmt::format("{}", options.gap).c_str());
  Cbc_setParameter(model.get(), "maxNodes", fmt::format("{}", options.nodes).c_str());
  if (!simplify) Cbc_setParameter(model.get(), "preprocess", "off");
  Cbc_solve(model.get());
  if (Cbc_isProvenInfeasible(model.get()) != 0) return infeasible();
  if (Cbc_isContinuousUnbounded(model.get()) != 0) return unbounded();
  const double* const x = Cbc_bestSolution(model.get());
  if (x == nullptr) return Error(Errc::unavailable, "the integer program was given up without a solution");
  Solution s;
  s.columns.assign(x, x + columns);
  for (std::size_t c = 0; c < p.cost.size(); ++c)
    if (p.integer[c]) s.columns[c] = std::round(s.columns[c]);
  s.cost = cost_of(p, s.columns);
  // Where it ends within the gap, it says that nothing better is possible; that much was not shown.
  s.bound = std::min(s.cost - options.gap * std::abs(s.cost), Cbc_getBestPossibleObjValue(model.get()));
  return s;
}

}  // namespace

Result<Solution> CoinSolver::solve(const LinearProgram& program, const Options& options) const {
  if (Result<void> sound = check(program); !sound) return std::move(sound).error();
  const Matrix matrix(program);
  const bool whole = std::find(program.integer.begin(), program.integer.end(), true) != program.integer.end();
  constexpr double kKept = 1e-5;  // the solvers work with 1e-7; where sizes are made whole, a row may move by more
  const auto kept = [&](const Result<Solution>& s) { return !s || excess(program, s->columns) <= kKept; };
  Result<Solution> solved = whole ? solve_integer(program, matrix, options, true) : solve_linear(program, matrix);
  // Cbc 2.10 now and then brings back something else from the smaller program (seed 17 of the commitments).
  if (whole && !kept(solved)) solved = solve_integer(program, matrix, options, false);
  if (!kept(solved))
    return Error(Errc::unavailable, "what the solver calls a solution does not keep the bounds of the program");
  return solved;
}

}  // namespace ace
