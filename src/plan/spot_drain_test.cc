#include "plan/spot_drain.h"

#include "core/testing.h"

namespace ace {
namespace {

TEST(SpotDrain, finishes_what_fits_hands_over_what_can_move_and_counts_the_rest) {
  const Usd stake{1000}, carry{100};
  const Duration never{-1};
  const struct {
    const char* why;
    Duration lead;
    DrainItem item;
    DrainAction want;
    Usd lost;
  } cases[] = {
      {"ends in time", 30 * kSecond, {20 * kSecond, 5 * kSecond, stake, carry}, DrainAction::finish, {}},
      {"ends just in time", 30 * kSecond, {30 * kSecond, never, stake, carry}, DrainAction::finish, {}},
      {"can move", 30 * kSecond, {40 * kSecond, 5 * kSecond, stake, carry}, DrainAction::hand_over, carry},
      {"cannot move", 30 * kSecond, {40 * kSecond, never, stake, carry}, DrainAction::lose, stake},
      // 42 minutes to write a checkpoint, as large trainers take: no lead of any cloud covers it.
      {"moves too slowly", 2 * kMinute, {3 * kHour, 42 * kMinute, stake, carry}, DrainAction::lose, stake},
      {"not worth moving", 30 * kSecond, {40 * kSecond, 5 * kSecond, carry, carry}, DrainAction::lose, carry},
      {"no notice at all", {}, {kSecond, kSecond, stake, carry}, DrainAction::lose, stake},
      {"no notice, but it needs none", {}, {kSecond, {}, stake, carry}, DrainAction::hand_over, carry},
  };
  for (const auto& c : cases) {
    const Drain plan = drain(c.lead, std::span(&c.item, 1));
    EXPECT_EQ(plan.actions[0], c.want) << c.why;
    EXPECT_EQ(plan.lost, c.lost) << c.why;
  }
}

TEST(SpotDrain, a_longer_lead_never_loses_more_and_is_never_overrun) {
  for_each_seed(500, [](Rng& rng) {
    std::vector<DrainItem> items;
    for (std::int64_t n = rng.between(0, 20); n > 0; --n)
      items.push_back({rng.between(0, 200) * kSecond,
                       rng.between(-50, 200) * kSecond,
                       {rng.between(0, 1000)},
                       {rng.between(0, 1000)}});
    Usd before{1'000'000};
    for (const std::int64_t lead : {0, 10, 30, 60, 120, 300}) {
      const Drain plan = drain(lead * kSecond, items);
      EXPECT_EQ(plan.actions.size(), items.size());
      EXPECT_LE(plan.lost, before);
      EXPECT_LE(plan.done, lead * kSecond);
      before = plan.lost;
    }
  });
}

}  // namespace
}  // namespace ace
