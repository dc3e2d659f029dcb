#include "core/time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/testing.h"

namespace ace {
namespace {

TEST(Civil, survives_the_round_trip_from_1900_to_2200) {
  for_each_seed(5'000, [](Rng& rng) {
    const std::int64_t from = nanos(instant_of({1900, 1, 1, 0, 0, 0, 0}));
    const std::int64_t to = nanos(instant_of({2200, 12, 31, 23, 59, 59, 999'999'999}));
    const Instant t = instant(rng.between(from, to));
    const Civil c = civil_of(t);
    EXPECT_EQ(instant_of(c), t);
    EXPECT_TRUE(valid_date(c.year, c.month, c.day));
    EXPECT_LT(c.hour, 24U);
    EXPECT_LT(c.minute, 60U);
    EXPECT_LT(c.second, 60U);
    EXPECT_GE(c.nano, 0);
    EXPECT_LT(c.nano, 1'000'000'000);
  });
}

TEST(Civil, agrees_with_known_moments) {
  const struct {
    std::int64_t seconds;
    Civil want;
  } cases[] = {
      {0, {1970, 1, 1, 0, 0, 0, 0}},
      {-1, {1969, 12, 31, 23, 59, 59, 0}},
      {951'782'400, {2000, 2, 29, 0, 0, 0, 0}},        // date -u -d 2000-02-29 +%s
      {1'700'158'547, {2023, 11, 16, 18, 15, 47, 0}},  // date -u -d '2023-11-16 18:15:47' +%s
      {4'107'542'400, {2100, 3, 1, 0, 0, 0, 0}},       // 2100 is no leap year
  };
  for (const auto& c : cases) {
    EXPECT_EQ(civil_of(instant(c.seconds * 1'000'000'000)), c.want) << c.seconds;
    EXPECT_EQ(nanos(instant_of(c.want)), c.seconds * 1'000'000'000);
  }
}

TEST(Civil, knows_which_dates_exist_and_fit) {
  const struct {
    int year;
    unsigned month, day;
    bool want;
  } cases[] = {{2024, 2, 29, true}, {2023, 2, 29, false}, {1900, 2, 29, false},  {2000, 2, 29, true},
               {2023, 0, 1, false}, {2023, 13, 1, false}, {2023, 4, 31, false},  {2023, 4, 0, false},
               {1678, 1, 1, true},  {2261, 12, 31, true}, {1677, 12, 31, false}, {2262, 1, 1, false},
               {9999, 1, 1, false}, {-1, 1, 1, false},    {67'559, 1, 1, false}};
  for (const auto& c : cases)
    EXPECT_EQ(valid_date(c.year, c.month, c.day), c.want) << c.year << ' ' << c.month << ' ' << c.day;
}

TEST(Rfc3339, cuts_the_fraction_where_it_is_zero) {
  EXPECT_EQ(to_rfc3339(instant(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_rfc3339(instant(1'700'158'547'123'000'000)), "2023-11-16T18:15:47.123Z");
  EXPECT_EQ(to_rfc3339(instant(1'700'158'547'000'000'001)), "2023-11-16T18:15:47.000000001Z");
  EXPECT_EQ(to_rfc3339(instant(-1)), "1969-12-31T23:59:59.999999999Z");
}

TEST(Hours, are_floored_before_1970_too) {
  EXPECT_EQ(hour_of(instant(0)), 0);
  EXPECT_EQ(hour_of(instant(-1)), -1);
  EXPECT_EQ(hour_of(instant(nanos(kHour))), 1);
  EXPECT_EQ(hour_of(instant(-nanos(kHour))), -1);
  EXPECT_EQ(day_of(instant(-nanos(kHour))), -1);
  EXPECT_EQ(day_of(instant(25 * nanos(kHour))), 1);
}

TEST(Seconds, round_to_the_nearest_nanosecond_and_stop_at_the_range) {
  EXPECT_EQ(nanos(from_seconds(0.0605)), 60'500'000);
  EXPECT_EQ(nanos(from_seconds(1.4e-9)), 1);
  EXPECT_EQ(nanos(from_seconds(-1.6e-9)), -2);
  EXPECT_EQ(from_seconds(1e300), Duration::max());
  EXPECT_EQ(from_seconds(std::numeric_limits<double>::infinity()), Duration::max());
  EXPECT_EQ(from_seconds(-1e300), Duration::min());
  EXPECT_EQ(from_seconds(std::nan("")), Duration::min());
}

}  // namespace
}  // namespace ace
