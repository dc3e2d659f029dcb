#include "plan/commitments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/int128.h"
#include "plan/purchases.h"

namespace ace {

Result<void> check(const CommitmentProblem& problem) {
  const auto wrong = [](const std::string& what) { return Error(Errc::bad_input, "commitments: " + what); };
  if (problem.cells.empty() || problem.scenarios == 0) return wrong("there is nothing to serve: no cell or scenario");
  for (const CommitmentCell& cell : problem.cells) {
    if (Result<void> checked = ace::check(cell.problem); !checked) return checked;
    if (!cell.held.empty() && cell.held.size() != cell.problem.supplies.size())
      return wrong("a cell's units held are not one number for each supply");
    if (cell.scenario >= problem.scenarios) return wrong("a cell is of a scenario beyond the last");
  }
  for (const Commitment& c : problem.commitments) {
    if (!std::isfinite(c.unit_cost) || c.unit_cost < 0.0)
      return wrong(fmt::format("{}: a unit costs {} USD; expected 0 or more", c.name, c.unit_cost));
    if (c.units_min < 1 || c.increment < 1) return wrong(c.name + ": minimum and increment are at least 1");
    if (c.units_max && *c.units_max != 0 && *c.units_max < c.units_min)
      return wrong(
          fmt::format("{}: at least {} units are sold but at most {} may be held", c.name, c.units_min, *c.units_max));
    for (const Commitment::Adds& adds : c.adds)
      if (adds.cell >= problem.cells.size() || adds.supply >= problem.cells[adds.cell].problem.supplies.size())
        return wrong(c.name + ": it adds to a cell or supply that is not there");
  }
  if (!(problem.tail_weight >= 0.0 && problem.tail_weight <= 1.0 && problem.tail >= 0.0 && problem.tail < 1.0))
    return wrong("the weight of the tail is from 0 to 1, and the tail begins at 0 or more and below 1");
  return {};
}

LinearProgram whole_program(const CommitmentProblem& problem) {
  LinearProgram program;
  const Purchases purchases(problem, problem.whole, program);
  const double weight = 1.0 / static_cast<double>(problem.scenarios);
  for (std::size_t c = 0; c < problem.cells.size(); ++c) {
    const CommitmentCell& cell = problem.cells[c];
    double absorbable = 0.0;
    for (const AbsorbedLoad::Block& block : cell.problem.load.blocks()) {
      absorbable += block.level * block.hours;
      const LinearProgram::Row served = program.add_row({block.level, block.level});
      program.add_term(served, program.add_column(weight * block.hours * cell.problem.payg, {0.0, kInfinite}), 1.0);
      for (std::size_t k = 0; k < cell.problem.supplies.size(); ++k) {
        const Supply& supply = cell.problem.supplies[k];
        const LinearProgram::Column at_work =
            program.add_column(weight * block.hours * supply.variable, {0.0, kInfinite});
        program.add_term(served, at_work, 1.0);
        const LinearProgram::Row within = program.add_row({-kInfinite, held_units(cell, k) * supply.capacity});
        program.add_term(within, at_work, 1.0);
        for (std::size_t i = 0; i < problem.commitments.size(); ++i) {
          double units = 0.0;
          for (const Commitment::Adds& adds : problem.commitments[i].adds)
            if (adds.cell == c && adds.supply == k) units += 1.0;
          purchases.term(program, within, i, -units * supply.capacity);
        }
      }
    }
    const double never = weight * cell.problem.payg * (cell.problem.load.total() - absorbable);
    program.add_column(std::max(0.0, never), {1.0, 1.0});  // what no capacity absorbs in time
  }
  return program;
}

Result<Usd> fee_of(const Term& term, std::size_t periods) {
  const auto n = static_cast<std::int64_t>(periods), all = static_cast<std::int64_t>(term.periods);
  const int128 nano = int128{term.fee.nano} * n + divide_half_away(int128{term.upfront.nano} * n, all);
  if (nano > std::numeric_limits<std::int64_t>::max())
    return Error(Errc::out_of_range, term.name + ": a unit costs more than 9.2 billion USD");
  return Usd{static_cast<std::int64_t>(nano)};
}

std::vector<Commitment> rolling(const Supply& supply, std::size_t position, std::size_t cells,
                                const std::vector<Term>& terms) {
  std::vector<Commitment> commitments;
  for (const Term& term : terms)
    for (std::size_t begin = 0; begin < cells; ++begin) {
      const std::size_t end = std::min(cells, begin + term.periods);
      const Result<Usd> fee = fee_of(term, end - begin);
      Commitment c{.name = fmt::format("{} {} from period {}", supply.name, term.name, begin + 1),
                   .unit_cost = fee ? static_cast<double>(fee->nano) * 1e-9 : kInfinite,  // which check() refuses
                   .units_min = supply.units_min,
                   .increment = supply.increment,
                   .units_max = supply.units_max,
                   .adds = {}};
      for (std::size_t cell = begin; cell < end; ++cell) c.adds.push_back({cell, position});
      commitments.push_back(std::move(c));
    }
  return commitments;
}

}  // namespace ace
