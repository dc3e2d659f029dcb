#include "plan/shared_pools.h"

#include <gmock/gmock.h>

#include "core/testing.h"
#include "plan/coin_solver.h"

namespace ace {
namespace {

using ::testing::HasSubstr;

const CoinSolver kSolver;

Usd usd(double dollars) { return *usd_from_physics(dollars); }

TEST(SharedPools, of_one_demand_cost_what_the_curves_say) {
  for_each_seed(30, [](Rng& rng) {
    SharedDemand demand{
        .name = "all", .work = std::vector<double>(2 + rng.below(30)), .payg = 3.0 + rng.uniform(), .uses = {}};
    for (double& w : demand.work) w = rng.uniform() * 20.0;
    SharedProblem problem{.supplies = {}, .demands = {}, .whole = false};
    for (std::size_t k = 0; k < 1 + rng.below(3); ++k) {
      const double capacity = 0.5 + rng.uniform() * 3.0, variable = rng.uniform();
      problem.supplies.push_back({.name = "s" + std::to_string(k),
                                  .capacity = capacity,
                                  .fee_hourly = usd(rng.uniform() * 2.0 * capacity),
                                  .variable = variable});
      demand.uses.push_back({k, 1.0, variable});
    }
    const SizingProblem curve{problem.supplies, demand.payg, *AbsorbedLoad::of(demand.work, 1.0, {})};
    problem.demands = {demand};
    const Result<SharedPlan> plan = size_shared(problem, kSolver);
    ASSERT_TRUE(plan) << plan.error().what();
    const double least = cost_of(curve, screening_optimum(curve)).total();
    EXPECT_NEAR(plan->cost, least, 1e-6 * (1.0 + least));
  });
}

TEST(SharedPools, serve_first_whom_they_save_most) {
  // One unit at most. A unit of the small model's work takes half a unit and saves 3; of the large one's a whole unit
  // and saves 4. So the small model's 1 goes first, and half of the large one's 1 after it.
  const SharedProblem problem{.supplies = {{.name = "pool", .fee_hourly = usd(1.0), .units_max = 1}},
                              .demands = {{.name = "large", .work = {1.0}, .payg = 4.0, .uses = {{0, 1.0, 0.0}}},
                                          {.name = "small", .work = {1.0}, .payg = 3.0, .uses = {{0, 0.5, 0.0}}}}};
  const SharedPlan plan = *size_shared(problem, kSolver);
  EXPECT_DOUBLE_EQ(plan.units[0], 1.0);
  EXPECT_NEAR(plan.served[0], 0.5, 1e-9);
  EXPECT_NEAR(plan.served[1], 1.0, 1e-9);
  EXPECT_NEAR(plan.cost, 1.0 + 2.0, 1e-9);
}

TEST(SharedPools, keep_demand_where_it_may_go) {
  // Two regions with opposite days. What may go to either shares the cheap pool abroad; what must stay does not, so the
  // home pool is held for it alone although abroad stands idle then.
  const std::vector<double> day = {4.0, 0.0}, night = {0.0, 4.0};
  SharedProblem problem{
      .supplies = {{.name = "abroad", .fee_hourly = usd(1.0)}, {.name = "home", .fee_hourly = usd(1.5)}},
      .demands = {{.name = "free", .work = day, .payg = 5.0, .uses = {{0, 1.0, 0.0}, {1, 1.0, 0.0}}},
                  {.name = "bound", .work = night, .payg = 5.0, .uses = {{1, 1.0, 0.0}}}}};
  const SharedPlan bound = *size_shared(problem, kSolver);
  EXPECT_DOUBLE_EQ(bound.units[0], 0.0);  // home has to be held at night, and serves the day too
  EXPECT_DOUBLE_EQ(bound.units[1], 4.0);
  EXPECT_NEAR(bound.cost, 4.0 * 2.0 * 1.5, 1e-9);
  problem.demands[1].uses.insert(problem.demands[1].uses.begin(), {0, 1.0, 0.0});
  const SharedPlan free = *size_shared(problem, kSolver);
  EXPECT_DOUBLE_EQ(free.units[0], 4.0);
  EXPECT_NEAR(free.cost, 4.0 * 2.0 * 1.0, 1e-9);
}

TEST(SharedPools, keep_to_sizes_and_budget) {
  SharedProblem problem{.supplies = {{.name = "ptu", .fee_hourly = usd(1.0), .units_min = 15, .increment = 5}},
                        .demands = {{.name = "a", .work = {12.0}, .payg = 3.0, .uses = {{0, 1.0, 0.0}}},
                                    {.name = "b", .work = {6.0}, .payg = 3.0, .uses = {{0, 1.0, 0.0}}}}};
  EXPECT_DOUBLE_EQ(size_shared(problem, kSolver)->units[0], 20.0);  // 20 for 18 saves 54 - 20; 15 saves 45 - 15
  problem.budget = 19.0;
  EXPECT_DOUBLE_EQ(size_shared(problem, kSolver)->units[0], 15.0);
  problem.budget = 14.0;
  EXPECT_DOUBLE_EQ(size_shared(problem, kSolver)->units[0], 0.0);
}

TEST(SharedPools, say_what_is_wrong) {
  const auto fault = [](auto change) {
    SharedProblem problem{.supplies = {{.name = "pool", .fee_hourly = usd(1.0)}},
                          .demands = {{.name = "a", .work = {1.0}, .payg = 3.0, .uses = {{0, 1.0, 0.0}}}}};
    change(problem);
    const Result<SharedPlan> plan = size_shared(problem, kSolver);
    return plan ? std::string("fine") : plan.error().what();
  };
  EXPECT_EQ(fault([](SharedProblem&) {}), "fine");
  EXPECT_THAT(fault([](SharedProblem& p) { p.demands[0].work[0] = -1.0; }), HasSubstr("a: a step has the demand -1"));
  EXPECT_THAT(fault([](SharedProblem& p) { p.demands[0].uses[0].supply = 3; }),
              HasSubstr("a supply that is not there"));
  EXPECT_THAT(fault([](SharedProblem& p) { p.demands[0].uses[0].capacity = 0.0; }), HasSubstr("not positive"));
  EXPECT_THAT(fault([](SharedProblem& p) { p.demands.clear(); }), HasSubstr("there is none"));
  EXPECT_THAT(fault([](SharedProblem& p) { p.supplies[0].capacity = -1.0; }), HasSubstr("pool: a unit has"));
}

}  // namespace
}  // namespace ace
