#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/cli.h"
#include "cli/command_testing.h"
#include "cli/files.h"

namespace ace::cli {
namespace {

std::string file(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "ace_plan_" + name;
  EXPECT_TRUE(write_file(path, text));
  return path;
}

CommandRun plan(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "plan");
  return run_command(add_plan, arguments);
}

TEST(PlanValley, admits_what_fits_and_refuses_the_rest_with_a_time) {
  const std::string capacity = file("free.csv",
                                    "time,units\n2026-12-01T00:00:00Z,2\n2026-12-01T01:00:00Z,1\n"
                                    "2026-12-01T02:00:00Z,0\n2026-12-01T03:00:00Z,4\n");
  const std::string jobs = file("jobs.csv",
                                "name,gpu_hours,earliest,deadline,units_max\n"
                                "embed,2,2026-12-01T00:00:00Z,2026-12-01T02:00:00Z,2\n"
                                "tune,3,2026-12-01T00:00:00Z,2026-12-01T03:00:00Z,4\n");
  const CommandRun text = plan({"valley", jobs, "--capacity", capacity});
  EXPECT_EQ(text.code, 1) << text.err;  // a job was refused
  EXPECT_NE(text.out.find("the earliest that it can be done is 2026-12-01T04:00:00Z"), std::string::npos) << text.out;
  const CommandRun run = plan({"valley", jobs, "--capacity", capacity, "--json"});
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["jobs"][0]["admitted"], true);
  EXPECT_EQ(json["jobs"][0]["ends"], "2026-12-01T01:00:00Z");
  EXPECT_EQ(json["jobs"][1]["admitted"], false);
  EXPECT_EQ(json["troughs"][0]["donatable_unit_hours"], 0.0);
  EXPECT_EQ(json["troughs"][3]["donatable_unit_hours"], 4.0);
  EXPECT_EQ(json["cost_usd"], "0.00");
}

TEST(PlanValley, goes_where_energy_is_cheap) {
  const std::string capacity =
      file("flat.csv", "time,units\n2026-12-01T00:00:00Z,2\n2026-12-01T01:00:00Z,2\n2026-12-01T02:00:00Z,2\n");
  const std::string energy =
      file("energy.csv", "time,usd\n2026-12-01T00:00:00Z,0.30\n2026-12-01T01:00:00Z,0.20\n2026-12-01T02:00:00Z,0.10\n");
  const std::string jobs =
      file("one.csv", "name,gpu_hours,earliest,deadline,units_max\na,3,2026-12-01T00:00:00Z,2026-12-01T03:00:00Z,2\n");
  const auto json =
      nlohmann::json::parse(plan({"valley", jobs, "--capacity", capacity, "--energy", energy, "--json"}).out);
  EXPECT_EQ(json["cost_usd"], "0.40");  // two unit-hours at 0.10, one at 0.20
}

TEST(PlanValley, what_is_missing_is_said) {
  const std::string jobs =
      file("two.csv", "name,gpu_hours,earliest,deadline\na,3,2026-12-01T00:00:00Z,2026-12-01T03:00:00Z\n");
  const std::string negative = file("negative.csv", "time,units\n2026-12-01T00:00:00Z,2\n2026-12-01T01:00:00Z,-1\n");
  const struct {
    std::vector<std::string> arguments;
    const char* says;
  } cases[] = {
      {{"valley", jobs}, "--capacity SERIES, or --trace T"},
      {{"valley", jobs, "--capacity", negative}, "expected 0 to 1,000,000 units, got -1"},
      {{"valley", jobs, "--capacity", negative, "--step", "soon"}, "--step: expected"},
      {{"valley", jobs, "--trace", "-", "--fleet", "-", "--step", "0s"}, "--step: expected a second to 24h"},
      {{"valley", jobs, "--trace", "-", "--fleet", "-", "--step", "1ns"}, "--step: expected a second to 24h"},
      {{"valley", jobs, "--capacity", negative, "--tokens-per-unit-hour", "0"}, "expected a number above 0, got \"0\""},
      {{"valley", negative, "--capacity", negative}, "missing column \"name\""},
  };
  for (const auto& c : cases) {
    const CommandRun run = plan(c.arguments);
    EXPECT_EQ(run.code, 2) << c.says;
    EXPECT_NE(run.err.find(c.says), std::string::npos) << run.err;
  }
}

/// Eight hours of four units, but for hour 2 without any and hour 5 with two.
std::string spot_log() { return file("spot.csv", "0,4\n2,0\n3,4\n5,2\n6,4\n8,4\n"); }

TEST(PlanSpot, says_what_each_rule_would_have_cost) {
  const CommandRun run = plan({"spot", "evaluate", spot_log(), "--work", "2h", "--deadline", "4h", "--units", "3",
                               "--spot", "1", "--on-demand", "3", "--step", "1h", "--changeover", "0s", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["runs"], 6);  // starts in hours 0 to 5; the log's last row is an hour too
  EXPECT_EQ(json["rules"][0]["rule"], "on_demand");
  EXPECT_EQ(json["rules"][0]["cost_usd"], "108.00");  // 6 runs x 2 h x 3 units x 3 USD
  for (const auto& rule : json["rules"])
    if (rule["rule"] != "spot") {
      EXPECT_EQ(rule["missed_deadlines"], 0);
    }
  EXPECT_EQ(json["optimum_usd"], "36.00");  // two hours of spot within every four
  EXPECT_EQ(json["hazard"]["losses"], 2);
}

TEST(PlanSpot, what_cannot_be_planned_is_said) {
  const std::vector<std::string> head = {"spot", "evaluate", spot_log(), "--work"};
  const struct {
    std::vector<std::string> rest;
    const char* says;
  } cases[] = {
      {{"2h", "--deadline", "4h"}, "say what a unit costs"},
      {{"2h", "--deadline", "4h", "--spot", "3", "--on-demand", "1"}, "dearer than on demand"},
      {{"2h", "--deadline", "4h", "--spot", "1", "--on-demand", "many"}, "--on-demand: expected USD per unit-hour"},
      {{"4h", "--deadline", "4h", "--spot", "1", "--on-demand", "3"}, "no capacity can keep this deadline"},
      {{"2h", "--deadline", "4h", "--spot", "1", "--on-demand", "1000000", "--units", "100000"}, "--units: 100000 at"},
      {{"2h", "--deadline", "4h", "--spot", "1", "--on-demand", "1000000000"}, "all starts together may cost more"},
      {{"4h", "--deadline", "40h", "--spot", "1", "--on-demand", "3"}, "shorter than the deadline"},
      {{"4x", "--deadline", "40h", "--spot", "1", "--on-demand", "3"}, "--work: expected"},
      {{"2h", "--deadline", "4h", "--catalog", "http://169.254.169.254/x", "--instance", "a", "--region", "b"},
       "http://169.254.169.254/x: expected"},
  };
  for (const auto& c : cases) {
    std::vector<std::string> arguments = head;
    arguments.insert(arguments.end(), c.rest.begin(), c.rest.end());
    const CommandRun run = plan(arguments);
    EXPECT_EQ(run.code, 2) << c.says;
    EXPECT_NE(run.err.find(c.says), std::string::npos) << run.err;
  }
}

TEST(PlanSpot, a_watch_that_gives_up_says_so) {
  // Nobody listens there.
  const CommandRun run = plan(
      {"spot", "watch", "--cloud", "aws", "--metadata", "http://127.0.0.1:1", "--every", "100ms", "--for", "300ms"});
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("silence is no all-clear"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("no notice came within 300ms"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace ace::cli
