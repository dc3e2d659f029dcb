#include "fleet/series.h"

#include <gtest/gtest.h>

namespace ace {
namespace {

ElectricitySeries read(const std::string& csv, const ElectricityLayout& layout = {}) {
  Result<ElectricitySeries> series = parse_electricity(csv, layout);
  EXPECT_TRUE(series) << series.error().what();
  return series ? *series : ElectricitySeries{};
}

TEST(Electricity, a_price_per_mwh_becomes_an_exact_price_per_kwh) {
  const ElectricitySeries series = read(
      ",Real price,DNN Ensemble\n"
      "2016-01-04 00:00:00,13.78,10.664445400238037\n"
      "2016-01-04 01:00:00,-130.09,-3.6e-05\n"
      "2016-01-04 02:00:00,0,0\n",
      {.booked = "Real price", .believed = "DNN Ensemble"});
  EXPECT_EQ(series.first_hour, hour_of(instant_of({2016, 1, 4})));
  // 13.78 per MWh = 0.01378 per kWh = 13,780,000 nano; 10.664445400238 per MWh = 10,664,445.4 nano per kWh
  EXPECT_EQ(series.hourly, (std::vector<UsdPerKwh>{{13'780'000}, {-130'090'000}, {0}}));
  EXPECT_EQ(series.day_ahead, (std::vector<UsdPerKwh>{{10'664'445}, {-36}, {0}}));
}

TEST(Electricity, another_currency_is_an_exact_ratio_and_one_rounding) {
  const std::string csv = "hour,Real price\n2016-01-04T00:00Z,13.78\n2016-01-04T01:00Z,-0.000001\n";
  const ElectricitySeries series = read(csv, {.booked = "Real price", .believed = {}, .fx_nano = 1'085'000'000});
  // 0.01378 EUR x 1.085 = 0.0149513 USD per kWh; -1 nano-EUR per kWh x 1.085 = -1.085 nano-USD, which rounds to -1
  EXPECT_EQ(series.hourly, (std::vector<UsdPerKwh>{{14'951'300}, {-1}}));
  for (const std::int64_t fx : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1'000'000'000'001}})
    EXPECT_EQ(parse_electricity(csv, {.booked = "Real price", .believed = {}, .fx_nano = fx}).error().code(),
              Errc::out_of_range);
}

TEST(Electricity, a_series_with_a_gap_or_a_doubt_is_refused_with_its_line) {
  const std::string head = "hour,Real price\n2016-03-27 00:00:00,1\n2016-03-27 01:00:00,1\n";
  const struct {
    const char* why;
    std::string csv;
    Errc code;
    const char* says;
  } cases[] = {
      {"clock set forward", head + "2016-03-27 03:00:00,1\n", Errc::bad_input, "line 4: expected the hour"},
      {"and why", head + "2016-03-27 03:00:00,1\n", Errc::bad_input, "set forward in spring"},
      {"clock set back", head + "2016-03-27 01:00:00,1\n", Errc::bad_input, "set back in autumn"},
      {"a longer gap", head + "2016-03-28 01:00:00,1\n", Errc::bad_input, "hours are missing"},
      {"unsorted", head + "2016-03-26 01:00:00,1\n", Errc::bad_input, "sort the table"},
      {"half an hour", head + "2016-03-27 02:30:00,1\n", Errc::bad_input, "full hour"},
      {"24 o'clock", head + "2016-03-27 24:00:00,1\n", Errc::bad_input, "full hour"},
      {"no such day", head + "2016-02-30 02:00:00,1\n", Errc::bad_input, "full hour"},
      {"another zone", head + "2016-03-27 02:00:00+02:00,1\n", Errc::bad_input, "full hour"},
      {"an empty cell", head + "2016-03-27 02:00:00,\n", Errc::bad_input, "line 4: expected a price per MWh"},
      {"a decimal comma", head + "2016-03-27 02:00:00,\"1,5\"\n", Errc::bad_input, "got \"1,5\""},
      {"no number", head + "2016-03-27 02:00:00,nan\n", Errc::bad_input, "got \"nan\""},
      {"beyond all markets", head + "2016-03-27 02:00:00,25000.01\n", Errc::out_of_range, "line 4"},
      {"a short row", head + "2016-03-27 02:00:00\n", Errc::corrupt, "line 4"},
      {"no rows", "hour,Real price\n", Errc::bad_input, "no hours"},
      {"no header", "", Errc::bad_input, "empty"},
      {"no such column", "hour,Price\n2016-03-27 00:00:00,1\n", Errc::bad_input, "missing column \"Real price\""},
  };
  for (const auto& c : cases) {
    const Result<ElectricitySeries> series = parse_electricity(c.csv, {});
    ASSERT_FALSE(series) << c.why;
    EXPECT_EQ(series.error().code(), c.code) << c.why;
    EXPECT_NE(series.error().what().find(c.says), std::string::npos) << c.why << ": " << series.error().what();
  }
}

TEST(Capacity, events_are_counted_into_units_held) {
  const Result<CapacityLog> log = parse_capacity(
      "0,add,a\n0,add,b\n1800000,remove,a\n1800000,add,c\n3600000,remove,b\n3600000,remove,c\n7200000,add,d\n",
      instant_of({2026, 1, 1}));
  ASSERT_TRUE(log) << log.error().what();
  EXPECT_EQ(log->changes,
            (std::vector<CapacityLog::Change>{{Duration{}, 2}, {30 * kMinute, 2}, {kHour, 0}, {2 * kHour, 1}}));
  EXPECT_EQ(log->taken, 3);
  EXPECT_EQ(log->decreases, 3U);
  EXPECT_EQ(log->units_max, 2);
  EXPECT_EQ(log->span(), 2 * kHour);
  // Two units for one hour, none for the next: a mean of 1; 3 losses in 2 unit-hours: 1 - e^-1.5
  EXPECT_DOUBLE_EQ(log->units_mean(), 1.0);
  EXPECT_NEAR(log->hazard_per_hour(), 0.7768698398515702, 1e-12);
  const StepSeries series = log->availability(30 * kMinute);
  EXPECT_EQ(series.start, instant_of({2026, 1, 1}));
  EXPECT_EQ(series.values, (std::vector<double>{2, 2, 0, 0, 1}));
}

TEST(Capacity, a_step_has_the_units_that_were_there_throughout) {
  const Result<CapacityLog> log = parse_capacity("0,4\n0.5,1\n0.75,3\n1.0,8\n2.25,2\n");
  ASSERT_TRUE(log) << log.error().what();
  EXPECT_EQ(log->availability(kHour).values, (std::vector<double>{1, 8, 2}));
  EXPECT_EQ(log->availability(15 * kMinute).values, (std::vector<double>{4, 4, 1, 3, 8, 8, 8, 8, 8, 2}));
  const Result<CapacityLog> seconds = parse_capacity("0,4\n1800,1\n", {}, kSecond);
  EXPECT_EQ(seconds->span(), 30 * kMinute);
}

TEST(Capacity, a_sample_stamped_too_early_holds_from_the_one_above) {
  const Result<CapacityLog> log = parse_capacity(
      "2021-12-10, 13:07:45, 80\n2021-12-10, 13:09:45, 80\n2021-12-10, 13:08:45, 70\n2021-12-11, 00:00:00, 75\n");
  ASSERT_TRUE(log) << log.error().what();
  EXPECT_EQ(log->out_of_order, 1U);
  EXPECT_EQ(log->start, instant_of({2021, 12, 10, 13, 7, 45}));
  EXPECT_EQ(log->changes[1], (CapacityLog::Change{2 * kMinute, 70}));
  EXPECT_EQ(log->decreases, 1U);
}

TEST(Capacity, a_log_that_contradicts_itself_is_refused_with_its_line) {
  const struct {
    const char* csv;
    const char* says;
  } cases[] = {
      {"", "no rows"},
      {"0,add,a\n1,add,a\n", "line 2: \"a\" is added but held already"},
      {"0,add,a\n1,remove,b\n", "line 2: \"b\" is removed but not held"},
      {"0,add,a\n1,drop,a\n", "line 2: expected add or remove"},
      {"0,4\n1,4,5\n", "line 2: expected"},
      {"4\n", "line 1: expected"},
      {"0,-4\n", "line 1: expected a number of units"},
      {"0,4.5\n", "line 1: expected a number of units"},
      {"-1,4\n", "line 1: expected a time"},
      {"1e15,4\n", "line 1: expected a time"},
      {"2021-02-30, 13:07:45, 80\n", "line 1: expected a date"},
      {"2021-02-03, 13:60:45, 80\n", "line 1: expected a date"},
      {"2021-02-03, 1.5:0:45, 80\n", "line 1: expected a date"},
  };
  for (const auto& c : cases) {
    const Result<CapacityLog> log = parse_capacity(c.csv);
    ASSERT_FALSE(log) << c.csv;
    EXPECT_NE(log.error().what().find(c.says), std::string::npos) << log.error().what();
  }
}

}  // namespace
}  // namespace ace
