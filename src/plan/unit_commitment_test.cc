#include "plan/unit_commitment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/testing.h"
#include "plan/coin_solver.h"

namespace ace {
namespace {

using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Carries 0 to 10 at 5 an hour and 1 for each unit of load; loading its model costs 8.
CommitUnit replica() {
  CommitUnit unit;
  unit.name = "replica";
  unit.most = 10;
  unit.starts = {{0, 8}};
  unit.curve = {{0, 5}, {10, 15}};
  return unit;
}

CommitSource api(std::size_t periods, double cost) {
  return {"api", std::vector<double>(periods, 0.0), std::vector<double>(periods, kInfinite), cost};
}

TEST(UnitCommitment, starts_a_replica_only_where_it_pays) {
  UnitCommitment c{{2, 9, 9, 2}, {}, {replica()}, {api(4, 2.0)}};
  // Two full hours: 8 + 2 x (5 + 9) = 36 on the replica, 36 at the API; with a third such hour it is worth it.
  c.demand = {2, 9, 9, 9, 2};
  c.sources = {api(5, 2.0)};
  const Result<CommitPlan> plan = commit_units(c, CoinSolver());
  ASSERT_TRUE(plan) << plan.error().what();
  EXPECT_THAT(plan->units[0].on, ElementsAre(0, 1, 1, 1, 0));
  EXPECT_EQ(plan->units[0].starts, 1);
  EXPECT_NEAR(plan->cost, 4 + (8 + 3 * 14) + 4, 1e-6);
  c.demand = {2, 8, 2, 8, 2};
  const Result<CommitPlan> apart = commit_units(c, CoinSolver());
  ASSERT_TRUE(apart);
  EXPECT_THAT(apart->units[0].on, ElementsAre(0, 0, 0, 0, 0)) << "a start for each hour costs more than it brings";
}

TEST(UnitCommitment, keeps_room_on_units_that_are_on) {
  UnitCommitment c{{8, 8}, {}, {replica(), replica()}, {api(2, 50.0)}};
  c.units[1].name = "other";
  EXPECT_EQ(commit_units(c, CoinSolver())->units[0].on[0] + commit_units(c, CoinSolver())->units[1].on[0], 1);
  c.reserve = {3, 3};
  const Result<CommitPlan> plan = commit_units(c, CoinSolver());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->units[0].on[0] + plan->units[1].on[0], 2) << "an API that is not on holds no reserve";
}

TEST(UnitCommitment, of_many_alike_counts_them) {
  CommitUnit pool = replica();
  pool.count = 7;
  pool.on_before = 2;
  const UnitCommitment c{{15, 42, 61, 30}, {}, {pool}, {}};
  const Result<CommitPlan> plan = commit_units(c, CoinSolver());
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->units[0].on, ElementsAre(2, 5, 7, 3));
  EXPECT_EQ(plan->units[0].starts, 5);
  EXPECT_NEAR(plan->cost, 5 * 8 + 17 * 5 + 148, 1e-6);
  EXPECT_EQ(commit_units({{71}, {}, {pool}, {}}, CoinSolver()).error().code(), Errc::out_of_range);
}

TEST(UnitCommitment, goes_on_from_what_was_carried_before) {
  CommitUnit unit = replica();
  unit.on_before = 1;
  unit.load_before = 8;
  unit.ramp_down = 3;
  unit.must_run = true;
  // All of it would be cheaper at the API: 8 may fall to 5, then to 2.
  UnitCommitment c{{6, 6}, {}, {unit}, {api(2, 0.5)}};
  EXPECT_THAT(commit_units(c, CoinSolver())->units[0].load, ElementsAre(DoubleNear(5, 1e-6), DoubleNear(2, 1e-6)));
  // One that may carry no more than 4 when it stops stays on for a period in which it comes down to that.
  c.units[0].must_run = false;
  c.units[0].ramp_down = kInfinite;
  c.units[0].at_stop = 4;
  EXPECT_THAT(commit_units(c, CoinSolver())->units[0].on, ElementsAre(1, 0));
  c.units[0].load_before = 4;
  EXPECT_THAT(commit_units(c, CoinSolver())->units[0].on, ElementsAre(0, 0));
}

/// A random commitment of a few single units.
UnitCommitment any(Rng& rng, std::size_t periods) {
  const auto upto = [&](std::uint64_t most) { return static_cast<double>(rng.below(most + 1)); };
  UnitCommitment c;
  for (std::size_t t = 0; t < periods; ++t) c.demand.push_back(upto(30));
  if (rng.below(2) == 0)
    for (std::size_t t = 0; t < periods; ++t) c.reserve.push_back(upto(4));
  for (std::size_t u = 0; u < 2; ++u) {
    CommitUnit unit;
    unit.name = u == 0 ? "one" : "two";
    unit.least = upto(4);
    const double middle = unit.least + 1 + upto(6);
    unit.most = middle + 1 + upto(6);
    const double slope = upto(5);
    unit.curve = {{unit.least, 3 + upto(10)}};
    unit.curve.push_back({middle, unit.curve[0].cost + slope * (middle - unit.least)});
    unit.curve.push_back({unit.most, unit.curve[1].cost + (slope + upto(4)) * (unit.most - middle)});
    if (rng.below(2) == 0) unit.ramp_up = 1 + upto(6);
    if (rng.below(2) == 0) unit.ramp_down = 1 + upto(6);
    if (rng.below(2) == 0) unit.at_start = unit.least + upto(3);
    if (rng.below(2) == 0) unit.at_stop = unit.least + upto(3);
    unit.least_up = 1 + static_cast<std::int64_t>(rng.below(3));
    unit.least_down = 1 + static_cast<std::int64_t>(rng.below(3));
    unit.on_before = static_cast<std::int64_t>(rng.below(2));
    unit.unchanged_before = 1 + static_cast<std::int64_t>(rng.below(4));
    if (unit.on_before == 1) unit.load_before = unit.least + upto(3);
    unit.load_before = std::min(unit.load_before, unit.most);
    unit.stop_cost = upto(2);
    unit.starts = {{1, upto(6)}};
    if (rng.below(2) == 0)
      unit.starts.push_back({2 + static_cast<std::int64_t>(rng.below(3)), unit.starts[0].cost + upto(9)});
    c.units.push_back(std::move(unit));
  }
  c.sources.push_back(api(periods, 4 + upto(12)));
  return c;
}

/// The same by trying every way to switch: what is left is a linear program, without the tightened rows' integers.
double by_trying(const UnitCommitment& c) {
  const std::size_t periods = c.demand.size();
  double best = kInfinite;
  for (unsigned switched = 0; switched < 1U << (2 * periods); ++switched) {
    UnitCommitment fixed = c;
    CommitPlan plan;
    // Given what is on, loads are integers here if they are at all: try them one by one, each unit's best for each
    // period follows from the others by the balance, so a search over both units' loads is enough.
    std::vector<std::vector<std::int64_t>> on(2);
    for (std::size_t u = 0; u < 2; ++u)
      for (std::size_t t = 0; t < periods; ++t) on[u].push_back(switched >> (u * periods + t) & 1U);
    plan.units = {{on[0], std::vector<double>(periods, 0.0), 0}, {on[1], std::vector<double>(periods, 0.0), 0}};
    plan.sources = {std::vector<double>(periods, 0.0)};
    std::vector<std::pair<std::size_t, std::size_t>> free;
    for (std::size_t u = 0; u < 2; ++u)
      for (std::size_t t = 0; t < periods; ++t)
        if (on[u][t] == 1) free.emplace_back(u, t);
    const auto search = [&](const auto& self, std::size_t i) -> void {
      if (i == free.size()) {
        for (std::size_t t = 0; t < periods; ++t)
          plan.sources[0][t] = c.demand[t] - plan.units[0].load[t] - plan.units[1].load[t];
        double cost = 0;
        if (*std::min_element(plan.sources[0].begin(), plan.sources[0].end()) < 0) return;
        if (broken_rules(c, plan, &cost).empty()) best = std::min(best, cost);
        return;
      }
      const auto [u, t] = free[i];
      for (double load = c.units[u].least; load <= std::min(c.units[u].most, c.demand[t]); ++load) {
        plan.units[u].load[t] = load;
        self(self, i + 1);
      }
    };
    search(search, 0);
  }
  return best;
}

TEST(UnitCommitment, costs_what_the_best_of_all_ways_costs) {
  int feasible = 0;
  for_each_seed(40, [&](Rng& rng) {
    const UnitCommitment c = any(rng, 3);
    const Result<CommitPlan> plan = commit_units(c, CoinSolver());
    const double best = by_trying(c);  // all figures are whole, and so are the corners of what is allowed
    if (!plan) {
      ASSERT_EQ(plan.error().code(), Errc::out_of_range) << plan.error().what();
      ASSERT_EQ(best, kInfinite);
      return;
    }
    ++feasible;
    ASSERT_NEAR(plan->cost, best, 1e-4 * best);
  });
  EXPECT_GT(feasible, 20);
}

TEST(UnitCommitment, breaks_no_rule_and_no_bound_and_gains_by_each_choice) {
  for_each_seed(60, [](Rng& rng) {
    UnitCommitment c = any(rng, 8);
    const Result<CommitPlan> plan = commit_units(c, CoinSolver());
    if (!plan) return;
    double cost = 0;
    ASSERT_THAT(broken_rules(c, *plan, &cost), IsEmpty());
    ASSERT_NEAR(cost, plan->cost, 1e-5 * cost);
    const Result<double> relaxed = commit_bound(c, CoinSolver());
    ASSERT_TRUE(relaxed);
    ASSERT_LE(*relaxed, plan->cost * (1 + 1e-6));
    c.sources.push_back(api(8, 3.0));
    const Result<CommitPlan> more = commit_units(c, CoinSolver());
    ASSERT_TRUE(more);
    ASSERT_LE(more->cost, plan->cost * (1 + 1e-4));
  });
}

TEST(UnitCommitment, names_each_rule_that_a_plan_breaks) {
  CommitUnit unit = replica();
  unit.least = 2;
  unit.curve = {{2, 5}, {10, 15}};
  unit.ramp_up = unit.ramp_down = 3;
  unit.at_start = unit.at_stop = 4;
  unit.least_up = unit.least_down = 2;
  const UnitCommitment c{{4, 6, 4, 2, 0, 0}, {0, 1, 0, 0, 0, 0}, {unit}, {api(6, 2.0)}};
  const CommitPlan good{{{{1, 1, 1, 1, 0, 0}, {4, 6, 4, 2, 0, 0}, 1}}, {{0, 0, 0, 0, 0, 0}}, 0, 0};
  EXPECT_THAT(broken_rules(c, good), IsEmpty());
  const auto with = [&](const std::vector<std::int64_t>& on, const std::vector<double>& load) {
    CommitPlan plan = good;
    plan.units[0] = {on, load, 0};
    for (std::size_t t = 0; t < load.size(); ++t) plan.sources[0][t] = c.demand[t] - load[t];
    return broken_rules(c, plan);
  };
  EXPECT_THAT(with({1, 1, 1, 1, 0, 0}, {4, 7, 1, 2, 0, 0}), Contains(HasSubstr("less than the least")));
  EXPECT_THAT(with({1, 1, 1, 1, 0, 0}, {2, 7, 4, 2, 0, 0}), Contains(HasSubstr("rises too fast")));
  EXPECT_THAT(with({1, 1, 1, 1, 0, 0}, {4, 7, 3, 2, 0, 0}), Contains(HasSubstr("falls too fast")));
  EXPECT_THAT(with({1, 0, 0, 1, 1, 0}, {4, 0, 0, 2, 0, 0}), Contains(HasSubstr("period 2: stops too soon")));
  EXPECT_THAT(with({1, 1, 0, 1, 1, 0}, {4, 4, 0, 2, 0, 0}), Contains(HasSubstr("period 4: starts too soon")));
  EXPECT_THAT(with({0, 1, 1, 1, 0, 0}, {0, 7, 4, 2, 0, 0}), Contains(HasSubstr("too much when it starts")));
  EXPECT_THAT(with({1, 1, 0, 0, 0, 0}, {4, 7, 0, 0, 0, 0}), Contains(HasSubstr("carried too much before it stops")));
  EXPECT_THAT(with({0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}), Contains(HasSubstr("in reserve")));
  EXPECT_THAT(with({1, 1, 1, 1, 0, 0}, {4, 11, 4, 2, 0, 0}), Contains(HasSubstr("more than the most")));
  EXPECT_THAT(with({2, 1, 1, 1, 0, 0}, {4, 7, 4, 2, 0, 0}), Contains(HasSubstr("not so many")));
  CommitPlan short_of_it = good;
  short_of_it.units[0].load[0] = 3;
  EXPECT_THAT(broken_rules(c, short_of_it), Contains(HasSubstr("3 is carried of 4")));
}

TEST(UnitCommitment, says_what_is_wrong_with_a_unit) {
  const auto what = [](const std::function<void(CommitUnit&)>& change) {
    UnitCommitment c{{1}, {}, {replica()}, {api(1, 2.0)}};
    change(c.units[0]);
    const Result<CommitPlan> plan = commit_units(c, CoinSolver());
    if (plan) return std::string("nothing");
    EXPECT_EQ(plan.error().code(), Errc::bad_input);
    return plan.error().what();
  };
  EXPECT_EQ(what([](CommitUnit&) {}), "nothing");
  EXPECT_THAT(what([](CommitUnit& u) {
                u.curve = {{0, 5}, {5, 15}, {10, 16}};
              }),
              HasSubstr("unit replica: its cost curve is not convex"));
  EXPECT_THAT(what([](CommitUnit& u) { u.curve = {}; }), HasSubstr("no cost curve"));
  EXPECT_THAT(what([](CommitUnit& u) { u.curve.back().load = 9; }), HasSubstr("goes from 0 to 9"));
  EXPECT_THAT(what([](CommitUnit& u) { u.least = 11; }), HasSubstr("least <= most"));
  EXPECT_THAT(what([](CommitUnit& u) { u.most = std::nan(""); }), HasSubstr("least <= most"));
  EXPECT_THAT(what([](CommitUnit& u) { u.least_up = 0; }), HasSubstr("at least one period"));
  EXPECT_THAT(what([](CommitUnit& u) { u.count = 0; }), HasSubstr("at least 1"));
  EXPECT_THAT(what([](CommitUnit& u) { u.starts = {{0, 8}, {4, 7}}; }), HasSubstr("do not rise"));
  EXPECT_THAT(what([](CommitUnit& u) { u.count = 2, u.ramp_up = 1; }), HasSubstr("list them one by one"));
  EXPECT_THAT(what([](CommitUnit& u) { u.on_before = 2; }), HasSubstr("2 of 1 were on"));
  EXPECT_THAT(what([](CommitUnit& u) { u.at_start = -1; }), HasSubstr("never start"));
  EXPECT_THAT(commit_units({}, CoinSolver()).error().what(), HasSubstr("at least one period"));
  EXPECT_THAT(commit_units({{-1}, {}, {}, {}}, CoinSolver()).error().what(), HasSubstr("period 1: demand -1"));
  EXPECT_THAT(commit_units({{1}, {1, 2}, {}, {}}, CoinSolver()).error().what(), HasSubstr("reserve has 2 periods"));
  EXPECT_THAT(commit_units({{1, 1}, {}, {}, {api(1, 2.0)}}, CoinSolver()).error().what(), HasSubstr("source api"));
}

}  // namespace
}  // namespace ace
