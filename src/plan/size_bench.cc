/// A year of hours and 20 kinds of capacity: the curves, the cuts, and the whole program side by side.
///
///   ace_plan_bench                              all, the whole program on 1,000 hours (a year takes it a quarter
///   minute) ACE_BENCH_HOURS=8760 ace_plan_bench --benchmark_filter=whole
///
/// Each prints its cost in cents, so that what is compared is seen to be the same answer.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "core/rng.h"
#include "plan/benders.h"
#include "plan/coin_solver.h"

namespace ace {
namespace {

constexpr std::size_t kYear = 8760, kSupplies = 20;

/// Daily and weekly shape with noise; supplies on a frontier, dearer to hold and cheaper at work.
std::vector<double> demand(std::size_t hours) {
  Rng rng(1, "bench");
  std::vector<double> values;
  for (std::size_t h = 0; h < hours; ++h) {
    const auto hour = static_cast<double>(h % 24), day = static_cast<double>(h / 24 % 7);
    const double shape = 1.0 - (hour - 14.0) * (hour - 14.0) / 250.0;
    values.push_back(400.0 * shape * (day < 5.0 ? 1.0 : 0.7) * (0.8 + 0.4 * rng.uniform()));
  }
  return values;
}

SizingProblem problem(std::size_t hours) {
  Rng rng(2, "bench");
  SizingProblem sizing;
  sizing.payg = 10.0;
  sizing.load = *AbsorbedLoad::of(demand(hours), 1.0, {});
  for (std::size_t k = 0; k < kSupplies; ++k) {
    const double at_work = 0.4 * static_cast<double>(k), hold = (10.0 - at_work) * (10.0 - at_work) / 20.0;
    Supply s{.name = "s" + std::to_string(k), .capacity = 1.0 + 7.0 * rng.uniform()};
    s.fee_hourly = *usd_from_physics(hold * s.capacity * (0.95 + 0.1 * rng.uniform()));
    s.variable = at_work;
    s.units_min = 1 + static_cast<std::int64_t>(rng.below(5));
    s.increment = 1 + static_cast<std::int64_t>(rng.below(3));
    sizing.supplies.push_back(std::move(s));
  }
  return sizing;
}

CommitmentProblem commitments(SizingProblem sizing, bool whole) {
  CommitmentProblem all;
  all.whole = whole;
  for (std::size_t k = 0; k < sizing.supplies.size(); ++k) {
    const Supply& s = sizing.supplies[k];
    all.commitments.push_back({.name = s.name,
                               .unit_cost = static_cast<double>(s.fee_hourly.nano) * 1e-9 * sizing.load.hours(),
                               .units_min = s.units_min,
                               .increment = s.increment,
                               .adds = {{0, k}}});
  }
  all.cells.push_back({.problem = std::move(sizing), .held = {}});
  return all;
}

std::size_t hours_of_whole_program() {
  const char* const hours = std::getenv("ACE_BENCH_HOURS");
  return hours != nullptr ? static_cast<std::size_t>(std::strtoul(hours, nullptr, 10)) : 1000;
}

void report(benchmark::State& state, double cost) { state.counters["cost_cents"] = cost * 100.0; }

/// From the demand on: the load curve is built each time.
void curves(benchmark::State& state) {
  double cost = 0.0;
  for (auto _ : state) {
    const SizingProblem sizing = problem(static_cast<std::size_t>(state.range(0)));
    cost = cost_of(sizing, screening_optimum(sizing)).total();
  }
  report(state, cost);
}
BENCHMARK(curves)->Arg(1000)->Arg(kYear)->Unit(benchmark::kMillisecond);

void cuts(benchmark::State& state, bool whole) {
  const CoinSolver solver;
  CommitmentPlan plan;
  for (auto _ : state) {
    const Result<CommitmentPlan> made = solve_by_cuts(
        commitments(problem(static_cast<std::size_t>(state.range(0))), whole), solver, {.gap = whole ? 1e-5 : 1e-7});
    if (!made) return state.SkipWithError(made.error().what().c_str());
    plan = *made;
  }
  report(state, plan.cost);
  state.counters["masters"] = plan.masters;
  state.counters["gap"] = (plan.cost - plan.bound) / plan.cost;
}
BENCHMARK_CAPTURE(cuts, relaxed, false)->Arg(1000)->Arg(kYear)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(cuts, whole_sizes, true)->Arg(1000)->Arg(kYear)->Unit(benchmark::kMillisecond);

/// The same program in one piece, by Clp's dual.
void whole_program_by_clp(benchmark::State& state) {
  const CoinSolver solver;
  const LinearProgram program = whole_program(commitments(problem(hours_of_whole_program()), false));
  double cost = 0.0;
  for (auto _ : state) {
    const Result<LpSolution> solution = solver.solve(program);
    if (!solution) return state.SkipWithError(solution.error().what().c_str());
    cost = solution->cost;
  }
  report(state, cost);
}
BENCHMARK(whole_program_by_clp)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace ace
