#include "plan/size.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "core/testing.h"

namespace ace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Usd usd(double dollars) { return *usd_from_physics(dollars); }

SizingProblem problem_of(std::vector<Supply> supplies, double payg, const std::vector<double>& demand,
                         const BurstProfile& profile = {}) {
  return {std::move(supplies), payg, *AbsorbedLoad::of(demand, 1.0, profile)};
}

SizingProblem random_problem(Rng& rng, std::size_t supplies_max) {
  std::vector<double> demand(2 + rng.below(200));
  for (double& d : demand) d = rng.below(6) == 0 ? 0.0 : rng.uniform() * 50.0;
  std::vector<Supply> supplies(1 + rng.below(supplies_max));
  for (std::size_t k = 0; k < supplies.size(); ++k) {
    Supply& s = supplies[k];
    s.name = "s" + std::to_string(k);
    s.capacity = 0.25 + rng.uniform() * 4.0;
    s.fee_hourly = usd(rng.uniform() * 4.0 * s.capacity);
    s.variable = rng.uniform() * 2.0;
    s.units_min = 1 + static_cast<std::int64_t>(rng.below(4));
    s.increment = 1 + static_cast<std::int64_t>(rng.below(3));
  }
  const double share = 0.1 + 0.8 * rng.uniform();
  const BurstProfile profile = rng.below(2) == 0 ? BurstProfile() : *BurstProfile::through({{1.0, share}, {3.0, 1.0}});
  return problem_of(std::move(supplies), 1.0 + rng.uniform() * 4.0, demand, profile);
}

double total(const SizingProblem& problem, const std::vector<double>& units) { return cost_of(problem, units).total(); }

TEST(Sizing, shows_its_working) {
  // 4 hours with demands 4, 0, 10, 7; 5 units at 1 USD/h take 4 + 0 + 5 + 5 = 14 of 21, the rest costs 3 USD each.
  const SizingProblem problem = problem_of({{.name = "held", .fee_hourly = usd(1.0)}}, 3.0, {4.0, 0.0, 10.0, 7.0});
  const SizingCost cost = cost_of(problem, std::vector<double>{5.0});
  EXPECT_DOUBLE_EQ(cost.fixed, 20.0);
  EXPECT_DOUBLE_EQ(cost.payg, 21.0);
  EXPECT_DOUBLE_EQ(break_even_utilization(problem.supplies[0], 3.0), 1.0 / 3.0);
  // A unit pays if it is at work in more than 4/3 of 4 hours: beyond 7 only one hour is.
  EXPECT_THAT(screening_optimum(problem), ElementsAre(7.0));
  // From 7 units to 8: 4 USD of fees for 3 USD of PAYG.
  EXPECT_DOUBLE_EQ(value_of_next(problem, std::vector<double>{7.0}, 0), -1.0);
  const std::vector<std::int64_t> seven = {7};
  const PricedPlan plan = *price_plan(problem, seven);
  EXPECT_EQ(plan.fixed, usd(28.0));
  EXPECT_EQ(plan.payg, usd(9.0));
}

TEST(Sizing, says_when_fees_and_payg_together_are_no_amount) {
  const SizingProblem problem = problem_of({{.name = "held", .fee_hourly = usd(5e9)}}, 5e9, {2.0});
  const std::vector<std::int64_t> none = {0}, one = {1};
  EXPECT_THAT(price_plan(problem, none).error().what(), HasSubstr("PAYG cost"));
  EXPECT_THAT(price_plan(problem, one).error().what(), HasSubstr("more than 9.2 billion USD"));
}

TEST(Sizing, optimum_is_the_quantile_of_demand_at_the_discount) {
  for_each_seed(300, [](Rng& rng) {
    std::vector<double> demand(1 + rng.below(300));
    for (double& d : demand) d = rng.uniform() * 100.0;
    const double payg = 1.0 + rng.uniform(), discount = rng.uniform();
    const SizingProblem problem =
        problem_of({{.name = "held", .fee_hourly = usd(payg * (1.0 - discount))}}, payg, demand);
    // From the price as it is booked, so that a tie breaks alike.
    const double ratio = static_cast<double>(problem.supplies[0].fee_hourly.nano) * 1e-9 / payg;
    const double n = static_cast<double>(demand.size());
    std::sort(demand.begin(), demand.end());
    const auto rank = static_cast<std::size_t>(std::ceil(n * (1.0 - ratio)));
    EXPECT_DOUBLE_EQ(screening_optimum(problem)[0], rank == 0 ? 0.0 : demand[rank - 1]);
  });
}

TEST(Sizing, p90_is_the_optimum_at_a_discount_of_90_percent_alone) {
  std::vector<double> demand;
  for (int i = 1; i <= 100; ++i) demand.push_back(i);
  const auto optimum = [&](double discount) {
    return screening_optimum(problem_of({{.name = "held", .fee_hourly = usd(1.0 - discount)}}, 1.0, demand))[0];
  };
  EXPECT_DOUBLE_EQ(AbsorbedLoad::of(demand, 1.0, {})->quantile(0.9), 90.0);
  EXPECT_NEAR(optimum(0.9), 90.0, 1.0);
  EXPECT_NEAR(optimum(0.64), 64.0, 1.0);
  EXPECT_NEAR(optimum(0.45), 45.0, 1.0);
}

TEST(Sizing, no_other_level_costs_less_than_the_optimum) {
  for_each_seed(300, [](Rng& rng) {
    const SizingProblem problem = random_problem(rng, 5);
    const double least = total(problem, screening_optimum(problem));
    for (int i = 0; i < 40; ++i) {
      std::vector<double> other(problem.supplies.size());
      for (double& u : other) u = rng.below(3) == 0 ? 0.0 : rng.uniform() * 60.0;
      EXPECT_LE(least, total(problem, other) * (1.0 + 1e-12) + 1e-9);
    }
  });
}

TEST(Sizing, a_further_supply_never_raises_the_cost) {
  for_each_seed(200, [](Rng& rng) {
    SizingProblem problem = random_problem(rng, 5);
    const double with_all = total(problem, screening_optimum(problem));
    problem.supplies.pop_back();
    EXPECT_LE(with_all, total(problem, screening_optimum(problem)) * (1.0 + 1e-12) + 1e-9);
  });
}

TEST(Sizing, scales_with_demand_and_with_prices) {
  for_each_seed(100, [](Rng& rng) {
    std::vector<double> demand(50), doubled(50);
    for (std::size_t i = 0; i < demand.size(); ++i) doubled[i] = 2.0 * (demand[i] = rng.uniform() * 9.0);
    const Supply held{.name = "held", .fee_hourly = Usd{1 + static_cast<std::int64_t>(rng.below(2'000'000'000))}};
    Supply dear = held;
    dear.fee_hourly = held.fee_hourly + held.fee_hourly;
    const std::vector<double> once = screening_optimum(problem_of({held}, 2.0, demand));
    EXPECT_DOUBLE_EQ(screening_optimum(problem_of({held}, 2.0, doubled))[0], 2.0 * once[0]);
    EXPECT_DOUBLE_EQ(screening_optimum(problem_of({dear}, 4.0, demand))[0], once[0]);
  });
}

TEST(Sizing, whole_sizes_of_one_supply_are_the_best_there_are) {
  for_each_seed(200, [](Rng& rng) {
    const SizingProblem problem = random_problem(rng, 1);
    const Supply& s = problem.supplies[0];
    const std::vector<double> whole = {static_cast<double>(rounded(problem, screening_optimum(problem))[0])};
    double least = total(problem, {0.0});
    for (std::int64_t u = s.units_min; static_cast<double>(u) * s.capacity < 200.0; u += s.increment)
      least = std::min(least, total(problem, {static_cast<double>(u)}));
    EXPECT_NEAR(total(problem, whole), least, 1e-9 * (1.0 + least));
  });
}

TEST(Sizing, sizes_are_minimum_plus_increments) {
  const auto sizes = [](std::int64_t least, std::int64_t step, double units,
                        std::optional<std::int64_t> most = std::nullopt) {
    const Sizes s = sizes_around({.name = "ptu", .units_min = least, .increment = step, .units_max = most}, units);
    return std::pair(s.floor, s.ceil);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  // Published: 105.88 regional PTUs of gpt-5.2 (50, 50) are 150, 76.47 are 100; global (15, 5) they are 110 and 80.
  EXPECT_EQ(sizes(50, 50, 105.88), Pair(100, 150));
  EXPECT_EQ(sizes(50, 50, 76.47), Pair(50, 100));
  EXPECT_EQ(sizes(15, 5, 105.88), Pair(105, 110));
  EXPECT_EQ(sizes(15, 5, 76.47), Pair(75, 80));
  EXPECT_EQ(sizes(25, 50, 60.0), Pair(25, 75)) << "o1: the minimum is no multiple of the increment";
  EXPECT_EQ(sizes(50, 50, 20.0), Pair(0, 50));
  EXPECT_EQ(sizes(50, 50, 100.0), Pair(100, 100));
  EXPECT_EQ(sizes(50, 50, 0.0), Pair(0, 0));
  EXPECT_EQ(sizes(50, 50, 900.0, 170), Pair(150, 150));
  EXPECT_EQ(sizes(50, 50, 900.0, 0), Pair(0, 0));
}

TEST(Sizing, holds_nothing_that_cannot_pay) {
  const std::vector<double> demand = {1.0, 5.0, 9.0};
  const struct {
    const char* why;
    double fee, variable, payg, break_even;
  } cases[] = {
      {"price inversion: the fee alone is dearer than PAYG", 3.0, 0.0, 2.0, 1.5},
      {"its work costs as much as PAYG", 0.1, 2.0, 2.0, std::numeric_limits<double>::infinity()},
      {"PAYG is free", 1.0, 0.0, 0.0, std::numeric_limits<double>::infinity()},
  };
  for (const auto& c : cases) {
    const SizingProblem problem =
        problem_of({{.name = "held", .fee_hourly = usd(c.fee), .variable = c.variable}}, c.payg, demand);
    ASSERT_TRUE(check(problem)) << c.why;
    EXPECT_EQ(break_even_utilization(problem.supplies[0], c.payg), c.break_even) << c.why;
    EXPECT_THAT(screening_optimum(problem), ElementsAre(0.0)) << c.why;
    EXPECT_LE(value_of_next(problem, std::vector<double>{0.0}, 0), 0.0) << c.why;
  }
}

TEST(Sizing, of_what_is_free_holds_all_demand) {
  const SizingProblem problem = problem_of({{.name = "sunk"}}, 2.0, {1.0, 5.0, 9.0});
  EXPECT_THAT(screening_optimum(problem), ElementsAre(9.0));
  EXPECT_DOUBLE_EQ(total(problem, {9.0}), 0.0);
}

TEST(Sizing, of_a_single_hour_is_that_hour_or_nothing) {
  const auto optimum = [](double fee) {
    return screening_optimum(problem_of({{.name = "held", .fee_hourly = usd(fee)}}, 2.0, {6.0}))[0];
  };
  EXPECT_DOUBLE_EQ(optimum(1.99), 6.0);
  EXPECT_DOUBLE_EQ(optimum(2.01), 0.0);
}

TEST(Sizing, at_a_given_capacity_cuts_or_grows_the_stack) {
  // base: 1 USD/h and 0 at work; peak: 0.2 USD/h and 2 at work; PAYG 5. Base pays beyond 0.4 of 10 hours against peak.
  std::vector<double> demand;
  for (int i = 1; i <= 10; ++i) demand.push_back(i);
  const SizingProblem problem = problem_of({{.name = "base", .fee_hourly = usd(1.0)},
                                            {.name = "peak", .capacity = 2.0, .fee_hourly = usd(0.4), .variable = 2.0}},
                                           5.0, demand);
  EXPECT_THAT(screening_optimum(problem), ElementsAre(6.0, 2.0));  // 4 hours above 6; none needs less than 0.67
  EXPECT_THAT(screening_at(problem, 4.0), ElementsAre(4.0, 0.0));
  EXPECT_THAT(screening_at(problem, 9.0), ElementsAre(6.0, 1.5));
  EXPECT_THAT(screening_at(problem, 12.0), ElementsAre(6.0, 3.0));
}

TEST(Sizing, says_what_is_wrong_with_a_problem) {
  const Supply good{.name = "held", .fee_hourly = usd(1.0)};
  const auto fault = [&](auto change, double payg = 1.0) {
    Supply s = good;
    change(s);
    const Result<void> checked = check(problem_of({s}, payg, {1.0}));
    return checked ? std::string("fine") : checked.error().what();
  };
  EXPECT_EQ(fault([](Supply&) {}), "fine");
  EXPECT_THAT(fault([](Supply& s) { s.capacity = 0.0; }), HasSubstr("held: a unit has the capacity 0"));
  EXPECT_THAT(fault([](Supply& s) { s.fee_hourly = Usd{-1}; }), HasSubstr("fee is negative"));
  EXPECT_THAT(fault([](Supply& s) { s.variable = kGap; }), HasSubstr("variable cost is nan"));
  EXPECT_THAT(fault([](Supply& s) { s.increment = 0; }), HasSubstr("both must be at least 1"));
  EXPECT_THAT(fault([](Supply& s) { s.units_min = 50, s.units_max = 20; }), HasSubstr("at least 50 units are sold"));
  EXPECT_THAT(fault([](Supply&) {}, kGap), HasSubstr("PAYG price is nan"));
}

}  // namespace
}  // namespace ace
