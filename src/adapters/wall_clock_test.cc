#include "adapters/wall_clock.h"

#include <gtest/gtest.h>

namespace ace {
namespace {

constexpr Duration kMillisecond{1'000'000};

struct Machine {
  Duration wall{1'800'000'000 * kSecond}, steady{0};
  WallClock clock{[this] { return wall; }, [this] { return steady; }};
  void pass(Duration time) {
    wall += time;
    steady += time;
  }
};

TEST(WallClock, goes_on_at_the_pace_of_the_monotonic_clock_whatever_is_done_to_the_wall) {
  const struct {
    const char* why;
    Duration jump;
  } cases[] = {
      {"back a second", -kSecond},
      {"on a second", kSecond},
      {"back 61 seconds", -61 * kSecond},
      {"on 61 seconds", 61 * kSecond},
      {"back an hour", -kHour},
      {"on an hour", kHour},
      {"back a day", -24 * kHour},
      {"on a day", 24 * kHour},
      {"to 1970", -1'800'000'000 * kSecond},
      {"to 2038-01-19", (2'147'483'648 - 1'800'000'000) * kSecond},
      {"to 2106", (4'294'967'296 - 1'800'000'000) * kSecond},
  };
  for (const auto& c : cases) {
    Machine machine;
    const Instant before = machine.clock.now();
    machine.wall += c.jump;
    const Instant at = machine.clock.now();
    EXPECT_EQ(at, c.jump.count() > 0 ? before + c.jump : before) << c.why;
    for (int i = 1; i <= 10; ++i) {
      machine.pass(kMillisecond);
      EXPECT_EQ(machine.clock.now(), at + i * kMillisecond) << c.why;
    }
    machine.wall -= c.jump;  // and somebody puts it right again
    EXPECT_GE(machine.clock.now(), at + 10 * kMillisecond) << c.why;
    machine.pass(kMillisecond);
    EXPECT_GE(machine.clock.now(), at + 11 * kMillisecond) << c.why;
  }
}

TEST(WallClock, set_back_a_little_again_and_again_never_goes_back_nor_stands_still) {
  Machine machine;
  Instant before = machine.clock.now();
  const Instant begun = before;
  for (int second = 0; second < 100; ++second) {
    machine.pass(kSecond);
    machine.wall -= 10 * kMillisecond;
    const Instant now = machine.clock.now();
    EXPECT_EQ(now - before, kSecond);
    before = now;
  }
  EXPECT_EQ(before - begun, 100 * kSecond);
}

TEST(WallClock, follows_the_wall_when_the_monotonic_clock_stood_still) {
  Machine machine;  // a machine that was suspended for ten minutes
  const Instant before = machine.clock.now();
  machine.wall += 600 * kSecond;
  EXPECT_EQ(machine.clock.now(), before + 600 * kSecond);
}

}  // namespace
}  // namespace ace
