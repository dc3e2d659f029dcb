#include "plan/term_plan.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plan/benders.h"

namespace ace {
namespace {

constexpr std::size_t kPeriodsMax = 120;

Result<CommitmentProblem> program_of(const Series& demand, const TermProblem& problem) {
  if (problem.period < demand.step)
    return Error(Errc::bad_input, "terms: a period is shorter than a step of the demand");
  if (problem.terms.empty()) return Error(Errc::bad_input, "terms: there is none to buy");
  for (const Term& term : problem.terms)
    if (term.periods == 0 || term.fee < Usd{} || term.upfront < Usd{})
      return Error(Errc::bad_input, fmt::format("terms: {}: it lasts no period, or a fee is negative", term.name));
  const auto steps = static_cast<std::size_t>(problem.period / demand.step);
  const std::size_t periods = (demand.values.size() + steps - 1) / steps;
  if (periods > kPeriodsMax)
    return Error(Errc::out_of_range,
                 fmt::format("terms: {} periods, more than {}; take longer ones", periods, kPeriodsMax));
  CommitmentProblem program;
  for (std::size_t p = 0; p < periods; ++p) {
    const std::span<const double> values =
        std::span(demand.values).subspan(p * steps, std::min(steps, demand.values.size() - p * steps));
    Result<AbsorbedLoad> load = AbsorbedLoad::of(values, to_seconds(demand.step) / 3600.0, {});
    if (!load) return std::move(load).error().with(fmt::format("period {} of the terms", p + 1));
    const double held = p < problem.held_periods ? static_cast<double>(problem.held_units) : 0.0;
    program.cells.push_back({.problem = {{problem.supply}, problem.payg, *std::move(load)}, .held = {held}});
  }
  double all_payg = 0.0;
  for (const CommitmentCell& cell : program.cells) all_payg += problem.payg * cell.problem.load.total();
  if (std::isfinite(problem.payg) &&
      !usd_from_physics(2.0 * all_payg))  // fees and PAYG of the best plan are no more than all PAYG
    return Error(Errc::out_of_range,
                 "terms: without any, PAYG would cost more than 4.6 billion USD; take a shorter series");
  program.commitments = rolling(problem.supply, 0, periods, problem.terms);
  return program;
}

}  // namespace

Result<TermPlan> plan_terms(const Series& demand, const TermProblem& problem, const LpSolver& solver) {
  const Result<CommitmentProblem> program = program_of(demand, problem);
  if (!program) return Error(program.error());
  const std::size_t periods = program->cells.size();
  const Result<CommitmentPlan> best = solve_by_cuts(*program, solver, {.gap = 1e-5});
  if (!best) return Error(best.error());
  TermPlan plan;
  plan.gap = best->cost > 0.0 ? std::max(0.0, (best->cost - best->bound) / best->cost) : 0.0;
  for (std::size_t p = 0; p < periods; ++p)
    plan.periods.push_back({demand.start + static_cast<std::int64_t>(p) * (problem.period / demand.step) * demand.step,
                            p < problem.held_periods ? problem.held_units : 0});
  for (std::size_t p = 0; p < periods; ++p)
    for (std::size_t t = 0; t < problem.terms.size(); ++t) {
      const std::int64_t units = std::llround(best->units[t * periods + p]);  // as rolling() lists them
      if (units == 0) continue;
      const std::size_t end = std::min(periods, p + problem.terms[t].periods);
      const Result<Usd> fee = fee_of(problem.terms[t], end - p);
      if (!fee) return Error(fee.error());
      plan.bought.push_back({t, p, units, Usd{fee->nano * units}});
      plan.fees += plan.bought.back().fee;
      for (std::size_t at = p; at < end; ++at) plan.periods[at].held += units;
    }
  for (std::size_t p = 0; p < periods; ++p) {
    SizingProblem sizing = program->cells[p].problem;
    sizing.supplies[0].fee_hourly = Usd{};  // fees are exact, by term
    const std::int64_t held[] = {plan.periods[p].held}, none[] = {0};
    const Result<PricedPlan> with = price_plan(sizing, held), without = price_plan(sizing, none);
    if (!with || !without) return Error((with ? without : with).error());
    plan.periods[p].payg = with->total();
    plan.payg += with->total();
    plan.all_payg += without->total();
  }
  return plan;
}

}  // namespace ace
