#include "plan/benders.h"

#include <cmath>

#include <gmock/gmock.h>

#include "core/testing.h"
#include "plan/coin_solver.h"

namespace ace {
namespace {

using ::testing::HasSubstr;

const CoinSolver kSolver;

Usd usd(double dollars) { return *usd_from_physics(dollars); }

SizingProblem random_sizing(Rng& rng, std::size_t supplies) {
  std::vector<double> demand(3 + rng.below(40));
  for (double& d : demand) d = rng.below(5) == 0 ? 0.0 : rng.uniform() * 40.0;
  SizingProblem problem;
  problem.payg = 2.0 + rng.uniform() * 3.0;
  const BurstProfile profile = rng.below(2) == 0 ? BurstProfile() : *BurstProfile::through({{1.0, 0.4}, {3.0, 0.95}});
  problem.load = *AbsorbedLoad::of(demand, 1.0, profile);
  for (std::size_t k = 0; k < supplies; ++k) {
    Supply s{.name = "s" + std::to_string(k), .capacity = 0.5 + rng.uniform() * 3.0};
    s.fee_hourly = usd((0.1 + rng.uniform() * 2.0) * s.capacity);
    s.variable = rng.uniform();
    s.units_min = 1 + static_cast<std::int64_t>(rng.below(4));
    s.increment = 1 + static_cast<std::int64_t>(rng.below(3));
    problem.supplies.push_back(s);
  }
  return problem;
}

/// One commitment for each supply, at its fee.
CommitmentProblem of_one_cell(const SizingProblem& sizing, bool whole) {
  CommitmentProblem problem;
  problem.whole = whole;
  problem.cells.push_back({.problem = sizing, .held = {}});
  for (std::size_t k = 0; k < sizing.supplies.size(); ++k) {
    const Supply& s = sizing.supplies[k];
    problem.commitments.push_back({.name = s.name,
                                   .unit_cost = static_cast<double>(s.fee_hourly.nano) * 1e-9 * sizing.load.hours(),
                                   .units_min = s.units_min,
                                   .increment = s.increment,
                                   .units_max = s.units_max,
                                   .adds = {{0, k}}});
  }
  return problem;
}

double near(double value) { return 1e-6 * std::max(1.0, std::abs(value)); }

TEST(Commitments, by_cuts_cost_what_the_curves_say) {
  for_each_seed(60, [](Rng& rng) {
    const SizingProblem sizing = random_sizing(rng, 1 + rng.below(5));
    const double curve = cost_of(sizing, screening_optimum(sizing)).total();
    const Result<CommitmentPlan> plan = solve_by_cuts(of_one_cell(sizing, false), kSolver);
    ASSERT_TRUE(plan) << plan.error().what();
    EXPECT_NEAR(plan->cost, curve, near(curve));
    EXPECT_LE(plan->bound, plan->cost + near(curve));
    EXPECT_NEAR(cost_of(sizing, plan->units).total(), plan->cost, near(curve));
  });
}

TEST(Commitments, by_cuts_cost_what_the_whole_program_says) {
  for_each_seed(40, [](Rng& rng) {
    const bool whole = rng.below(2) == 0;
    CommitmentProblem problem = of_one_cell(random_sizing(rng, 1 + rng.below(3)), whole);
    if (rng.below(2) == 0) problem.budget = 20.0 + rng.uniform() * 500.0;
    if (rng.below(3) == 0) problem.cells[0].held = std::vector<double>(problem.commitments.size(), 1.0);
    const Result<LpSolution> oracle = kSolver.solve(whole_program(problem));
    ASSERT_TRUE(oracle) << oracle.error().what();
    const Result<CommitmentPlan> plan = solve_by_cuts(problem, kSolver);
    ASSERT_TRUE(plan) << plan.error().what();
    EXPECT_NEAR(plan->cost, oracle->cost, (whole ? 3.0 : 1.0) * near(oracle->cost));
  });
}

TEST(Commitments, of_whole_sizes_are_what_trying_all_of_them_finds) {
  for_each_seed(30, [](Rng& rng) {
    const SizingProblem sizing = random_sizing(rng, 2);
    const auto sizes = [&](std::size_t k) {
      const Supply& s = sizing.supplies[k];
      std::vector<double> all = {0.0};
      for (std::int64_t u = s.units_min; static_cast<double>(u) * s.capacity < 130.0; u += s.increment)
        all.push_back(static_cast<double>(u));
      return all;
    };
    double least = 1e300;
    for (const double a : sizes(0))
      for (const double b : sizes(1)) least = std::min(least, cost_of(sizing, std::vector<double>{a, b}).total());
    const Result<CommitmentPlan> plan = solve_by_cuts(of_one_cell(sizing, true), kSolver);
    ASSERT_TRUE(plan) << plan.error().what();
    EXPECT_NEAR(plan->cost, least, near(least));
  });
}

/// Flat demand, so that plans can be counted on one's fingers.
CommitmentCell steady(double demand, double hours, double payg, std::vector<Supply> supplies) {
  return {.problem = {std::move(supplies), payg, *AbsorbedLoad::of(std::vector<double>{demand}, hours, {})},
          .held = {}};
}

TEST(Commitments, keep_to_a_budget) {
  // 10 units of demand for 100 h at 1 USD; a unit costs 40 USD and saves 100. 130 USD buy 3 of them.
  CommitmentProblem problem;
  problem.cells.push_back(steady(10.0, 100.0, 1.0, {{.name = "held"}}));
  problem.commitments.push_back({.name = "held", .unit_cost = 40.0, .adds = {{0, 0}}});
  EXPECT_DOUBLE_EQ(solve_by_cuts(problem, kSolver)->units[0], 10.0);
  problem.budget = 130.0;
  const CommitmentPlan plan = *solve_by_cuts(problem, kSolver);
  EXPECT_DOUBLE_EQ(plan.units[0], 3.0);
  EXPECT_NEAR(plan.cost, 120.0 + 700.0, 1e-4);
}

TEST(Commitments, hold_a_reserve_against_the_loss_of_the_largest_unit) {
  // A unit costs more than it saves, so nothing is held but what N+1 asks for: 6 with one unit of 2 out are 4 units.
  CommitmentProblem problem;
  problem.cells.push_back(steady(10.0, 10.0, 1.0, {{.name = "held", .capacity = 2.0}}));
  problem.cells[0].capacity_min = 6.0;
  problem.commitments.push_back({.name = "held", .unit_cost = 90.0, .units_max = 8, .adds = {{0, 0}}});
  EXPECT_DOUBLE_EQ(solve_by_cuts(problem, kSolver)->units[0], 4.0);
  problem.commitments[0].units_max = 3;
  const Result<CommitmentPlan> none = solve_by_cuts(problem, kSolver);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Errc::out_of_range);
}

TEST(Commitments, buy_beside_what_is_held_already) {
  // 500 reserved, 300 + 300 in use: the 100 beyond are bought by the hour, at 1 USD.
  CommitmentProblem problem;
  problem.cells.push_back(steady(600.0, 1.0, 5.0, {{.name = "ptu"}}));
  problem.cells[0].held = {500.0};
  problem.commitments.push_back(
      {.name = "hourly", .unit_cost = 1.0, .units_min = 50, .increment = 50, .adds = {{0, 0}}});
  EXPECT_DOUBLE_EQ(solve_by_cuts(problem, kSolver)->units[0], 100.0);
}

TEST(Commitments, of_a_term_begin_and_end_with_the_demand_that_pays_for_them) {
  // 12 months; 10 units all year and 20 from month 7 to 9. A unit saves 100 a month; a month costs 80, a quarter 60 a
  // month, a year 50: (40 x 12 + 120) / 12. So a year of 10, and a quarter of the 10 of the season.
  CommitmentProblem problem;
  const Supply ptu{.name = "ptu"};
  for (int month = 1; month <= 12; ++month)
    problem.cells.push_back(steady(month >= 7 && month <= 9 ? 20.0 : 10.0, 1.0, 100.0, {ptu}));
  problem.commitments = rolling(ptu, 0, 12,
                                {{.name = "month", .periods = 1, .fee = usd(80.0)},
                                 {.name = "quarter", .periods = 3, .fee = usd(60.0)},
                                 {.name = "year", .periods = 12, .fee = usd(40.0), .upfront = usd(120.0)}});
  const CommitmentPlan plan = *solve_by_cuts(problem, kSolver);
  EXPECT_NEAR(plan.cost, 10.0 * 12 * 50.0 + 10.0 * 3 * 60.0, 1e-2);
  for (std::size_t i = 0; i < plan.units.size(); ++i) {
    if (plan.units[i] == 0.0) continue;
    const std::string& name = problem.commitments[i].name;
    EXPECT_TRUE(name == "ptu year from period 1" || name == "ptu quarter from period 7") << name;
  }
}

TEST(Commitments, of_a_term_that_outlasts_the_horizon_are_charged_their_share) {
  const std::vector<Commitment> c = rolling({.name = "ptu"}, 0, 2, {{"year", 12, usd(50.0), usd(120.0)}});
  ASSERT_EQ(c.size(), 2U);
  EXPECT_DOUBLE_EQ(c[0].unit_cost, 2.0 * 50.0 + 120.0 * 2.0 / 12.0);
  EXPECT_EQ(c[1].adds.size(), 1U);
}

/// Demands 0, 10, 20 and 100, equally likely; a unit costs 30 and saves 100 where it is at work.
CommitmentProblem of_scenarios(double tail_weight, double tail) {
  CommitmentProblem problem{.scenarios = 4, .whole = false, .tail_weight = tail_weight, .tail = tail};
  const double demand[] = {0.0, 10.0, 20.0, 100.0};
  for (std::size_t s = 0; s < 4; ++s) {
    problem.cells.push_back(steady(demand[s], 1.0, 100.0, {{.name = "held"}}));
    problem.cells.back().scenario = s;
  }
  problem.commitments.push_back({.name = "held", .unit_cost = 30.0, .adds = {{0, 0}, {1, 0}, {2, 0}, {3, 0}}});
  return problem;
}

TEST(Commitments, on_scenarios_are_the_pooled_quantile_of_demand_and_more_with_a_price_on_the_tail) {
  // On the mean: P(D > C) = 0.3, so C = 20. On the worst quarter alone a unit saves 100 for 30 up to 100 of demand.
  EXPECT_NEAR(solve_by_cuts(of_scenarios(0.0, 0.75), kSolver)->units[0], 20.0, 1e-4);
  EXPECT_NEAR(solve_by_cuts(of_scenarios(1.0, 0.75), kSolver)->units[0], 100.0, 1e-4);
  double least = 0.0;
  for (const double w : {0.0, 0.02, 0.05, 0.1, 0.5, 1.0}) {
    const CommitmentPlan plan = *solve_by_cuts(of_scenarios(w, 0.75), kSolver);
    EXPECT_GE(plan.units[0], least - 1e-4) << "more weight on the tail never holds less here";
    least = plan.units[0];
  }
  // Of the plan that holds 20: 600 + mean (0 + 0 + 0 + 8,000) / 4.
  EXPECT_NEAR(solve_by_cuts(of_scenarios(0.0, 0.75), kSolver)->cost, 600.0 + 2000.0, 1e-2);
}

TEST(Commitments, say_what_is_wrong) {
  const auto fault = [](auto change) {
    CommitmentProblem problem = of_scenarios(0.0, 0.95);
    change(problem);
    const Result<CommitmentPlan> plan = solve_by_cuts(problem, kSolver);
    return plan ? std::string("fine") : plan.error().what();
  };
  EXPECT_EQ(fault([](CommitmentProblem&) {}), "fine");
  EXPECT_THAT(fault([](CommitmentProblem& p) { p.cells.clear(); }), HasSubstr("nothing to serve"));
  EXPECT_THAT(fault([](CommitmentProblem& p) { p.commitments[0].unit_cost = kGap; }), HasSubstr("a unit costs nan"));
  EXPECT_THAT(fault([](CommitmentProblem& p) { p.commitments[0].adds.push_back({9, 0}); }), HasSubstr("not there"));
  EXPECT_THAT(fault([](CommitmentProblem& p) { p.cells[0].held = {1.0, 2.0}; }), HasSubstr("one number for each"));
  EXPECT_THAT(fault([](CommitmentProblem& p) { p.cells[0].scenario = 4; }), HasSubstr("scenario beyond the last"));
  EXPECT_THAT(fault([](CommitmentProblem& p) { p.tail = 1.0; }), HasSubstr("tail begins"));
  EXPECT_THAT(fault([](CommitmentProblem& p) { p.commitments[0].units_min = 9, p.commitments[0].units_max = 5; }),
              HasSubstr("at least 9 units are sold"));
}

}  // namespace
}  // namespace ace
