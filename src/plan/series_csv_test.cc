#include "plan/series_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ace {
namespace {

using ::testing::HasSubstr;

std::vector<Series> read(std::string_view text, const SeriesFormat& format = {}) {
  Result<std::vector<Series>> series = series_from_csv(text, format);
  EXPECT_TRUE(series) << series.error().what();
  return series ? *series : std::vector<Series>{};
}

TEST(SeriesCsv, reads_every_column_of_numbers_and_leaves_gaps_where_a_row_or_a_value_is_missing) {
  const auto all = read(
      "time,region,load,price\n"
      "2026-01-01T00:00:00Z,eu,10,1.5\n"
      "2026-01-01T01:00:00Z,eu,,-2\n"
      "2026-01-01T03:00:00Z,eu,NaN,+3e1\n"
      "2026-01-01T04:00:00Z,eu,40,4\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "load");
  EXPECT_EQ(all[0].step, kHour);
  ASSERT_EQ(all[0].values.size(), 5U);
  EXPECT_EQ(all[0].values[0], 10.0);
  for (const std::size_t gap : {1U, 2U, 3U}) EXPECT_TRUE(is_gap(all[0].values[gap])) << gap;
  EXPECT_EQ(all[1].values[1], -2.0);
  EXPECT_TRUE(is_gap(all[1].values[2]));
  EXPECT_EQ(all[1].values[3], 30.0);
}

TEST(SeriesCsv, reads_one_series_for_each_name_in_a_long_table) {
  SeriesFormat format;
  format.name = "cell";
  const auto all = read("at,cell,value\n1700000000,a,1\n1700000000,b,2\n1700000300,a,3\n1700000300,b,4\n", format);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].name, "b");
  EXPECT_EQ(all[1].step, 5 * kMinute);
  EXPECT_EQ(all[1].values, (std::vector<double>{2, 4}));
}

TEST(SeriesCsv, takes_an_hour_that_the_clock_shows_twice_for_the_two_hours_it_was) {
  SeriesFormat format;
  format.zone = *zone_of("Europe/Berlin");  // 2026-10-25 03:00 CEST -> 02:00 CET
  const auto all = read(
      "time,v\n2026-10-25 01:00:00,1\n2026-10-25 02:00:00,2\n2026-10-25 02:00:00,3\n2026-10-25 03:00:00,4\n", format);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(to_rfc3339(all[0].start), "2026-10-24T23:00:00Z");
  EXPECT_EQ(all[0].values, (std::vector<double>{1, 2, 3, 4}));
}

TEST(SeriesCsv, says_where_and_what_is_wrong) {
  const struct {
    const char* why;
    const char* text;
    const char* want;
  } cases[] = {
      {"empty", "", "empty"},
      {"header only", "time,v\n", "there are none"},
      {"no column of values", "time\n2026-01-01T00:00:00Z\n", "expected a column of values"},
      {"no number", "time,v\n2026-01-01T00:00:00Z,high\n", "expected a number beside the time"},
      {"not finite", "time,v\n2026-01-01T00:00:00Z,1\n2026-01-01T01:00:00Z,inf\n", "line 3"},
      {"a word", "time,v\n2026-01-01T00:00:00Z,1\n2026-01-01T01:00:00Z,1;5\n", "expected a finite number"},
      {"twice", "time,v\n2026-01-01T00:00:00Z,1\n2026-01-01T00:00:00Z,1\n", "two values"},
      {"backwards", "time,v\n2026-01-01T01:00:00Z,1\n2026-01-01T00:00:00Z,1\n", "sort the rows"},
      {"between steps",
       "time,v\n2026-01-01T00:00:00Z,1\n2026-01-01T01:00:00Z,1\n2026-01-01T02:00:00Z,1\n2026-01-01T02:30:00Z,1\n"
       "2026-01-01T03:30:00Z,1\n2026-01-01T04:30:00Z,1\n",
       "between two steps"},
      {"no zone", "time,v\n2026-01-01 00:00:00,1\n", "--tz"},
      {"too long", "time,v\n1970-01-01T00:00:00.000Z,1\n1970-01-01T00:00:00.001Z,1\n2026-01-01T00:00:00.000Z,1\n",
       "at most 10000000"},
  };
  for (const auto& c : cases) {
    const Result<std::vector<Series>> got = series_from_csv(c.text);
    ASSERT_FALSE(got) << c.why;
    EXPECT_THAT(got.error().what(), HasSubstr(c.want)) << c.why;
  }
}

TEST(SeriesCsv, reads_a_single_row) {
  const auto all = read("time,v\n2026-01-01T00:00:00Z,7\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].values, std::vector<double>{7});
}

}  // namespace
}  // namespace ace
