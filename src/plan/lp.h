#pragma once
/// Linear and mixed-integer programs, and the port of who solves them.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/result.h"

namespace ace {

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Minimise the sum of cost x column, each row and each column between its bounds.
struct LinearProgram {
  using Column = std::uint32_t;
  using Row = std::uint32_t;
  struct Bounds {
    double lower = 0, upper = kInfinite;
  };
  struct Term {
    Row row = 0;
    Column column = 0;
    double factor = 0;
  };
  std::vector<double> cost;     ///< by column
  std::vector<Bounds> columns;  ///< by column
  std::vector<bool> integer;    ///< by column
  std::vector<Bounds> rows;     ///< by row
  std::vector<Term> terms;      ///< at most one for each pair; in any order

  Column add_column(double unit_cost, Bounds bounds, bool whole = false) {
    cost.push_back(unit_cost);
    columns.push_back(bounds);
    integer.push_back(whole);
    return static_cast<Column>(cost.size() - 1);
  }
  Row add_row(Bounds bounds) {
    rows.push_back(bounds);
    return static_cast<Row>(rows.size() - 1);
  }
  void add_term(Row row, Column column, double factor) { terms.push_back({row, column, factor}); }
};

struct LpSolution {
  double cost = 0;   ///< of `columns`
  double bound = 0;  ///< no solution costs less: `cost` itself for a linear program
  std::vector<double> columns;
  std::vector<double> duals;  ///< what one more of a row would add to the cost; empty for a program with integers
};

class LpSolver {
 public:
  /// All of these are deterministic: there is no limit in seconds.
  struct Options {
    double gap = 1e-6;             ///< relative, between the cost and the bound, at which an integer search may end
    std::int64_t nodes = 200'000;  ///< of an integer search; with a solution at hand it ends there, and the gap tells
  };
  virtual ~LpSolver() = default;
  /// @return out_of_range where nothing is feasible or the cost has no least value, bad_input for a program that is not
  /// one (a bound or factor that is no number, lower above upper), unavailable where it was given up without a solution
  virtual Result<LpSolution> solve(const LinearProgram& program, const Options& options) const = 0;
  Result<LpSolution> solve(const LinearProgram& program) const { return solve(program, Options()); }
};

}  // namespace ace
