#include "plan/pool_trace.h"

#include <gmock/gmock.h>

#include "core/testing.h"
#include "plan/sizing.h"
#include "replay/replay_testing.h"

namespace ace {
namespace {

using replay_testing::api_fleet;
using replay_testing::made;
using replay_testing::Made;
using replay_testing::MemorySource;
using replay_testing::owned_pool;
using replay_testing::simple_profile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// 15 PTUs of 2,500 normalized tokens a minute, an output token counts four times; 0.10 USD for a unit and hour.
Destination ptu_block() {
  Destination d;
  d.name = "ptu";
  d.provider = ProviderId{0};
  d.tier = Tier::reserved;
  d.commitment_hourly = Usd{1'500'000'000};
  d.serving.resize(1);
  d.serving[0].model = ModelId{0};
  d.serving[0].ptu = PtuTerms{.units = 15, .tokens_per_minute_per_unit = 2'500};
  return d;
}

/// A request of 600 prompt and 225 output tokens is 1,500 normalized: 36 s of a unit. It costs 825 USD/M = 0.000825
/// USD.
MemorySource requests(int each_hour, int hours) {
  return MemorySource::of(static_cast<std::size_t>(each_hour * hours),
                          [&](std::size_t i) { return made(static_cast<double>(i) * 3600.0 / each_hour, 600, 225); });
}

PoolTraceOptions train(double share) { return {.naming = {}, .train = share}; }

TEST(PoolTrace, counts_demand_in_units_of_what_can_be_held) {
  const auto fleet = api_fleet();
  fleet->destinations.push_back(ptu_block());
  const Snapshot snapshot(*fleet);
  MemorySource source = requests(400, 4);  // 400 x 36 s = 4 units x 3,600 s
  const PoolReading reading = *read_pools(snapshot, source, train(0.5));
  ASSERT_EQ(reading.pools.size(), 1U);
  const PoolTrace& trace = reading.pools[0];
  EXPECT_FALSE(trace.in_sample());
  ASSERT_EQ(trace.train.demand.values.size(), 2U);
  ASSERT_EQ(trace.held_out.demand.values.size(), 2U);
  EXPECT_NEAR(trace.train.demand.values[1], 4.0, 1e-9);
  EXPECT_EQ(trace.train.payg, Usd{800 * 825'000});
  EXPECT_NEAR(trace.train.payg_hourly, 0.0825, 1e-12);  // 100 requests are the work of a unit and hour
  const SizingProblem problem = *problem_of(snapshot, trace.pool, trace.train);
  EXPECT_EQ(problem.supplies[0].fee_hourly, Usd{100'000'000});
  EXPECT_EQ(problem.supplies[0].units_min, 15);
  EXPECT_EQ(problem.supplies[0].increment, 5);
  EXPECT_EQ(problem.supplies[0].units_today, 15);
}

TEST(PoolTrace, judges_a_plan_request_by_request) {
  const auto fleet = api_fleet();
  fleet->destinations.push_back(ptu_block());
  const Snapshot snapshot(*fleet);
  MemorySource source = requests(400, 4);
  const PoolTraceOptions options = train(0.5);
  const PoolReading reading = *read_pools(snapshot, source, options);
  const std::vector<HeldUnits> plans = {{0, {0}}, {0, {2}}, {0, {15}}};
  const std::vector<ReplayedCost> costs = *replay_plans(snapshot, source, options, reading, plans);
  EXPECT_EQ(costs[0].requests, 800U);
  EXPECT_EQ(costs[0].total(), Usd{800 * 825'000});
  EXPECT_EQ(costs[1].fixed, Usd{2 * 2 * 100'000'000}) << "2 units for 2 h";
  // A meter takes a request while what it holds is below its window, whatever the request needs: half of a steady 4.
  EXPECT_NEAR(static_cast<double>(costs[1].absorbed), 400.0, 5.0);
  EXPECT_EQ(costs[1].payg, Usd{static_cast<std::int64_t>(800 - costs[1].absorbed) * 825'000});
  EXPECT_EQ(costs[2].absorbed, 800U);
  EXPECT_EQ(costs[2].payg, Usd{});
}

TEST(PoolTrace, gives_gpus_what_they_finish_within_the_limits_of_its_class) {
  const auto fleet = api_fleet();
  fleet->destinations.push_back(owned_pool(simple_profile()));
  fleet->slo_classes[0].ttft = from_seconds(1e-3);
  const PoolTraceOptions options = train(0.5);
  const std::vector<HeldUnits> plans = {{0, {1}}};
  for (const bool paced : {false, true}) {
    if (paced) fleet->slo_classes[0].tpot = from_seconds(0.2);  // 225 tokens may take 45 s
    const Snapshot snapshot(*fleet);
    MemorySource source = requests(400, 4);
    const PoolReading reading = *read_pools(snapshot, source, options);
    EXPECT_EQ((*replay_plans(snapshot, source, options, reading, plans))[0].absorbed, paced ? 800U : 0U);
  }
}

TEST(PoolTrace, flags_what_was_planned_and_judged_on_the_same) {
  const auto fleet = api_fleet();
  fleet->destinations.push_back(ptu_block());
  const Snapshot snapshot(*fleet);
  MemorySource source = requests(10, 1);
  const PoolReading reading = *read_pools(snapshot, source, train(0.5));
  EXPECT_TRUE(reading.pools[0].in_sample()) << "one step cannot be cut in two";
  EXPECT_EQ(&reading.pools[0].judge(), &reading.pools[0].train);
}

TEST(PoolTrace, counts_units_of_several_kinds_by_what_each_takes_of_the_same_requests) {
  const auto fleet = api_fleet();
  fleet->destinations.push_back(owned_pool(simple_profile()));
  fleet->destinations.push_back(ptu_block());
  const Snapshot snapshot(*fleet);
  MemorySource source = requests(400, 2);
  const PoolReading reading = *read_pools(snapshot, source, train(1.0));
  const PoolPart& part = reading.pools[0].train;
  ASSERT_EQ(part.capacity.size(), 2U);
  EXPECT_DOUBLE_EQ(part.capacity[0], 1.0);
  // A unit of the first is a GPU that takes (demand / 400 x 3,600) s for what a PTU needs 36 s for.
  EXPECT_NEAR(part.capacity[1], part.demand.values[0] * 9.0 / 36.0, 1e-9);
}

TEST(PoolTrace, says_what_it_did_not_size) {
  const auto fleet = api_fleet();
  const Snapshot apis_alone(*fleet);
  MemorySource source = requests(10, 1);
  const Result<PoolReading> none = read_pools(apis_alone, source, train(0.5));
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().what(), HasSubstr("capacity that is held in units"));

  fleet->destinations.push_back(ptu_block());
  const Snapshot snapshot(*fleet);
  MemorySource mixed = MemorySource::of(10, [](std::size_t i) {
    Made m = made(static_cast<double>(i), i == 3 ? 200'000 : 600, 225);  // beyond every context window
    m.arrival.failed = i == 4;
    return m;
  });
  const PoolReading reading = *read_pools(snapshot, mixed, train(1.0));
  EXPECT_EQ(reading.pools[0].train.requests, 8U);
  EXPECT_EQ(reading.left_out[static_cast<std::size_t>(Unpooled::unpriced)], 1U);
  EXPECT_FALSE(read_pools(snapshot, mixed, train(0.0)));
}

TEST(PoolTrace, halves_a_series_and_refuses_what_is_no_demand) {
  const Supply supply{.name = "held", .fee_hourly = Usd{1'000'000'000}};
  Series series{"cell", Instant{}, kHour, {1.0, 2.0, 3.0}};
  const SizingHalves halves = *halves_of(series, 0.5, supply, 2.0);
  EXPECT_THAT(halves.planned_on.values, ElementsAre(1.0, 2.0));
  EXPECT_THAT(halves.judged_on.values, ElementsAre(3.0));
  EXPECT_EQ(halves.judged_on.start, Instant{} + 2 * kHour);
  EXPECT_TRUE(halves_of(series, 1.0, supply, 2.0)->in_sample);
  series.values[2] = -3.0;
  EXPECT_FALSE(halves_of(series, 0.5, supply, 2.0));
  series.values = {1.0, kGap};
  EXPECT_THAT(halves_of(series, 0.5, supply, 2.0).error().what(), HasSubstr("what judges: demand: no interval"));
}

TEST(SizedPlans, have_no_regret_in_sample_and_never_a_negative_one) {
  for_each_seed(100, [](Rng& rng) {
    const auto problem = [&] {
      Rng same(7, "supplies");
      std::vector<double> demand(24);
      for (double& d : demand) d = rng.uniform() * 30.0;
      SizingProblem p{{}, 3.0, *AbsorbedLoad::of(demand, 1.0, {})};
      for (int k = 0; k < 3; ++k)
        p.supplies.push_back({.name = std::string(1, static_cast<char>('a' + k)),
                              .fee_hourly = Usd{static_cast<std::int64_t>(same.below(2'000'000'000))},
                              .variable = same.uniform()});
      return p;
    };
    const auto best = [](const SizingProblem& p) { return rounded(p, screening_optimum(p)); };
    const SizingProblem train = problem(), judge = problem();
    const Sizing sizing = *size_up(train, judge, best(train), {0.1, 0.3, 0.5});
    EXPECT_GE(sizing.regret, Usd{});
    EXPECT_EQ(size_up(train, train, best(train), {})->regret, Usd{});
    for (const Exposure& e : sizing.exposure) EXPECT_GE(e.held, e.best);
    EXPECT_GE(sizing.exposure[0].nothing, sizing.exposure[2].nothing);
    EXPECT_EQ(sizing.nothing.priced.fixed, Usd{});
  });
}

}  // namespace
}  // namespace ace
