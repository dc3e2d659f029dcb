#include "ledger/bookings.h"

#include <gtest/gtest.h>

#include "core/testing.h"

namespace ace {
namespace {

using Use = event::GpuBooking::Use;

TEST(Bookings, take_each_millisecond_once) {
  const struct {
    const char* why;
    event::GpuBooking booking;
    bool taken;
  } cases[] = {
      {"touching after", {Use::valley, "a", 200, 300}, true},
      {"touching before", {Use::served, "a", 50, 100}, true},
      {"one millisecond over the end", {Use::valley, "a", 199, 300}, false},
      {"one millisecond over the start", {Use::valley, "a", 50, 101}, false},
      {"inside", {Use::served, "a", 120, 130}, false},
      {"around", {Use::served, "a", 0, 1000}, false},
      {"another device", {Use::served, "b", 100, 200}, true},
      {"empty", {Use::served, "a", 300, 300}, false},
      {"backwards", {Use::served, "a", 400, 300}, false},
  };
  for (const auto& c : cases) {
    Bookings bookings;
    ASSERT_TRUE(bookings.add({Use::served, "a", 100, 200}));
    EXPECT_EQ(bookings.add(c.booking).has_value(), c.taken) << c.why;
  }
}

TEST(Bookings, equal_a_calendar_kept_millisecond_by_millisecond) {
  for_each_seed(200, [](Rng& rng) {
    Bookings bookings;
    std::vector<int> calendar(300, -1);
    for (int i = 0; i < 100; ++i) {
      const std::int64_t start = rng.between(0, 280), end = start + rng.between(1, 19);
      const int use = static_cast<int>(rng.below(kUses));
      bool free = true;
      for (std::int64_t t = start; t < end; ++t) free = free && calendar[static_cast<std::size_t>(t)] < 0;
      EXPECT_EQ(bookings.add({static_cast<Use>(use), "gpu", start, end}).has_value(), free);
      for (std::int64_t t = start; free && t < end; ++t) calendar[static_cast<std::size_t>(t)] = use;
    }
    for (std::size_t use = 0; use < kUses; ++use)
      EXPECT_EQ(bookings.by_use()[use].value, std::count(calendar.begin(), calendar.end(), static_cast<int>(use)));
  });
}

TEST(Bookings, of_any_partition_of_the_devices_add_up) {
  for_each_seed(100, [](Rng& rng) {
    Bookings whole, parts[3], merged;
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t device = rng.below(9);
      const std::int64_t start = rng.between(0, 500);
      const event::GpuBooking booking{static_cast<Use>(rng.below(kUses)), "gpu" + std::to_string(device), start,
                                      start + rng.between(1, 30)};
      EXPECT_EQ(whole.add(booking).has_value(), parts[device % 3].add(booking).has_value());
    }
    for (const Bookings& part : parts) ASSERT_TRUE(merged.merge(part));
    for (std::size_t use = 0; use < kUses; ++use)
      EXPECT_EQ(whole.by_use()[use], parts[0].by_use()[use] + parts[1].by_use()[use] + parts[2].by_use()[use]);
    EXPECT_EQ(merged.by_use(), whole.by_use());
  });
}

TEST(Bookings, that_clash_are_not_merged_in_part) {
  Bookings a, b;
  ASSERT_TRUE(a.add({Use::served, "x", 0, 10}));
  ASSERT_TRUE(b.add({Use::served, "w", 0, 10}));
  ASSERT_TRUE(b.add({Use::served, "x", 9, 12}));
  EXPECT_EQ(a.merge(b).error().code(), Errc::conflict);
  EXPECT_EQ(a.by_use()[0], GpuMillis{10});
}

}  // namespace
}  // namespace ace
