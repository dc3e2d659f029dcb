#include "replay/horizon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/replay_testing.h"

namespace ace {
namespace {

using replay_testing::api_fleet;
using testing::ElementsAre;
using testing::HasSubstr;

Instant at(const char* time) { return *parse_rfc3339(time); }

TEST(Horizon, of_prices_without_days_and_a_flat_tariff_has_no_end) {
  const auto fleet = api_fleet();
  const Horizon horizon(*fleet);
  EXPECT_TRUE(horizon.holds(Instant::min()));
  EXPECT_TRUE(horizon.holds(at("2250-01-01T00:00:00Z")));
}

TEST(Horizon, ends_with_the_version_of_a_price_unless_the_day_was_chosen) {
  const auto fleet = api_fleet();
  PriceRow& row = fleet->prices.rows[0];
  row.valid_from = "2026-01-01";
  row.valid_to = "2026-06-01";
  const Horizon latest(*fleet);
  EXPECT_FALSE(latest.holds(at("2025-12-31T23:59:59Z")));
  EXPECT_TRUE(latest.holds(at("2026-01-01T00:00:00Z")));
  EXPECT_FALSE(latest.holds(at("2026-06-01T00:00:00Z")));
  EXPECT_THAT(latest.error(at("2026-06-01T00:00:00Z")).what(), HasSubstr("api/m in this fleet ends 2026-06-01"));
  row.chosen_on = "2026-03-01";
  const Horizon chosen(*fleet);
  EXPECT_TRUE(chosen.holds(at("2030-01-01T00:00:00Z")));
  EXPECT_THAT(chosen.assumptions(at("2026-02-01T00:00:00Z"), at("2026-05-31T00:00:00Z")), ElementsAre());
  EXPECT_THAT(chosen.assumptions(at("2026-02-01T00:00:00Z"), at("2026-06-01T00:00:00Z")),
              ElementsAre(HasSubstr("api/m is that of 2026-03-01")));
  row.valid_to = "9999-12-31";
  row.chosen_on = "";
  EXPECT_TRUE(Horizon(*fleet).holds(at("2250-01-01T00:00:00Z")));
}

TEST(Horizon, is_what_every_series_that_somebody_uses_has_in_common) {
  const auto fleet = api_fleet();
  fleet->electricity.first_hour = 100;
  fleet->electricity.hourly = {{1}, {2}, {3}};
  EXPECT_TRUE(Horizon(*fleet).holds(instant(0))) << "nobody here pays for power";
  fleet->destinations.push_back(replay_testing::owned_pool(replay_testing::simple_profile()));
  Destination spot = replay_testing::owned_pool(replay_testing::simple_profile());
  spot.name = "spot";
  spot.tier = Tier::spot;
  spot.rental.emplace().hourly_series = {Usd{1}, Usd{2}, Usd{3}};
  spot.rental->series_first_hour = 101;
  spot.rental->availability = {instant(100 * nanos(kHour)), kHour, {1.0, 1.0}};
  fleet->destinations.push_back(spot);
  const Horizon horizon(*fleet);  // power 100 to 103, rent 101 to 104, capacity 100 to 102
  for (std::int64_t hour = 98; hour < 106; ++hour)
    EXPECT_EQ(horizon.holds(instant(hour * nanos(kHour))), hour == 101) << hour;
  EXPECT_THAT(horizon.error(instant(102 * nanos(kHour))).what(), HasSubstr("the availability of spot ends"));
  EXPECT_THAT(horizon.error(instant(100 * nanos(kHour))).what(), HasSubstr("the price series of spot begins"));
}

}  // namespace
}  // namespace ace
