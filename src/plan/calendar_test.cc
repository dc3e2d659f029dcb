#include "plan/calendar.h"

#include <gtest/gtest.h>

namespace ace {
namespace {

Instant at(int month, unsigned day, unsigned hour) {
  return instant_of({.year = 2026, .month = static_cast<unsigned>(month), .day = day, .hour = hour});
}

TEST(Calendar, finds_the_same_civil_time_across_a_change_of_clocks) {
  const auto zone = *zone_of("Europe/Berlin");
  // Sunday 2026-03-29: 02:00 CET is 03:00 CEST, at 01:00 UTC; that day has 23 hours.
  const Calendar spring(at(3, 27, 0), kHour, 24 * 10, zone.get());
  EXPECT_EQ(spring.changes(), std::vector<std::size_t>{2 * 24 + 1});
  const std::size_t sunday_noon_utc = 2 * 24 + 12;                     // 14:00 CEST
  EXPECT_EQ(spring.same_time(sunday_noon_utc, 24), 24 + 13);           // Saturday 14:00 CET is 13:00 UTC
  EXPECT_EQ(spring.same_time(sunday_noon_utc + 24, 24), 2 * 24 + 12);  // both in summer
  EXPECT_EQ(spring.slot(sunday_noon_utc), 14U);
  EXPECT_EQ(spring.slot(24 + 12), 13U);
  // Sunday 2026-10-25: 03:00 CEST is 02:00 CET, at 01:00 UTC; that day has 25 hours.
  const Calendar autumn(at(10, 20, 0), kHour, 24 * 10, zone.get());
  EXPECT_EQ(autumn.changes(), std::vector<std::size_t>{5 * 24 + 1});
  EXPECT_EQ(autumn.same_time(5 * 24 + 12, 24), 4 * 24 + 11);  // 13:00 CET <- 13:00 CEST
  EXPECT_EQ(autumn.slot(5 * 24), 2U);
  EXPECT_EQ(autumn.slot(5 * 24 + 1), 2U);
}

TEST(Calendar, agrees_with_the_zone_at_every_step_of_a_year) {
  const auto zone = *zone_of("America/New_York");
  const Duration step = 30 * kMinute;
  const Instant start = at(1, 1, 0);
  const std::size_t steps = 365 * 48;
  const Calendar calendar(start, step, steps, zone.get());
  EXPECT_EQ(calendar.changes().size(), 2U);
  for (std::size_t i = 0; i < steps; ++i) {
    const Instant t = start + static_cast<std::int64_t>(i) * step;
    const Civil civil = civil_of(t + zone->offset_at(t));
    ASSERT_EQ(calendar.slot(i), 2 * civil.hour + civil.minute / 30) << to_rfc3339(t);
  }
}

TEST(Calendar, counts_weekdays_from_monday_in_civil_time) {
  const auto zone = *zone_of("Asia/Tokyo");
  const Calendar utc(at(1, 4, 20), kHour, 10, nullptr), tokyo(at(1, 4, 20), kHour, 10, zone.get());
  EXPECT_EQ(utc.weekday(0), 6U);    // Sunday 20:00
  EXPECT_EQ(tokyo.weekday(0), 0U);  // Monday 05:00
  EXPECT_EQ(utc.weekday(4), 0U);
}

TEST(Calendar, has_no_day_where_a_step_is_longer) {
  const Calendar weeks(at(1, 1, 0), 7 * kDay, 10, nullptr);
  EXPECT_EQ(weeks.day(), 0U);
  EXPECT_EQ(weeks.slot(3), 0U);
}

}  // namespace
}  // namespace ace
