#include "dispatch/contingency.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "dispatch/learn_testing.h"

namespace ace {
namespace {

TEST(Contingency, is_the_room_elsewhere_over_the_load_that_would_move) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const struct {
    const char* why;
    std::vector<Room> rooms;  // load, free
    double want;
  } cases[] = {
      {"no load", {{0, 5}, {0, 5}}, inf},
      {"one destination alone", {{10, 90}}, 0.0},
      {"its own free room goes with it", {{10, 100}, {0, 5}}, 0.5},
      {"the worst loss counts", {{10, 5}, {4, 8}}, 0.8},
      {"an unlimited API takes all", {{10, 0}, {0, inf}}, inf},
      {"infinite room, but it is the one that is lost", {{10, inf}, {0, 5}}, 0.5},
  };
  for (const auto& c : cases) EXPECT_DOUBLE_EQ(contingency_of(c.rooms), c.want) << c.why;
}

TEST(Contingency, a_trip_takes_the_room_away_and_raises_the_flag) {
  auto fleet = learn::models(1);
  learn::add_pool(*fleet, "pool", learn::slots_only(100));
  learn::add_api(*fleet, "api", 1'000'000'000);
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  const OfferId pool = learn::offer_of(snapshot, "pool"), api = learn::offer_of(snapshot, "api");
  for (int i = 0; i < 200; ++i)
    belief.completed(learn::at(i * 0.1), learn::send(belief, learn::at(i * 0.1), pool, learn::request(100, 100)),
                     learn::answer(100), true);
  belief.live(learn::at(30));
  EXPECT_EQ(belief.contingency(ModelId{0}), std::numeric_limits<double>::infinity());
  EXPECT_FALSE(belief.live(learn::at(30)).reserve_short);
  const Claim claim = learn::send(belief, learn::at(36), api, learn::request(100, 100));
  belief.rejected(learn::at(36), claim, Rejection::refused, Duration{0});
  EXPECT_TRUE(belief.live(learn::at(40)).reserve_short);
  EXPECT_LT(belief.contingency(ModelId{0}), 1.0);
}

}  // namespace
}  // namespace ace
