#include "plan/purchases.h"

#include <algorithm>
#include <cmath>

namespace ace {
namespace {

double largest_unit(const SizingProblem& problem) {
  double most = 0.0;
  for (const Supply& supply : problem.supplies) most = std::max(most, supply.capacity);
  return most;
}

/// Units beyond which more of a commitment is of no use to any load or reserve.
double useful_units(const CommitmentProblem& problem, const Commitment& commitment) {
  double most = 0.0;
  for (const Commitment::Adds& adds : commitment.adds) {
    const CommitmentCell& cell = problem.cells[adds.cell];
    const double top = std::max(cell.problem.load.level(0.0), cell.capacity_min + largest_unit(cell.problem));
    most = std::max(most, top / cell.problem.supplies[adds.supply].capacity);
  }
  const double step = static_cast<double>(commitment.increment);
  most = std::max(static_cast<double>(commitment.units_min), std::ceil(most / step) * step + step);
  return commitment.units_max ? std::min(most, static_cast<double>(*commitment.units_max)) : most;
}

}  // namespace

Purchases::Purchases(const CommitmentProblem& problem, bool whole, LinearProgram& program) : problem_(&problem) {
  for (const Commitment& c : problem.commitments) columns_.push_back(add(c, whole, program));
  if (problem.budget) {
    const LinearProgram::Row row = program.add_row({-kInfinite, *problem.budget});
    for (std::size_t i = 0; i < columns_.size(); ++i) term(program, row, i, problem.commitments[i].unit_cost);
  }
  for (std::size_t c = 0; c < problem.cells.size(); ++c) {
    const CommitmentCell& cell = problem.cells[c];
    if (cell.capacity_min <= 0.0) continue;
    double least = cell.capacity_min + largest_unit(cell.problem);
    for (std::size_t k = 0; k < cell.problem.supplies.size(); ++k)
      least -= held_units(cell, k) * cell.problem.supplies[k].capacity;
    const LinearProgram::Row row = program.add_row({least, kInfinite});
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      double capacity = 0.0;
      for (const Commitment::Adds& adds : problem.commitments[i].adds)
        if (adds.cell == c) capacity += cell.problem.supplies[adds.supply].capacity;
      term(program, row, i, capacity);
    }
  }
}

void Purchases::term(LinearProgram& program, LinearProgram::Row row, std::size_t i, double factor) const {
  if (factor == 0.0) return;
  for (const Part& part : columns_[i]) program.add_term(row, part.column, factor * part.units);
}

std::vector<double> Purchases::units(const std::vector<double>& columns) const {
  std::vector<double> units;
  for (const std::vector<Part>& parts : columns_) {
    double sum = 0.0;
    for (const Part& part : parts)
      sum += part.units * (part.whole ? std::round(columns[part.column]) : columns[part.column]);
    units.push_back(std::max(0.0, sum));
  }
  return units;
}

std::vector<Purchases::Part> Purchases::add(const Commitment& c, bool whole, LinearProgram& program) const {
  const double most = useful_units(*problem_, c), least = static_cast<double>(c.units_min),
               step = static_cast<double>(c.increment);
  if (!whole) return {{program.add_column(c.unit_cost, {0.0, most}), 1.0, false}};
  if (most < least) return {{program.add_column(c.unit_cost, {0.0, 0.0}), 1.0, false}};
  const double steps = std::floor((most - least) / step);
  if (c.units_min == c.increment)
    return {{program.add_column(c.unit_cost * step, {0.0, steps + 1.0}, true), step, true}};
  const LinearProgram::Column any = program.add_column(c.unit_cost * least, {0.0, 1.0}, true),
                              more = program.add_column(c.unit_cost * step, {0.0, steps}, true);
  const LinearProgram::Row only_if = program.add_row({-kInfinite, 0.0});  // more - steps x any <= 0
  program.add_term(only_if, more, 1.0);
  program.add_term(only_if, any, -std::max(1.0, steps));
  return {{any, least, true}, {more, step, true}};
}

}  // namespace ace
