/// Instances that others published, with the optimum where there is one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "plan/coin_solver.h"
#include "plan/unit_commitment.h"

namespace ace {
namespace {

using simdjson::dom::element;

class Json {
 public:
  explicit Json(const std::string& path) : root_(parser_.load(std::string(ACE_DATA) + "/" + path).value()) {}
  element operator*() const { return root_; }

 private:
  simdjson::dom::parser parser_;
  element root_;
};

double number(element e) { return e.get_double().value(); }
std::int64_t whole(element e) { return static_cast<std::int64_t>(number(e)); }
std::vector<double> numbers(element e) {
  std::vector<double> all;
  for (const element x : e.get_array()) all.push_back(number(x));
  return all;
}

/// A quadratic curve as Egret's tests take it: two pieces of equal width between points on the curve.
std::vector<CommitUnit::Point> two_pieces(element polynomial, double least, double most) {
  std::vector<CommitUnit::Point> points;
  for (const double load : {least, (least + most) / 2, most}) {
    if (!points.empty() && !(load > points.back().load)) continue;
    points.push_back(
        {load, number(polynomial["0"]) + number(polynomial["1"]) * load + number(polynomial["2"]) * load * load});
  }
  return points;
}

UnitCommitment egret(const std::string& name) {
  const Json json("egret-uc/" + name + ".json");
  UnitCommitment c;
  for (const auto& [bus, load] : (*json)["elements"]["load"].get_object()) {
    const std::vector<double> at_bus = numbers(load["p_load"]["values"]);
    c.demand.resize(at_bus.size(), 0.0);
    for (std::size_t t = 0; t < at_bus.size(); ++t) c.demand[t] += at_bus[t];
  }
  c.reserve = numbers((*json)["system"]["reserve_requirement"]["values"]);
  for (const auto& [key, g] : (*json)["elements"]["generator"].get_object()) {
    CommitUnit u;
    u.name = std::string(key);
    u.must_run = whole(g["must_run"]) != 0;
    u.least = number(g["p_min"]);
    u.most = number(g["p_max"]);
    u.ramp_up = number(g["ramp_up_60min"]);
    u.ramp_down = number(g["ramp_down_60min"]);
    u.at_start = number(g["startup_capacity"]);
    u.at_stop = number(g["shutdown_capacity"]);
    u.least_up = whole(g["min_up_time"]);
    u.least_down = whole(g["min_down_time"]);
    const std::int64_t state = whole(g["initial_status"]);
    u.on_before = state > 0 ? 1 : 0;
    u.unchanged_before = std::abs(state);
    u.load_before = number(g["initial_p_output"]);
    u.stop_cost = number(g["shutdown_cost"]);
    for (const element start : g["startup_cost"].get_array())
      u.starts.push_back({whole(start.at(0)), number(start.at(1))});
    u.curve = two_pieces(g["p_cost"]["values"], u.least, u.most);
    c.units.push_back(std::move(u));
  }
  return c;
}

/// What no plan of it breaks, and no gap hides.
void expect_sound(const UnitCommitment& c, const CommitPlan& plan) {
  double cost = 0;
  EXPECT_THAT(broken_rules(c, plan, &cost), testing::IsEmpty());
  EXPECT_NEAR(cost, plan.cost, 1e-6 * plan.cost) << "by the words of the instance, not by the program";
}

class UnitCommitmentOfEgret : public testing::TestWithParam<const char*> {};

TEST_P(UnitCommitmentOfEgret, reaches_the_published_optimum) {
  const std::string name = GetParam();
  const Json known("egret-uc/known_objectives.json");
  const double optimum = number((*known)["milp_optimum"][name]);
  const UnitCommitment c = egret(name);
  const Result<double> relaxed = commit_bound(c, CoinSolver());
  ASSERT_TRUE(relaxed) << relaxed.error().what();
  EXPECT_GE(*relaxed, number((*known)["lp_relaxation"]["tight"][name])) << "no looser than the published formulations";
  EXPECT_LE(*relaxed, optimum);
  const Result<CommitPlan> plan = commit_units(c, CoinSolver(), {.gap = 1e-4});
  ASSERT_TRUE(plan) << plan.error().what();
  EXPECT_GE(plan->cost, optimum * (1 - 1e-8));
  EXPECT_LE(plan->cost, optimum * (1 + 1e-4));
  EXPECT_LE(plan->bound, optimum * (1 + 1e-8));
  EXPECT_GE(plan->bound, plan->cost * (1 - 1.1e-4));
  expect_sound(c, *plan);
  fmt::print("{}: relaxed {:.3f}, plan {:.4f}, bound {:.4f}, optimum {:.4f}\n", name, *relaxed, plan->cost, plan->bound,
             optimum);
}

INSTANTIATE_TEST_SUITE_P(UnitCommitmentData, UnitCommitmentOfEgret,
                         testing::Values("test_case_1", "test_case_2", "test_case_3", "test_case_5"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace ace
