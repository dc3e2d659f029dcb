#include "plan/term_plan.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/testing.h"
#include "plan/coin_solver.h"

namespace ace {
namespace {

using ::testing::HasSubstr;

const CoinSolver kSolver;

Usd usd(double dollars) { return *usd_from_physics(dollars); }

/// A day each, flat at its level.
Series days(const std::vector<double>& levels) {
  Series series{"cell", Instant{}, kHour, {}};
  for (const double level : levels) series.values.insert(series.values.end(), 24, level);
  return series;
}

TermProblem by_the_day() {
  // A unit saves 24 USD a day. A day costs 20, three days 12 a day and 9 once.
  TermProblem problem{.supply = {.name = "ptu"}, .payg = 1.0, .terms = {}, .period = kDay};
  problem.terms = {{"day", 1, usd(20.0)}, {"three", 3, usd(12.0), usd(9.0)}};
  return problem;
}

TEST(TermPlan, buys_each_term_where_it_pays) {
  // 5 units on each of 6 days, 8 more on the third: 5 terms of three days from the first and from the third, which meet
  // there, 3 units more for that day, and for the last a third of 5 terms.
  const TermPlan plan = *plan_terms(days({5, 5, 13, 5, 5, 5}), by_the_day(), kSolver);
  EXPECT_EQ(plan.fees, usd(5.0 * 45.0 + 5.0 * 45.0 + 3.0 * 20.0 + 5.0 * 15.0));
  EXPECT_EQ(plan.payg, Usd{});
  EXPECT_EQ(plan.all_payg, usd(24.0 * 38.0));
  EXPECT_EQ(plan.periods[2].held, 13);
  EXPECT_EQ(plan.periods[3].start, Instant{} + 3 * kDay);
  Usd fees{};
  for (const TermPlan::Bought& b : plan.bought) fees += b.fee;
  EXPECT_EQ(fees, plan.fees);
}

TEST(TermPlan, counts_what_is_committed_already_until_it_ends) {
  TermProblem problem = by_the_day();
  problem.held_units = 5;
  problem.held_periods = 2;
  const TermPlan plan = *plan_terms(days({5, 5, 5, 5, 5}), problem, kSolver);
  EXPECT_EQ(plan.fees, usd(5.0 * 3 * 15.0));
  ASSERT_EQ(plan.bought.size(), 1U);
  EXPECT_EQ(plan.bought[0].period, 2U);
}

TEST(TermPlan, leaves_to_payg_what_no_term_pays_for) {
  TermProblem problem = by_the_day();
  problem.terms = {{"day", 1, usd(25.0)}};
  const TermPlan plan = *plan_terms(days({5, 5}), problem, kSolver);
  EXPECT_TRUE(plan.bought.empty());
  EXPECT_EQ(plan.total(), plan.all_payg);
}

TEST(TermPlan, never_costs_more_with_a_further_term) {
  for_each_seed(20, [](Rng& rng) {
    std::vector<double> levels(3 + rng.below(5));
    for (double& level : levels) level = static_cast<double>(rng.below(12));
    TermProblem problem = by_the_day();
    problem.supply.units_min = 2;
    const double with = static_cast<double>(plan_terms(days(levels), problem, kSolver)->total().nano);
    problem.terms.pop_back();
    const double without = static_cast<double>(plan_terms(days(levels), problem, kSolver)->total().nano);
    EXPECT_LE(with, without * (1.0 + 2e-5) + 1.0);
  });
}

TEST(TermPlan, says_what_is_wrong) {
  const auto fault = [](auto change) {
    TermProblem problem = by_the_day();
    change(problem);
    const Result<TermPlan> plan = plan_terms(days({5, 5}), problem, kSolver);
    return plan ? std::string("fine") : plan.error().what();
  };
  EXPECT_EQ(fault([](TermProblem&) {}), "fine");
  EXPECT_THAT(fault([](TermProblem& p) { p.period = kMinute; }), HasSubstr("shorter than a step"));
  EXPECT_THAT(fault([](TermProblem& p) { p.terms.clear(); }), HasSubstr("none to buy"));
  EXPECT_THAT(fault([](TermProblem& p) { p.terms[0].periods = 0; }), HasSubstr("day: it lasts no period"));
  // 10 units for 24 hours each at 1e8 USD: 24 billion.
  EXPECT_THAT(fault([](TermProblem& p) { p.payg = 1e8; }), HasSubstr("more than 4.6 billion USD"));
  EXPECT_THAT(fault([](TermProblem& p) { p.payg = std::nan(""); }), HasSubstr("the PAYG price is nan"));
}

}  // namespace
}  // namespace ace
