#include "dispatch/fill.h"

#include "core/testing.h"

namespace ace {
namespace {

TEST(Fill, takes_the_cheapest_first_and_the_last_in_part) {
  // capacity 10 at 0.4 and 100 at 3.0, demand 14: the first takes 10, the second 4, so the bill is 10 x 0.4 + 4 x 3 =
  // 16
  const Step steps[] = {{1, 3.0, 100.0}, {0, 0.4, 10.0}};
  const Result<Filled> filled = fill(steps, 14.0);
  ASSERT_TRUE(filled);
  EXPECT_EQ(filled->by_source, (std::vector<double>{10.0, 4.0}));
  EXPECT_DOUBLE_EQ(filled->cost, 16.0);
  EXPECT_EQ(filled->price, 3.0);
  EXPECT_EQ(filled->unserved, 0.0);
}

TEST(Fill, says_what_it_could_not_serve) {
  const Step steps[] = {{0, 1.0, 2.0}, {1, 1.0, 3.0}};
  const Result<Filled> filled = fill(steps, 9.0);
  ASSERT_TRUE(filled);
  EXPECT_EQ(filled->unserved, 4.0);
  EXPECT_EQ(filled->price, 1.0);
}

TEST(Fill, breaks_ties_by_source) {
  const Step steps[] = {{1, 1.0, 5.0}, {0, 1.0, 5.0}};
  EXPECT_EQ(fill(steps, 5.0)->by_source, (std::vector<double>{5.0, 0.0}));
}

TEST(Fill, refuses_what_is_not_a_supply_curve) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const Step& bad : {Step{0, 1.0, -1.0}, Step{0, 1.0, inf}, Step{0, nan, 1.0}, Step{0, inf, 1.0}})
    EXPECT_EQ(fill(std::span(&bad, 1), 1.0).error().code(), Errc::bad_input);
  EXPECT_EQ(fill({}, -1.0).error().code(), Errc::bad_input);
  EXPECT_EQ(fill({}, nan).error().code(), Errc::bad_input);
}

/// Rising steps of a few sources, as a supply curve has them; whole numbers, so that sums are exact.
std::vector<Step> random_steps(Rng& rng) {
  std::vector<Step> steps;
  const auto sources = static_cast<std::uint32_t>(rng.between(1, 6));
  for (std::uint32_t s = 0; s < sources; ++s) {
    auto cost = static_cast<double>(rng.below(10));
    for (std::int64_t k = rng.between(1, 4); k > 0; --k) {
      steps.push_back({s, cost, static_cast<double>(rng.below(20))});
      cost += static_cast<double>(rng.below(4));
    }
  }
  return steps;
}
double capacity_of(const std::vector<Step>& steps) {
  double sum = 0.0;
  for (const Step& s : steps) sum += s.quantity;
  return sum;
}

TEST(Fill, serves_exactly_the_load_and_never_more_than_there_is) {
  for_each_seed(500, [](Rng& rng) {
    const std::vector<Step> steps = random_steps(rng);
    const auto load = static_cast<double>(rng.below(120));
    const Filled filled = *fill(steps, load);
    double served = 0.0;
    for (const double q : filled.by_source) served += q;
    EXPECT_EQ(served + filled.unserved, load);
    EXPECT_EQ(served, std::min(load, capacity_of(steps)));
  });
}

TEST(Fill, never_costs_more_with_capacity_added_at_or_below_the_price) {
  for_each_seed(500, [](Rng& rng) {
    std::vector<Step> steps = random_steps(rng);
    const double load = static_cast<double>(rng.below(100));
    const Filled before = *fill(steps, load);
    if (before.unserved > 0.0) return;  // more capacity then serves more, which costs more
    steps.push_back({6, before.price - static_cast<double>(rng.below(3)), static_cast<double>(rng.below(30))});
    EXPECT_LE(fill(steps, load)->cost, before.cost);
  });
}

TEST(Fill, never_gives_a_source_more_once_its_price_rose) {
  for_each_seed(500, [](Rng& rng) {
    std::vector<Step> steps = random_steps(rng);
    const double load = static_cast<double>(rng.below(100));
    const std::uint32_t source = steps[rng.below(steps.size())].source;
    const double before = fill(steps, load)->by_source[source];
    const auto rise = static_cast<double>(rng.between(1, 5));
    for (Step& s : steps)
      if (s.source == source) s.marginal_cost += rise;
    EXPECT_LE(fill(steps, load)->by_source[source], before);
  });
}

TEST(Fill, does_not_depend_on_the_order_of_the_steps) {
  for_each_seed(500, [](Rng& rng) {
    std::vector<Step> steps = random_steps(rng);
    const double load = static_cast<double>(rng.below(100));
    const Filled want = *fill(steps, load);
    rng.shuffle(std::span(steps));
    const Filled got = *fill(steps, load);
    EXPECT_EQ(got.by_source, want.by_source);
    EXPECT_EQ(got.price, want.price);
    EXPECT_EQ(got.cost, want.cost);
  });
}

// MATPOWER case9 without its network: cost 0.11 P^2 + 5 P + 150, 0.085 P^2 + 1.2 P + 600, 0.1225 P^2 + P + 335 between
// 10 and 250, 300, 270 MW at 315 MW. All are inside their limits, so P_i = (lambda - c1_i) / (2 c2_i) and
// lambda = (315 + 5/0.22 + 1.2/0.17 + 1/0.245) / (1/0.22 + 1/0.17 + 1/0.245) = 24.0441895449, cost 5216.0266077.
TEST(Fill, finds_the_price_of_matpower_case9) {
  const double c2[] = {0.11, 0.085, 0.1225}, c1[] = {5.0, 1.2, 1.0}, c0[] = {150.0, 600.0, 335.0};
  const double high[] = {250.0, 300.0, 270.0}, low = 10.0;
  constexpr int kSteps = 1 << 20;
  std::vector<Step> steps;
  double cost = 0.0;
  for (std::uint32_t u = 0; u < 3; ++u) {
    cost += c0[u] + c1[u] * low + c2[u] * low * low;
    const double width = (high[u] - low) / kSteps;
    for (int k = 0; k < kSteps; ++k) steps.push_back({u, c1[u] + 2.0 * c2[u] * (low + (k + 0.5) * width), width});
  }
  const Filled filled = *fill(steps, 315.0 - 3.0 * low);
  EXPECT_NEAR(filled.price / 24.0441895449, 1.0, 1e-5);
  EXPECT_NEAR((cost + filled.cost) / 5216.0266077, 1.0, 1e-6);
  EXPECT_NEAR(low + filled.by_source[0], 86.5644979, 1e-3);
  EXPECT_NEAR(low + filled.by_source[1], 134.3775856, 1e-3);
  EXPECT_NEAR(low + filled.by_source[2], 94.0579165, 1e-3);
}

}  // namespace
}  // namespace ace
