#include "plan/coin_solver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/testing.h"

namespace ace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Bounds = LinearProgram::Bounds;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// At least 10 from two sources: the cheap one gives 4 at most.
LinearProgram two_sources(bool whole) {
  LinearProgram p;
  const auto cheap = p.add_column(1.0, {0, 4}, whole), dear = p.add_column(3.0, {}, whole);
  const auto demand = p.add_row({10, kInfinite});
  p.add_term(demand, dear, 1);
  p.add_term(demand, cheap, 1);
  return p;
}

TEST(CoinSolver, finds_the_least_cost_and_what_one_more_would_add) {
  const Result<LpSolution> s = CoinSolver().solve(two_sources(false));
  ASSERT_TRUE(s) << s.error().what();
  EXPECT_NEAR(s->cost, 22.0, 1e-9);
  EXPECT_EQ(s->bound, s->cost);
  EXPECT_THAT(s->columns, ElementsAre(4.0, 6.0));
  ASSERT_EQ(s->duals.size(), 1U);
  EXPECT_NEAR(s->duals[0], 3.0, 1e-9);
}

TEST(CoinSolver, keeps_quiet) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_TRUE(CoinSolver().solve(two_sources(false)));
  EXPECT_TRUE(CoinSolver().solve(two_sources(true)));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(CoinSolver, says_why_there_is_no_solution) {
  for (const bool whole : {false, true}) {
    LinearProgram too_much = two_sources(whole);
    too_much.columns[1].upper = 5;
    EXPECT_EQ(CoinSolver().solve(too_much).error().code(), Errc::out_of_range);
    EXPECT_THAT(CoinSolver().solve(too_much).error().what(), HasSubstr("no solution keeps all bounds"));
    LinearProgram endless = two_sources(whole);
    endless.cost[1] = -1;
    EXPECT_THAT(CoinSolver().solve(endless).error().what(), HasSubstr("no least value"));
  }
}

TEST(CoinSolver, refuses_what_is_no_program) {
  LinearProgram p = two_sources(false);
  p.cost[0] = kNone;
  EXPECT_THAT(CoinSolver().solve(p).error().what(), HasSubstr("column 0"));
  p = two_sources(false);
  p.rows[0] = {3, 2};
  EXPECT_THAT(CoinSolver().solve(p).error().what(), HasSubstr("row 0"));
  p = two_sources(false);
  p.terms[1].factor = kInfinite;
  EXPECT_EQ(CoinSolver().solve(p).error().code(), Errc::bad_input);
  p = two_sources(false);
  p.terms[1].row = 1;
  EXPECT_EQ(CoinSolver().solve(p).error().code(), Errc::bad_input);
}

TEST(CoinSolver, of_small_knapsacks_finds_what_trying_everything_finds) {
  for_each_seed(100, [](Rng& rng) {
    constexpr std::size_t kThings = 10;
    LinearProgram p;
    std::vector<double> weight;
    const auto room = p.add_row({-kInfinite, 100});
    for (std::size_t i = 0; i < kThings; ++i) {
      weight.push_back(static_cast<double>(1 + rng.below(50)));
      p.add_term(room, p.add_column(-static_cast<double>(1 + rng.below(50)), {0, 1}, true), weight.back());
    }
    double best = 0;
    for (unsigned chosen = 0; chosen < 1U << kThings; ++chosen) {
      double cost = 0, taken = 0;
      for (std::size_t i = 0; i < kThings; ++i)
        if ((chosen >> i & 1U) != 0) cost += p.cost[i], taken += weight[i];
      if (taken <= 100) best = std::min(best, cost);
    }
    const Result<LpSolution> s = CoinSolver().solve(p);
    ASSERT_TRUE(s) << s.error().what();
    ASSERT_NEAR(s->cost, best, 1e-9);
    ASSERT_LE(s->bound, s->cost);
    ASSERT_NEAR(s->bound, best, 1e-5 * std::abs(best));
    const Result<LpSolution> again = CoinSolver().solve(p);
    ASSERT_TRUE(again);
    ASSERT_EQ(again->columns, s->columns);
  });
}

}  // namespace
}  // namespace ace
