#include "plan/valley_capacity.h"

#include <gtest/gtest.h>

#include "fleet/example_testing.h"

namespace ace {
namespace {

struct Replayed {
  Fleet fleet = parsed(kExampleFleet).fleet;
  Snapshot snapshot{fleet};
  DestinationId pool() const {
    for (std::uint32_t d = 0; d < fleet.destinations.size(); ++d)
      if (fleet.destinations[d].name == "h100-a") return DestinationId{d};
    return {};
  }
  Analysis analysis() const {
    Analysis a;
    a.series = LoadSeries(fleet.destinations.size());
    a.used_share.resize(fleet.destinations.size());
    return a;
  }
};

TEST(ValleyCapacity, is_what_the_knee_leaves_beside_the_traffic) {
  const Replayed world;
  Analysis a = world.analysis();
  const auto pool = world.pool().value;
  // One unit for 20 s in buckets of 10 s, used for a quarter of the time: 5 unit-seconds serve 1,000 tokens, of which
  // 800 fall into the first 10 s (4 unit-seconds: 0.4 of a unit) and 200 into the second (0.1).
  a.series.at(instant(0)).tokens[pool] += 800;
  a.series.at(instant(0) + 10 * kSecond).tokens[pool] += 200;
  a.used_share[pool] = 0.25;
  for (std::uint32_t o = 0; o < world.snapshot.offers().size(); ++o)
    if (world.snapshot[OfferId{o}].destination == world.pool()) a.knees.push_back({OfferId{o}, SloId{0}, 0.9, 0.8});
  const Series s = *free_units(world.snapshot, a, world.pool(), 10 * kSecond);
  ASSERT_EQ(s.values.size(), 2U);
  EXPECT_NEAR(s.values[0], 0.8 - 0.4, 1e-12);
  EXPECT_NEAR(s.values[1], 0.8 - 0.1, 1e-12);
  // One step over both, and steps that cut a bucket.
  EXPECT_NEAR(free_units(world.snapshot, a, world.pool(), kMinute)->values[0], 0.55, 1e-12);
  const Series fine = *free_units(world.snapshot, a, world.pool(), 4 * kSecond);
  ASSERT_EQ(fine.values.size(), 5U);
  EXPECT_NEAR(fine.values[2], 0.5 * 0.4 + 0.5 * 0.7, 1e-12);
}

TEST(ValleyCapacity, is_none_where_traffic_is_above_the_knee) {
  const Replayed world;
  Analysis a = world.analysis();
  a.series.at(instant(0)).tokens[world.pool().value] += 800;
  a.used_share[world.pool().value] = 1.0;
  EXPECT_EQ(free_units(world.snapshot, a, world.pool(), kHour)->values, std::vector<double>{0.0});
}

TEST(ValleyCapacity, only_of_owned_pools_that_were_replayed) {
  const Replayed world;
  const Analysis empty = world.analysis();
  EXPECT_FALSE(free_units(world.snapshot, empty, world.pool(), kHour));
  for (std::uint32_t d = 0; d < world.fleet.destinations.size(); ++d)
    if (world.fleet.destinations[d].tier != Tier::owned) {
      EXPECT_FALSE(free_units(world.snapshot, empty, DestinationId{d}, kHour));
    }
}

}  // namespace
}  // namespace ace
