#include "dispatch/scarcity.h"

#include <deque>

#include <gtest/gtest.h>

#include "core/testing.h"
#include "dispatch/learn_testing.h"

namespace ace {
namespace {

using learn::at;
constexpr auto kSlots = static_cast<std::size_t>(Resource::slots);

struct Pool {
  Pool() {
    learn::add_pool(*fleet, "pool", learn::slots_only(100));
    learn::add_api(*fleet, "zapi", 1'000'000'000);
    snapshot.emplace(*fleet);
    live.emplace(*snapshot);
    pool = learn::offer_of(*snapshot, "pool");
    live->knee[pool.value] = 0.8;
    scarcity.emplace(*snapshot);
  }
  /// n requests of one slot for 10 s each, worth this many nano-USD elsewhere, within one period of 10 s.
  void period(int n, double value) {
    Scarcity::Uses uses{};
    uses[kSlots] = 0.01;
    for (int i = 0; i < n; ++i) scarcity->offered(pool, uses, value, 10 * kSecond);
    scarcity->close(10 * kSecond, *live);
  }
  double lambda() const { return live->shadow_price[pool.value]; }
  std::unique_ptr<Fleet> fleet = learn::models(1);
  std::optional<Snapshot> snapshot;
  std::optional<Live> live;
  std::optional<Scarcity> scarcity;
  OfferId pool;
};

TEST(Scarcity, follows_the_update_rule) {
  Pool w;
  // 100 requests in 10 s, each 0.01 for 10 s, offer 1.0 of the cap; the knee is 0.8. L = 1000 / 0.01 = 100,000 nano-USD
  // per share. lambda = 0 + 0.05 x 100,000 x 0.2 = 1,000.
  w.period(100, 1000.0);
  EXPECT_NEAR(w.lambda(), 1000.0, 1e-6);
  EXPECT_EQ(w.live->scarce[w.pool.value], kSlots);
  w.period(90, 1000.0);  // + 0.05 x 100,000 x 0.1
  EXPECT_NEAR(w.lambda(), 1500.0, 1e-6);
  w.period(76, 1000.0);  // - 0.05 x 100,000 x 0.04
  EXPECT_NEAR(w.lambda(), 1300.0, 1e-6);
  for (int i = 0; i < 1000; ++i) w.period(200, 1000.0);
  EXPECT_NEAR(w.lambda(), 100'000.0, 1e-6) << "never above L";
}

TEST(Scarcity, is_zero_where_the_knee_is_not_expected_to_be_reached) {
  Pool w;
  for (int i = 0; i < 100; ++i) w.period(79, 1000.0);
  EXPECT_EQ(w.lambda(), 0.0);
  for (int i = 0; i < 20; ++i) w.period(160, 1000.0);
  EXPECT_GT(w.lambda(), 50'000.0);
  for (int i = 0; i < Scarcity::kQuiet; ++i) w.period(40, 1000.0);
  EXPECT_EQ(w.lambda(), 0.0) << "a minute of half the load";
}

TEST(DearestUse, sets_the_dearest_hundredth_of_the_use_aside) {
  DearestUse use;
  for (int i = 0; i < 1000; ++i) use.add(500.0, 0.01);
  use.add(1e9, 0.0001);  // a tiny request with a dear alternative
  EXPECT_NEAR(use.per_unit(), 50'000.0, 1e-6);
  for (int i = 0; i < 50; ++i) use.add(5000.0, 0.01);
  EXPECT_NEAR(use.per_unit(), 500'000.0, 1e-6);
}

/// Two kinds of equal use: outside options of $0.10 and $1.00, owned slots for half of them. The real decide().
TEST(Scarcity, keeps_owned_slots_for_those_whose_alternative_is_dear) {
  for_each_seed(3, [](Rng& rng) {
    auto fleet = learn::models(2);
    // 1,000 output tokens: $0.10 and $1.00 a request.
    learn::add_api(*fleet, "cheap", 100'000'000'000, 0);
    learn::add_api(*fleet, "dear", 1'000'000'000'000, 1);
    learn::add_pool(*fleet, "pool", learn::slots_only(100), {0, 1});
    const Snapshot snapshot(*fleet);
    Belief belief(snapshot);
    Scratch scratch(snapshot);
    struct Running {
      double until;
      Claim claim;
      std::uint32_t kind;
    };
    std::deque<Running> running;
    double owned[2] = {0.0, 0.0};
    double t = 0.0;
    // 98 slots are under the knee and each is held for 10 s: 9.8 requests/s fill them, and that many come of each kind.
    while (t < 3600.0) {
      t += rng.exponential(1.0 / 19.6);
      while (!running.empty() && running.front().until <= t) {
        belief.live(at(running.front().until));
        belief.completed(at(running.front().until), running.front().claim,
                         {Tokens{1000}, Tokens{0}, Duration{0}, Duration{10'000'000}}, true);
        running.pop_front();
      }
      const auto kind = static_cast<std::uint32_t>(rng.below(2));
      Live& live = belief.live(at(t));
      Request r = learn::request(1, 1000, kind);
      r.max_output = Tokens{1000};
      const Decision d = decide(snapshot, live, r, at(t), scratch);
      ASSERT_EQ(d.verdict, Verdict::dispatched);
      const Claim claim = belief.dispatched(at(t), r, d);
      running.push_back({t + 10.0, claim, kind});
      if (t > 600.0 && snapshot[d.chosen].tier == Tier::owned) owned[kind] += 1.0;
    }
    EXPECT_GE(owned[1] / (owned[0] + owned[1]), 0.95) << owned[0] << " and " << owned[1];
    EXPECT_GE((owned[0] + owned[1]) / (3000.0 * 9.8), 0.90) << "and the slots are used";
  });
}

}  // namespace
}  // namespace ace
