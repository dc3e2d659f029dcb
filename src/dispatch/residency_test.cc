#include "dispatch/residency.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "dispatch/learn_testing.h"

namespace ace {
namespace {

using learn::at;

/// Two nodes of the pool that swaps; class chat has a TTFT of 2 s.
std::unique_ptr<Fleet> swapping_fleet() {
  auto fleet = learn::models(2);
  fleet->slo_classes[0].ttft = 2 * kSecond;
  learn::add_swapping_pool(*fleet, 2);
  return fleet;
}

struct World {
  std::unique_ptr<Fleet> fleet = swapping_fleet();
  Snapshot snapshot{*fleet};
  Live live{snapshot};
  Residency residency{snapshot, live};
  OfferId home = learn::offer_of(snapshot, "pool", 0), guest = learn::offer_of(snapshot, "pool", 1);
  DestinationId pool{0};
  std::vector<std::int64_t> units{2};
  void holds(double t, OfferId who, bool loaded, bool open) { residency.holds(at(t), {pool, who, loaded, open}, live); }
  [[nodiscard]] bool ready(std::uint32_t slo, OfferId o) const { return live.ready[slo][o.value] != 0; }
};

TEST(Residency, prices_a_load_over_what_it_will_serve_and_the_way_back) {
  // 20 s of two nodes at $18/h are 2 x 20 x 18 / 3,600 = $0.20, the 30 s back $0.30; over 100 requests $0.005 each.
  EXPECT_DOUBLE_EQ(load_price(20.0, 30.0, 2.0, Usd{18'000'000'000}, 100.0), 5e6);
  EXPECT_DOUBLE_EQ(load_price(20.0, 0.0, 2.0, Usd{18'000'000'000}, 100.0), 2e6);
  EXPECT_DOUBLE_EQ(load_price(20.0, 0.0, 2.0, Usd{18'000'000'000}, 0.25), 200e6) << "at least the one who asks";
}

TEST(Residency, lets_a_guest_come_only_for_a_class_that_can_wait_for_it) {
  World w;
  ASSERT_DOUBLE_EQ(w.snapshot[w.home].load_s, 30.0);
  ASSERT_DOUBLE_EQ(w.snapshot[w.guest].load_s, 20.0);
  ASSERT_TRUE(w.snapshot[w.guest].guest());
  EXPECT_TRUE(w.ready(0, w.home) && w.ready(1, w.home));
  EXPECT_FALSE(w.ready(0, w.guest) || w.ready(1, w.guest)) << "home has not been idle yet";
  w.holds(50, OfferId{}, true, true);
  EXPECT_TRUE(w.ready(0, w.home));
  EXPECT_FALSE(w.ready(0, w.guest)) << "20 s is more than a TTFT of 2 s";
  EXPECT_TRUE(w.ready(1, w.guest));
  w.holds(60, w.guest, false, true);  // on its way
  EXPECT_FALSE(w.ready(0, w.home) || w.ready(1, w.home) || w.ready(0, w.guest));
  EXPECT_TRUE(w.ready(1, w.guest));
  EXPECT_EQ(w.live.resident[w.guest.value], 0);
  w.holds(80, w.guest, true, true);
  EXPECT_TRUE(w.ready(0, w.guest)) << "there, it serves anybody";
  EXPECT_EQ(w.live.resident[w.guest.value], 1);
  w.holds(90, w.guest, true, false);  // leaving
  EXPECT_FALSE(w.ready(0, w.guest) || w.ready(1, w.guest) || w.ready(1, w.home));
}

TEST(Residency, expects_a_guest_to_serve_its_requests_for_as_long_as_its_stays_have_been) {
  World w;
  w.holds(50, OfferId{}, true, true);
  for (int i = 0; i < 600; ++i)
    w.residency.dispatched(at(i), ModelId{1}, w.guest);  // somewhere: the model asked for counts
  w.residency.price(at(600), w.units, w.live);
  const double before = w.live.warmth[w.guest.value];
  // About half of 1/s is still in the ten-minute average (tau / (tau + dt) per step); an hour of that is some 1,000.
  EXPECT_GT(before, 200e6 / 3'600.0);
  EXPECT_LT(before, 200e6 / 500.0);
  w.holds(600, w.guest, false, true);
  w.holds(620, w.guest, true, true);
  w.holds(680, OfferId{}, false, false);  // a stay of one minute: the mean is now 3,600 - 3,540 / 4 = 2,715 s
  w.holds(710, OfferId{}, true, true);
  w.residency.price(at(600), w.units, w.live);
  EXPECT_NEAR(w.live.warmth[w.guest.value], before * 3'600.0 / 2'715.0, 1e-6 * before);
  // What is displaced has to come back only if somebody used it: 50 s of two nodes in place of 20.
  w.residency.dispatched(at(711), ModelId{0}, w.home);
  const double alone = w.live.warmth[w.guest.value];
  w.residency.price(at(600), w.units, w.live);
  EXPECT_NEAR(w.live.warmth[w.guest.value], alone * 50.0 / 20.0, 1e-6 * alone);
}

TEST(Residency, is_never_below_nothing_and_nothing_for_what_is_there) {
  for_each_seed(200, [](Rng& rng) {
    World w;
    double t = 0.0;
    for (int i = 0; i < 60; ++i) {
      t += 30.0 * rng.uniform();
      const bool away = rng.chance(0.5);
      switch (rng.below(3)) {
        case 0:
          w.holds(t, away ? w.guest : OfferId{}, rng.chance(0.7), rng.chance(0.7));
          break;
        case 1:
          w.residency.dispatched(at(t), ModelId{static_cast<std::uint32_t>(rng.below(2))}, away ? w.guest : w.home);
          break;
        default:
          w.units[0] = rng.between(0, 3);
          w.residency.price(at(t), w.units, w.live);
      }
      for (const OfferId o : {w.home, w.guest}) {
        EXPECT_GE(w.live.warmth[o.value], 0.0);
        if (w.live.resident[o.value] != 0) {
          EXPECT_EQ(w.live.warmth[o.value], 0.0);
        }
      }
    }
  });
}

}  // namespace
}  // namespace ace
