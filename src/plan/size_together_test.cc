#include "plan/size_together.h"

#include <cmath>

#include <gmock/gmock.h>

#include "core/testing.h"
#include "plan/coin_solver.h"

namespace ace {
namespace {

using ::testing::HasSubstr;
using Units = std::vector<std::vector<std::int64_t>>;

const CoinSolver kSolver;
const BurstProfile kEven;

/// Demand by hour for some days, each flat at its own level.
Series days(const std::vector<double>& levels) {
  Series series{"cell", Instant{}, kHour, {}};
  for (const double level : levels) series.values.insert(series.values.end(), 24, level);
  return series;
}

SizingProblem problem_of(const Series& demand, std::vector<Supply> supplies, double payg) {
  return {std::move(supplies), payg, *AbsorbedLoad::of(demand.values, 1.0, kEven)};
}

TEST(SizeTogether, without_limits_is_each_pool_alone) {
  for_each_seed(40, [](Rng& rng) {
    std::vector<Series> demands;
    std::vector<SizingProblem> problems;
    for (int p = 0; p < 2; ++p) {
      Series demand{"cell", Instant{}, kHour, std::vector<double>(30)};
      for (double& d : demand.values) d = rng.uniform() * 20.0;
      problems.push_back(problem_of(demand,
                                    {{.name = "held",
                                      .fee_hourly = Usd{static_cast<std::int64_t>(rng.below(3'000'000'000))},
                                      .units_min = 2,
                                      .increment = 3}},
                                    2.0 + rng.uniform()));
      demands.push_back(std::move(demand));
    }
    const PoolToSize pools[] = {{problems[0], demands[0], kEven}, {problems[1], demands[1], kEven}};
    const Units units = *size_together(pools, {}, kSolver);
    for (std::size_t p = 0; p < 2; ++p) {
      const std::vector<double> found(units[p].begin(), units[p].end());
      const std::vector<std::int64_t> alone = rounded(problems[p], screening_optimum(problems[p]));
      const double least = cost_of(problems[p], std::vector<double>(alone.begin(), alone.end())).total();
      EXPECT_NEAR(cost_of(problems[p], found).total(), least, 1e-6 * (1.0 + least));
    }
  });
}

TEST(SizeTogether, spends_a_budget_where_it_saves_most) {
  // Both pools need 4 units at 1 USD/h; a unit saves 3 USD/h in one and 5 in the other. 730 h x 6 USD buy 6 units.
  const Series demand = days({4.0, 4.0});
  const SizingProblem less = problem_of(demand, {{.name = "a", .fee_hourly = Usd{1'000'000'000}}}, 3.0),
                      more = problem_of(demand, {{.name = "b", .fee_hourly = Usd{1'000'000'000}}}, 5.0);
  const PoolToSize pools[] = {{less, demand, kEven}, {more, demand, kEven}};
  EXPECT_EQ(*size_together(pools, {}, kSolver), (Units{{4}, {4}}));
  EXPECT_EQ(*size_together(pools, {.budget_monthly = 730.0 * 6.0}, kSolver), (Units{{2}, {4}}));
}

TEST(SizeTogether, holds_a_reserve_and_insures_the_tail) {
  // Ten days at 2, one in ten at 12. A unit beyond 2 is at work a tenth of the time, worth 0.3 USD/h of its 1.
  const Series demand = days({2, 2, 2, 2, 2, 2, 2, 2, 2, 12});
  const SizingProblem problem = problem_of(demand, {{.name = "held", .fee_hourly = Usd{1'000'000'000}}}, 3.0);
  const PoolToSize pools[] = {{problem, demand, kEven}};
  EXPECT_EQ(*size_together(pools, {}, kSolver), (Units{{2}}));
  EXPECT_EQ(*size_together(pools, {.reserve = 0.5}, kSolver), (Units{{3}})) << "2 with one unit out";
  EXPECT_EQ(*size_together(pools, {.reserve = 1.0}, kSolver), (Units{{13}}));
  EXPECT_EQ(*size_together(pools, {.tail_weight = 1.0, .tail = 0.9}, kSolver), (Units{{12}})) << "the worst day alone";
}

TEST(SizeTogether, says_which_limits_cannot_be) {
  const Series demand = days({2.0});
  const SizingProblem problem = problem_of(demand, {{.name = "held", .fee_hourly = Usd{1'000'000'000}}}, 3.0);
  const PoolToSize pools[] = {{problem, demand, kEven}};
  const auto fault = [&](const SizingLimits& limits) {
    const Result<Units> units = size_together(pools, limits, kSolver);
    return units ? std::string("fine") : std::string(name_of(units.error().code())) + ": " + units.error().what();
  };
  EXPECT_THAT(fault({.tail_weight = 0.5}), HasSubstr("fewer than two whole ones"));
  EXPECT_THAT(fault({.reserve = 1.5}), HasSubstr("quantile 1.5"));
  EXPECT_THAT(fault({.budget_monthly = 1.0, .reserve = 1.0}), HasSubstr("out_of_range"));
}

}  // namespace
}  // namespace ace
