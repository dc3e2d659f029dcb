/// Real batch jobs in the troughs of real traffic, planned hour by hour on what last week was.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/csv.h"
#include "core/decimal.h"
#include "fleet/data_testing.h"
#include "plan/valley.h"

namespace ace {
namespace {

constexpr std::int64_t kWeek = 168, kHourMs = 3'600'000;
constexpr double kUnits = 64.0;

Instant hour(std::int64_t h) { return instant(h * nanos(kHour)); }
double number(std::string_view text) { return static_cast<double>(*parse_decimal_rounded(text, 9)) * 1e-9; }

/// Unit-milliseconds that ServeGen's m-large leaves free in each of its 336 hours on 64 units whose knee is at its
/// busiest hour.
std::vector<std::int64_t> free_room() {
  const std::string text = data_text("servegen/m-large_rates.csv.gz");
  CsvTable table = *CsvTable::open(text);
  std::vector<double> rate(2 * kWeek);
  for (CsvRow row; *table.next(row);) {
    const auto h = static_cast<std::size_t>(number(row.fields[1]) / 3600.0);
    if (h < rate.size()) rate[h] += number(row.fields[2]) / 6.0;  // windows of ten minutes
  }
  const double busiest = *std::max_element(rate.begin(), rate.end());
  std::vector<std::int64_t> room;
  for (const double r : rate) room.push_back(std::llround(kUnits * (1.0 - r / busiest) * kHourMs));
  return room;
}

/// Every second of Gaia's jobs of its second week, as they arrive, due a day after they could have been done.
std::vector<DeferrableJob> jobs_of_week_two() {
  const std::string text = data_text("gaia/pai-100k.csv.gz");
  CsvTable table = *CsvTable::open(text);
  std::vector<DeferrableJob> jobs;
  std::int64_t rows = 0;
  for (CsvRow row; *table.next(row);) {
    const double arrival = number(row.fields[0]), length = number(row.fields[1]);
    if (++rows % 2 != 0 || arrival < kWeek || arrival >= 2 * kWeek) continue;
    DeferrableJob j;
    j.name = std::to_string(rows);
    j.units_max = *parse_decimal_rounded(row.fields[2], 0);
    j.work = std::max<std::int64_t>(1, std::llround(length * static_cast<double>(j.units_max) * kHourMs));
    j.earliest = from_seconds(arrival * 3600.0) + Instant{};
    j.deadline = j.earliest + from_seconds(length * 3600.0) + kDay;
    j.preemptible = rows % 4 == 0;
    if (j.units_max <= 40 && j.deadline <= hour(2 * kWeek)) jobs.push_back(j);
  }
  return jobs;
}

struct Week {
  std::size_t refused = 0;
  double asked = 0.0, under_knee = 0.0, bought = 0.0, free = 0.0;  ///< unit-hours
};

Week live_through() {
  const std::vector<std::int64_t> room = free_room();
  const std::vector<DeferrableJob> jobs = jobs_of_week_two();
  EXPECT_EQ(jobs.size(), 711U);
  ValleyPlanner planner{Trough{}};
  Week week;
  std::size_t next = 0;
  const auto hours = [](std::int64_t ms) { return static_cast<double>(ms) / kHourMs; };
  for (std::int64_t now = kWeek; now < 2 * kWeek; ++now) {
    Trough t;
    t.start = hour(now);
    t.bought = Usd{2'000'000'000};
    t.room.push_back(room[static_cast<std::size_t>(now)]);  // the present is known
    for (std::int64_t h = now + 1; h < 2 * kWeek; ++h)
      t.room.push_back(room[static_cast<std::size_t>(h - kWeek)]);  // and the rest is what it was a week ago
    planner.forecast(t);
    for (; next < jobs.size() && jobs[next].earliest < hour(now + 1); ++next) {
      week.asked += hours(jobs[next].work);
      if (!planner.admit(jobs[next])) ++week.refused;
    }
    const ValleyPlan plan = planner.plan();
    EXPECT_LE(plan.load[0], t.room[0]);
    week.under_knee += hours(plan.load[0]);
    week.bought += hours(plan.bought[0]);
    week.free += hours(t.room[0]);
    planner.worked();
    for (const DeferrableJob& j : planner.jobs())
      if (j.deadline < hour(now + 2)) {
        EXPECT_EQ(j.work, 0) << j.name << " missed its deadline";  // none of its whole hours is left
      }
  }
  return week;
}

TEST(ValleyData, jobs_keep_their_deadlines_on_a_forecast_that_is_last_week) {
  const Week week = live_through();
  EXPECT_EQ(week.refused, 14U);
  EXPECT_NEAR(week.asked, 5731.8, 0.1);
  // 83% of what was free is filled; the 583 unit-hours by which last week was no forecast of this one are bought.
  EXPECT_NEAR(week.free, 5382.7, 0.1);
  EXPECT_NEAR(week.under_knee, 4475.9, 0.1);
  EXPECT_NEAR(week.bought, 583.4, 0.1);
}

}  // namespace
}  // namespace ace
