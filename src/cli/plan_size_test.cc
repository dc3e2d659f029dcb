#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli/command_testing.h"
#include "cli/plan.h"

namespace ace::cli {
namespace {

using ::testing::HasSubstr;

std::string example(const std::string& file) { return std::string(ACE_SOURCE) + "/examples/" + file; }

CommandRun size(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "size");
  return run_command(add_plan_size, arguments);
}

std::string written(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(PlanSize, of_an_example_holds_what_pays_and_says_what_it_left_out) {
  const CommandRun run = size({example("midsize/trace.csv.zst"), "--fleet", example("midsize/fleet.yaml"), "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto report = nlohmann::json::parse(run.out);
  EXPECT_EQ(report["schema"], "ace.plan_size/1");
  ASSERT_EQ(report["pools"].size(), 2U);
  const auto& ptu = report["pools"][0]["supplies"][0];
  // Published: TPM per PTU x list price is about 0.356 USD an hour for almost every model, as is a month's reservation.
  EXPECT_NEAR(ptu["break_even_utilization"].get<double>(), 0.99, 0.01);
  EXPECT_EQ(ptu["optimum_units"], 0);
  EXPECT_EQ(ptu["p90_units"].get<int>() % 5, 0);
  EXPECT_EQ(report["pools"][1]["supplies"][0]["name"], "h100-own");
  EXPECT_FALSE(report["pools"][1]["in_sample"].get<bool>());
  for (const auto& plan : report["pools"][1]["plans"]) {
    const double curve = std::stod(plan["total_usd"].get<std::string>());
    EXPECT_NEAR(std::stod(plan["replayed"]["total_usd"].get<std::string>()), curve, 0.05 * curve) << plan["name"];
  }
}

TEST(PlanSize, takes_a_series_of_demand_in_units_of_a_destination) {
  std::string csv = "at,load\n";
  for (int hour = 0; hour < 20; ++hour)
    csv += "2026-01-0" + std::to_string(1 + hour / 10) + "T0" + std::to_string(hour % 10) + ":00:00Z," +
           std::to_string(hour % 10) + "\n";
  const std::string path = written("load.csv", csv);
  const std::vector<std::string> common = {"--series", path,         "--fleet", example("startup/fleet.yaml"),
                                           "--supply", "h100-rented"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return size(more);
  };
  // 3.98 USD/h against 5.00 at PAYG: a unit must be at work in 79.6% of the hours. Of loads 0 to 9 the second unit
  // (at work where there are 2 or more) is, in 80%, and the third is not.
  const CommandRun run = with({"--payg", "5", "--train", "1", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto pool = nlohmann::json::parse(run.out)["pools"][0];
  EXPECT_TRUE(pool["in_sample"].get<bool>());
  EXPECT_EQ(pool["supplies"][0]["p90_units"], 8);
  EXPECT_EQ(pool["supplies"][0]["optimum_units"], 2);
  EXPECT_THAT(with({"--payg", "5", "--train", "1"}).out, HasSubstr("IN-SAMPLE"));
  EXPECT_THAT(with({}).err, HasSubstr("--series needs --supply DESTINATION"));
}

TEST(PlanSize, makes_a_calendar_of_terms) {
  std::string csv = "at,load\n";
  for (int day = 1; day <= 9; ++day)
    for (int hour = 10; hour < 20; ++hour)
      csv +=
          "2026-01-0" + std::to_string(day) + "T" + std::to_string(hour) + ":00:00Z," + (day == 5 ? "6" : "2") + "\n";
  const std::vector<std::string> common = {"--series", written("terms.csv", csv),
                                           "--fleet",  example("startup/fleet.yaml"),
                                           "--supply", "h100-rented",
                                           "--payg",   "1",
                                           "--period", "3d",
                                           "--json",   "--term"};
  auto with = [&](std::vector<std::string> terms) {
    terms.insert(terms.begin(), common.begin(), common.end());
    return size(terms);
  };
  // 30 hours at work in each of 3 periods save 30 USD a unit; the long term costs 10 a period, so 2 of it, from the
  // start.
  const CommandRun run = with({"long:3:10", "--term", "short:1:12"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto page = nlohmann::json::parse(run.out)["pools"][0];
  EXPECT_EQ(page["buy"].size(), 1U);
  EXPECT_EQ(page["buy"][0]["term"], "long");
  EXPECT_EQ(page["buy"][0]["units"], 2);
  EXPECT_EQ(page["fees_usd"], "60.00");
  EXPECT_EQ(page["payg_usd"], "40.00");  // 4 more units on one day
  EXPECT_THAT(with({"long:0:10"}).err, HasSubstr("--term: expected NAME:PERIODS:FEE"));
  EXPECT_THAT(with({"long:18446744073709551615:10"}).err, HasSubstr("--term: expected NAME:PERIODS:FEE"));
  EXPECT_THAT(with({"long"}).err, HasSubstr("got \"long\""));
}

TEST(PlanSize, refuses_what_it_cannot_size_on) {
  const std::string fleet = example("startup/fleet.yaml"), trace = example("startup/trace.csv.zst");
  const std::string bad = written("bad.csv", "at,load\n2026-01-01T00:00:00Z,1\n2026-01-01T01:00:00Z,-1\n");
  const struct {
    std::vector<std::string> arguments;
    const char* what;
  } cases[] = {
      {{trace, "--fleet", fleet, "--train", "0"}, "--train: expected a share"},
      {{trace, "--fleet", fleet, "--step", "1"}, "--step"},
      {{trace, "--fleet", fleet, "--series", bad}, "not both"},
      {{"--fleet", fleet}, "trace is required"},
      {{"--series", bad, "--fleet", fleet, "--supply", "together", "--payg", "1"}, "holds no destination \"together\""},
      {{"--series", bad, "--fleet", fleet, "--supply", "h100-rented", "--payg", "1"}, "is -1"},
      {{trace, "--fleet", fleet, "--term", "a:1:1"}, "--term requires --series"},
      {{"--series", bad, "--fleet", fleet, "--held-units", "3"}, "--held-units requires --term"},
      {{"--series", bad, "--fleet", fleet, "--term", "a:1:1", "--budget", "5"}, "--budget excludes --term"},
      {{trace, "--fleet", fleet, "--budget", "-1"}, "--budget: expected a number from 0 up, got \"-1\""},
      {{trace, "--fleet", fleet, "--budget", "nan"}, "--budget: expected a number from 0 up, got \"nan\""},
      {{trace, "--fleet", fleet, "--window", "2020-01-01T00:00:00Z,2020-01-02T00:00:00Z"}, "no request of the window"},
  };
  for (const auto& c : cases) {
    const CommandRun run = size(c.arguments);
    EXPECT_EQ(run.code, 2) << c.what;
    EXPECT_THAT(run.err, HasSubstr(c.what));
    EXPECT_EQ(run.out, "");
  }
}

}  // namespace
}  // namespace ace::cli
