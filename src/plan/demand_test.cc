#include "plan/demand.h"

#include <gtest/gtest.h>

#include "replay/replay_testing.h"

namespace ace {
namespace {

using replay_testing::made;
using replay_testing::Made;
using replay_testing::MemorySource;

TEST(Demand, is_tokens_per_minute_by_step_and_adds_up_to_the_trace) {
  std::vector<Made> requests{made(0, 600, 60), made(30, 300, 30), made(3599.9, 1, 1), made(7200, 10, 2)};
  requests[0].arrival.cached = 200;
  requests.push_back(made(10'799.9, 50, 1));
  MemorySource source(std::move(requests));
  const Result<DemandReading> read = demand_of(source, {});
  ASSERT_TRUE(read) << read.error().what();
  EXPECT_EQ(read->requests, 5U);
  EXPECT_EQ(read->cached_unknown, 4U);
  ASSERT_EQ(read->cells.size(), 1U);
  const CellDemand& cell = read->cells[0];
  EXPECT_EQ(name_of(cell.cell), "any x any x any");
  // The first hour: 600 - 200 + 300 + 1 = 701 uncached, 200 cached, 91 output tokens over 60 minutes.
  ASSERT_EQ(cell.uncached.values.size(), 3U);
  EXPECT_DOUBLE_EQ(cell.requests.values[0], 3 / 60.0);
  EXPECT_DOUBLE_EQ(cell.uncached.values[0], 701 / 60.0);
  EXPECT_DOUBLE_EQ(cell.cached.values[0], 200 / 60.0);
  EXPECT_DOUBLE_EQ(cell.output.values[0], 91 / 60.0);
  EXPECT_EQ(cell.uncached.values[1], 0.0);  // nobody asked: an observation, no gap
  EXPECT_DOUBLE_EQ(cell.load({}).values[0], (701 + 4 * 91) / 60.0);
  EXPECT_DOUBLE_EQ(cell.load({.cached = 0.25, .output = 1.0}).values[0], (701 + 50 + 91) / 60.0);
}

TEST(Demand, leaves_out_first_and_last_steps_that_the_trace_saw_only_in_part) {
  std::vector<Made> requests;
  for (int i = 0; i < 100; ++i) requests.push_back(made(200 + 30 * i, 100, 10));  // 200 s .. 3170 s
  MemorySource source(std::move(requests));
  const Result<DemandReading> read = demand_of(source, {.step = 5 * kMinute});
  ASSERT_TRUE(read);
  const Series& s = read->cells[0].requests;
  EXPECT_EQ(nanos(s.start), 300 * nanos(kSecond));
  ASSERT_EQ(s.values.size(), 9U);  // 300 .. 3000 s
  for (const double v : s.values) EXPECT_DOUBLE_EQ(v, 2.0);
}

TEST(Demand, keeps_cells_apart_and_of_one_length) {
  std::vector<Made> requests{made(0, 1, 1), made(3599.5, 2, 2), made(3700, 3, 3), made(7199.9, 4, 4)};
  requests[1].arrival.model = 1;
  requests[2].arrival.batch = true;
  requests[3].arrival.cache_hit = true;
  MemorySource source(std::move(requests), {"large", "small"});
  const Result<DemandReading> read = demand_of(source, {});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->answered, 1U);
  ASSERT_EQ(read->cells.size(), 3U);
  EXPECT_EQ(name_of(read->cells[0].cell), "large x any x any");
  EXPECT_EQ(name_of(read->cells[1].cell), "large x any x batch");
  EXPECT_EQ(name_of(read->cells[2].cell), "small x any x any");
  for (const CellDemand& cell : read->cells) EXPECT_EQ(cell.requests.values.size(), 2U);
  EXPECT_GT(read->cells[1].output.values[1], 0.0);
}

TEST(Demand, takes_names_classes_and_profiles_from_the_fleet) {
  Fleet fleet;
  fleet.models.resize(1);
  fleet.models[0].name = "llama";
  fleet.models[0].aliases = {"llama-alias"};
  fleet.slo_classes.resize(2);
  fleet.slo_classes[0].name = "chat";
  fleet.slo_classes[1].name = "tight";
  fleet.compliance.resize(1);
  fleet.compliance[0].name = "eu-only";
  fleet.default_slo = SloId{0};
  fleet.tenants.resize(1);
  fleet.tenants[0].name = "acme";
  fleet.tenants[0].slo = SloId{1};
  fleet.tenants[0].compliance = ComplianceId{0};
  std::vector<Made> requests{made(0, 1, 1), made(3599.9, 1, 1)};
  requests[0].arrival.tenant = 1;
  requests[1].arrival.model = 1;
  MemorySource source(std::move(requests), {"llama-alias", "other"}, {"", "acme"});
  const Result<DemandReading> read = demand_of(source, {.fleet = &fleet});
  ASSERT_TRUE(read);
  ASSERT_EQ(read->cells.size(), 2U);
  EXPECT_EQ(name_of(read->cells[0].cell), "llama x eu-only x tight");
  EXPECT_EQ(name_of(read->cells[1].cell), "other x any x chat");
}

TEST(Demand, refuses_a_step_of_nothing_and_more_values_than_fit) {
  MemorySource source({made(0, 1, 1), made(1e9, 1, 1)});
  EXPECT_EQ(demand_of(source, {.step = Duration{0}}).error().code(), Errc::bad_input);
  EXPECT_EQ(demand_of(source, {.step = kSecond}).error().code(), Errc::out_of_range);
}

}  // namespace
}  // namespace ace
