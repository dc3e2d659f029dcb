#pragma once
/// Within the planner: the part of a program that says what is bought, at what cost, within which limits.
#include <vector>

#include "plan/commitments.h"

namespace ace {

/// Units of a supply that a cell has anyway.
inline double held_units(const CommitmentCell& cell, std::size_t supply) {
  return cell.held.empty() ? 0.0 : cell.held[supply];
}

class Purchases {
 public:
  /// Adds columns for the commitments, and rows for their sizes, the budget and the reserve.
  /// @param whole sizes as sold; else any number of units, of which the columns then count one each
  Purchases(const CommitmentProblem& problem, bool whole, LinearProgram& program);
  /// Adds factor x units of commitment i to a row.
  void term(LinearProgram& program, LinearProgram::Row row, std::size_t i, double factor) const;
  /// Units of each commitment in a solution; whole ones exactly.
  [[nodiscard]] std::vector<double> units(const std::vector<double>& columns) const;

 private:
  struct Part {
    LinearProgram::Column column = 0;
    double units = 1.0;
    bool whole = false;
  };
  [[nodiscard]] std::vector<Part> add(const Commitment& c, bool whole, LinearProgram& program) const;
  const CommitmentProblem* problem_;
  std::vector<std::vector<Part>> columns_;
};

}  // namespace ace
