#include "plan/jobs.h"

#include <gtest/gtest.h>

namespace ace {
namespace {

TEST(Jobs, are_read_with_their_defaults) {
  const auto jobs = parse_jobs(
      "name,gpu_hours,earliest,deadline,units_min,units_max,preemptible,restart_s\n"
      "embed,1.5,2026-12-01T00:00:00Z,2026-12-01T06:00:00Z,,,,\n"
      "tune,16,2026-12-01T00:00:00Z,2026-12-02T00:00:00Z,4,8,no,90.5\n");
  ASSERT_TRUE(jobs) << jobs.error().what();
  const DeferrableJob& embed = (*jobs)[0];
  EXPECT_EQ(embed.work, 5'400'000);
  EXPECT_TRUE(embed.divisible());
  EXPECT_EQ(embed.deadline - embed.earliest, 6 * kHour);
  const DeferrableJob& tune = (*jobs)[1];
  EXPECT_EQ(tune.units_min, 4);
  EXPECT_EQ(tune.units_max, 8);
  EXPECT_FALSE(tune.preemptible);
  EXPECT_EQ(tune.restart, Duration{90'500'000'000});
}

TEST(Jobs, in_tokens_need_what_a_unit_does) {
  const char* csv = "name,tokens,earliest,deadline\na,7200000,2026-12-01T00:00:00Z,2026-12-01T06:00:00Z\n";
  EXPECT_FALSE(parse_jobs(csv));
  const auto jobs = parse_jobs(csv, 3.6e6);  // 1,000 tokens/s: two hours
  ASSERT_TRUE(jobs);
  EXPECT_EQ((*jobs)[0].work, 7'200'000);
}

TEST(Jobs, a_mistake_names_its_line_and_what_was_expected) {
  const std::string head = "name,gpu_hours,earliest,deadline,units_min,units_max,preemptible,restart_s\n";
  const std::string times = ",2026-12-01T00:00:00Z,2026-12-01T06:00:00Z,";
  const struct {
    std::string row;
    const char* says;
  } cases[] = {
      {"a,0" + times + ",,,", "line 2: gpu_hours: expected a number above 0"},
      {"a,-3" + times + ",,,", "gpu_hours: expected a number above 0"},
      {"a,NaN" + times + ",,,", "gpu_hours: expected a number above 0"},
      {"a,1e12" + times + ",,,", "less than 9 million unit-hours"},
      {"a,1,today,2026-12-01T06:00:00Z,,,,", "earliest: expected a time such as"},
      {"a,1,2026-12-01T06:00:00Z,2026-12-01T06:00:00Z,,,,", "deadline: expected a time after earliest"},
      {"a,1" + times + "4,2,,", "units_max: expected at least units_min, 4"},
      {"a,1" + times + "0,2,,", "units_min: expected 1 to 1000000 units"},
      {"a,1" + times + ",,perhaps,", "preemptible: expected yes or no"},
      {"a,1" + times + ",,,-1", "restart_s: expected seconds from 0 up"},
      {",1" + times + ",,,", "name: expected a name"},
      {"a,1" + times + ",,,\na,1" + times + ",,,", "line 3: name: expected a name that no job above has"},
      {"a,1", "line 2"},
      {"", "the file has no jobs"},
  };
  for (const auto& c : cases) {
    const auto jobs = parse_jobs(head + c.row);
    ASSERT_FALSE(jobs) << c.row;
    EXPECT_NE(jobs.error().what().find(c.says), std::string::npos) << jobs.error().what();
  }
  EXPECT_FALSE(parse_jobs("name,earliest,deadline\n"));
  EXPECT_FALSE(parse_jobs("name,gpu_hours,tokens,earliest,deadline\n"));
}

}  // namespace
}  // namespace ace
