#include "plan/absorbed.h"

#include <algorithm>
#include <limits>

#include <gmock/gmock.h>

#include "core/testing.h"

namespace ace {
namespace {

using ::testing::HasSubstr;

std::vector<double> random_demand(Rng& rng, std::size_t most) {
  std::vector<double> demand(1 + rng.below(most));
  for (double& d : demand) d = rng.below(8) == 0 ? 0.0 : rng.uniform() * 40.0;
  return demand;
}

TEST(AbsorbedLoad, of_even_demand_is_the_sum_of_what_fits_under_the_capacity) {
  const std::vector<double> demand = {4.0, 0.0, 10.0, kGap, 7.0};
  const AbsorbedLoad load = *AbsorbedLoad::of(demand, 1.0, {});
  EXPECT_DOUBLE_EQ(load.hours(), 4.0);  // the gap is no hour
  EXPECT_DOUBLE_EQ(load.total(), 21.0);
  EXPECT_DOUBLE_EQ(load.at(0.0), 0.0);
  EXPECT_DOUBLE_EQ(load.at(5.0), 4.0 + 5.0 + 5.0);
  EXPECT_DOUBLE_EQ(load.at(8.0), 4.0 + 8.0 + 7.0);
  EXPECT_DOUBLE_EQ(load.at(1e9), 21.0);
  EXPECT_DOUBLE_EQ(load.hours_at_work(0.0), 3.0);
  EXPECT_DOUBLE_EQ(load.hours_at_work(4.0), 2.0) << "beyond 4 only the hours with 10 and 7";
  EXPECT_DOUBLE_EQ(load.hours_at_work(10.0), 0.0);
}

TEST(AbsorbedLoad, refuses_what_is_no_demand) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const struct {
    const char* why;
    std::vector<double> demand;
    const char* what;
  } cases[] = {
      {"negative", {1.0, -2.0}, "value 2 of 2 is -2"},
      {"infinite", {kInfinite}, "value 1 of 1 is inf"},
      {"gaps alone", {kGap, kGap}, "no interval has a value"},
      {"nothing", {}, "no interval has a value"},
  };
  for (const auto& c : cases) {
    const Result<AbsorbedLoad> load = AbsorbedLoad::of(c.demand, 1.0, {});
    ASSERT_FALSE(load) << c.why;
    EXPECT_EQ(load.error().code(), Errc::bad_input) << c.why;
    EXPECT_THAT(load.error().what(), HasSubstr(c.what)) << c.why;
  }
}

TEST(AbsorbedLoad, level_is_the_least_capacity_beyond_which_few_enough_hours_are_at_work) {
  for_each_seed(200, [](Rng& rng) {
    const std::vector<double> demand = random_demand(rng, 60);
    const AbsorbedLoad load = *AbsorbedLoad::of(demand, 1.0, {});
    const double hours = rng.uniform() * static_cast<double>(demand.size());
    const double level = load.level(hours);
    const auto above = [&](double c) {
      return static_cast<double>(std::count_if(demand.begin(), demand.end(), [&](double d) { return d > c; }));
    };
    EXPECT_LE(above(level), hours);
    EXPECT_TRUE(level == 0.0 || above(level * (1.0 - 1e-9)) > hours);
  });
}

/// The even spread as a table of its own: work in a burst of the given share of each interval.
BurstProfile burst(double share_of_time) {
  return *BurstProfile::through({{1.0, share_of_time}, {1.0 / share_of_time, 1.0}});
}

TEST(AbsorbedLoad, with_a_profile_is_the_sum_over_intervals_and_concave) {
  for_each_seed(200, [](Rng& rng) {
    const std::vector<double> demand = random_demand(rng, 40);
    const BurstProfile profile = burst(0.05 + 0.9 * rng.uniform());
    const double hours = 0.25;
    const AbsorbedLoad load = *AbsorbedLoad::of(demand, hours, profile);
    const double a = rng.uniform() * 100.0, b = rng.uniform() * 100.0;
    const auto direct = [&](double c) {
      double sum = 0.0;
      for (const double d : demand)
        if (d > 0.0) sum += hours * d * profile.share(c / d);
      return sum;
    };
    EXPECT_NEAR(load.at(a), direct(a), 1e-9 * (1.0 + load.total()));
    EXPECT_GE(load.at((a + b) / 2.0) + 1e-9, (load.at(a) + load.at(b)) / 2.0);
    EXPECT_LE(load.at(a), load.total() * (1.0 + 1e-12));
  });
}

TEST(BurstProfile, is_the_least_concave_one_at_or_above_its_knots) {
  const BurstProfile profile = *BurstProfile::through({{2.0, 0.5}, {0.5, 0.3}, {1.0, 0.2}, {4.0, 1.0}});
  // (1, 0.2) lies below the line from (0.5, 0.3) to (4, 1), which has slope 0.2; so does (2, 0.5) by 0.1.
  EXPECT_DOUBLE_EQ(profile.share(1.0), 0.4);
  EXPECT_DOUBLE_EQ(profile.share(2.0), 0.6);
  EXPECT_DOUBLE_EQ(profile.share(0.25), 0.15);
  EXPECT_DOUBLE_EQ(profile.share(9.0), 1.0);
  EXPECT_FALSE(BurstProfile::through({{-1.0, 0.2}}));
  EXPECT_FALSE(BurstProfile::through({{1.0, 1.2}}));
}

Series flat(double mean, std::size_t hours) { return {"cell", Instant{}, kHour, std::vector<double>(hours, mean)}; }

TEST(BurstReplay, of_a_steady_stream_finds_the_even_profile) {
  const Series demand = flat(3.0, 1);
  BurstReplay replay(demand);
  for (int i = 0; i < 36'000; ++i) replay.add(Instant{} + i * (kSecond / 10), 0.3, 1.0);
  const BurstProfile profile = replay.profile();
  EXPECT_NEAR(profile.share(0.5), 0.5, 1e-3);
  EXPECT_NEAR(profile.share(1.0), 1.0, 2e-2);  // the knots next to 1 are 4% off it
}

TEST(BurstReplay, absorbs_of_one_burst_what_fits_its_patience) {
  // All work of an hour comes at once, 3,600 x 1. A server of `ratio` does ratio x 36 of it in 36 s: 1% of the hour.
  const Series demand = flat(1.0, 1);
  BurstReplay replay(demand);
  replay.add(Instant{} + kMinute, 3600.0, 36.0);
  const BurstProfile profile = replay.profile();
  EXPECT_NEAR(profile.share(1.0), 0.01, 1e-9);
  EXPECT_NEAR(profile.share(100.0), 1.0, 0.02);  // knots lie 9% apart
}

TEST(BurstReplay, finds_shares_that_are_concave_where_all_work_is_equally_patient) {
  for_each_seed(30, [](Rng& rng) {
    const Series demand = flat(1.0, 1);
    BurstReplay replay(demand);
    Instant at{};
    double work = 0.0;
    const double patience = 0.2 + rng.uniform() * 20.0;
    struct Unit {
      Instant at;
      double work;
    };
    std::vector<Unit> units;
    for (int i = 0; i < 400; ++i) {
      at += from_seconds(rng.below(5) == 0 ? rng.uniform() * 30.0 : rng.uniform() * 0.5);
      units.push_back({at, rng.uniform() * 20.0});
      work += units.back().work;
    }
    for (const Unit& unit : units) replay.add(unit.at, unit.work, patience);
    // A second run, server by server, with what the knots of the profile cannot show: the raw shares.
    const auto absorbed = [&](double rate) {
      double backlog = 0.0, taken = 0.0;
      Instant last{};
      for (const Unit& unit : units) {
        backlog = std::max(0.0, backlog - rate * to_seconds(unit.at - last));
        last = unit.at;
        const double take = std::clamp(unit.work, 0.0, std::max(0.0, rate * patience - backlog));
        backlog += take;
        taken += take;
      }
      return taken / work;
    };
    const double a = rng.uniform() * 8.0, b = rng.uniform() * 8.0;
    EXPECT_GE(absorbed((a + b) / 2.0) + 1e-9, (absorbed(a) + absorbed(b)) / 2.0);
    const double knot = replay.profile().knots()[20].ratio;
    EXPECT_NEAR(replay.profile().share(knot), std::min(knot, absorbed(knot)), 1e-9);
  });
}

}  // namespace
}  // namespace ace
