#include "net/timer_wheel.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "core/testing.h"

namespace ace::net {
namespace {

using namespace std::chrono_literals;
const Steady kStart{1000s};

TEST(TimerWheel, runs_what_is_due_never_early_and_at_most_a_tick_late) {
  for_each_seed(200, [](Rng& rng) {
    TimerWheel wheel(10ms, 16, kStart);  // a turn of 160 ms, shorter than many deadlines
    Steady now = kStart;
    std::map<int, Steady> wanted;
    std::map<int, std::unique_ptr<Timer>> timers;
    for (int i = 0; i < 20; ++i) {
      timers[i] = std::make_unique<Timer>([&, i] {
        ASSERT_TRUE(wanted.contains(i)) << "ran though disarmed, or twice";
        EXPECT_LE(wanted[i], now);
        EXPECT_GT(wanted[i], now - 10ms - 25ms) << "a tick, and the longest step of this test";
        wanted.erase(i);
      });
    }
    for (int step = 0; step < 100; ++step) {
      const int i = static_cast<int>(rng.below(20));
      const Steady deadline = now + std::chrono::milliseconds(rng.below(500));
      if (rng.chance(0.2)) {
        wheel.arm(*timers[i], kNever);
        wanted.erase(i);
      } else {
        wheel.arm(*timers[i], deadline);
        wanted[i] = deadline;
      }
      now += std::chrono::milliseconds(rng.below(25));
      wheel.advance(now);
    }
    now += 1s;
    for (auto& [i, when] : wanted) when = std::max(when, now - 30ms);  // the last step is long
    wheel.advance(now);
    EXPECT_TRUE(wanted.empty());
    EXPECT_TRUE(wheel.empty());
  });
}

TEST(TimerWheel, what_runs_may_arm_itself_and_destroy_others) {
  TimerWheel wheel(10ms, 8, kStart);
  int runs = 0;
  auto victim = std::make_unique<Timer>([] { ADD_FAILURE() << "ran after it was destroyed"; });
  std::unique_ptr<Timer> again;
  again = std::make_unique<Timer>([&] {
    ++runs;
    victim.reset();
    if (runs < 3) wheel.arm(*again, kStart + runs * 30ms);
  });
  wheel.arm(*victim, kStart + 10ms);
  wheel.arm(*again, kStart + 10ms);  // in front of the victim in the same slot
  wheel.advance(kStart + 200ms);
  EXPECT_EQ(runs, 3);
  EXPECT_TRUE(wheel.empty());
}

TEST(TimerWheel, a_later_deadline_leaves_the_timer_where_it_is_until_the_hand_comes) {
  TimerWheel wheel(10ms, 8, kStart);
  int runs = 0;
  Timer timer([&] { ++runs; });
  wheel.arm(timer, kStart + 20ms);
  wheel.arm(timer, kStart + 1h);
  wheel.advance(kStart + 30min);
  EXPECT_EQ(runs, 0);
  EXPECT_FALSE(wheel.empty());
  wheel.advance(kStart + 1h + 10ms);
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace ace::net
