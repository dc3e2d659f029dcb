#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include <fmt/format.h>

#include "cli/cli.h"
#include "cli/command_testing.h"
#include "cli/files.h"

namespace ace::cli {
namespace {

using ::testing::HasSubstr;

std::string file(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "ace_plan_forecast_" + name;
  EXPECT_TRUE(write_file(path, text));
  return path;
}

CommandRun forecast(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"plan", "forecast"});
  return run_command(add_plan, arguments);
}

/// Four days of hours: 10 by night and 100 by day, in two columns of which the second has a gap.
std::string days() {
  std::string text = "time,load,price\n";
  for (int i = 0; i < 96; ++i)
    text += fmt::format("2026-01-{:02}T{:02}:00:00Z,{},{}\n", 5 + i / 24, i % 24, i % 24 >= 8 && i % 24 < 20 ? 100 : 10,
                        i == 50 ? "" : "1");
  return file("days.csv", text);
}

TEST(PlanForecast, says_every_series_of_a_file_as_one_object_with_its_backtest) {
  const CommandRun run = forecast({"--series", days(), "--horizon", "1d", "--quantiles", "0.9,0.5", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_EQ(json["forecasts"].size(), 2U);
  const auto& load = json["forecasts"][0];
  EXPECT_EQ(load["name"], "load");
  EXPECT_EQ(load["start"], "2026-01-09T00:00:00Z");
  EXPECT_EQ(load["step_s"], 3600);
  ASSERT_EQ(load["quantiles"]["0.5"].size(), 24U);
  EXPECT_NEAR(load["quantiles"]["0.5"][12].get<double>(), 100.0, 10.0);
  EXPECT_NEAR(load["quantiles"]["0.5"][2].get<double>(), 10.0, 10.0);
  EXPECT_EQ(load["interval"]["low"].size(), 24U);
  EXPECT_GT(load["backtest"]["points"].get<int>(), 0);
  EXPECT_EQ(load["backtest"]["models"].size(), 7U);
  EXPECT_EQ(json["forecasts"][1]["findings"]["gap_steps"], 1);
}

TEST(PlanForecast, says_it_as_a_page_with_the_model_and_a_fan) {
  const CommandRun run = forecast({"--series", days(), "--values", "load", "--horizon", "1d"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("series    load\n"));
  EXPECT_THAT(run.out, HasSubstr("as published, origin by origin"));
  EXPECT_THAT(run.out, HasSubstr("  p90 "));
  EXPECT_THAT(run.out, HasSubstr("█"));
}

TEST(PlanForecast, reads_a_series_between_tabs) {
  const std::string tabs = file("tabs.csv", "time\tload\n2026-01-05T00:00:00Z\t3\n2026-01-05T01:00:00Z\t3\n");
  const CommandRun run = forecast({"--series", tabs, "--delimiter", "\\t", "--horizon", "1h", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(run.out)["forecasts"][0]["quantiles"]["0.5"][0].get<double>(), 3.0);
}

TEST(PlanForecast, counts_the_demand_of_a_log_by_cell) {
  std::string text = "at,model,prompt,output\n";
  for (int i = 0; i < 600; ++i)
    text += fmt::format("2026-01-05T{:02}:{:02}:{:02}Z,m{},100,10\n", i / 60, i % 60, 59 * (i % 2), i % 2);
  const std::string log = file("log.csv", text);
  const std::vector<std::string> as_log = {log, "--columns", "at=at,model=model,prompt=prompt,output=output"};
  std::vector<std::string> arguments = as_log;
  arguments.insert(arguments.end(), {"--step", "10m", "--horizon", "10m", "--json"});
  const CommandRun run = forecast(arguments);
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_EQ(json["forecasts"].size(), 2U);
  // Every other minute 100 prompt and 4 x 10 output tokens: 70 a minute, always.
  EXPECT_TRUE(json["forecasts"][0]["findings"]["constant"].get<bool>());
  EXPECT_DOUBLE_EQ(json["forecasts"][0]["quantiles"]["0.5"][0].get<double>(), 70.0);
  EXPECT_THAT(run.err, HasSubstr("600 of 600 requests do not say what was cached"));
}

TEST(PlanForecast, refuses_what_it_cannot_read_or_answer) {
  const struct {
    std::vector<std::string> arguments;
    const char* want;
  } cases[] = {
      {{}, "either a request log or --series"},
      {{"log.csv", "--series", "x.csv"}, "either a request log or --series"},
      {{"--series", days(), "--horizon", "10"}, "--horizon: expected a time with its unit"},
      {{"--series", days(), "--horizon", "3650d"}, "at most 366"},
      {{"--series", days(), "--step", "0s"}, "--step: expected more than nothing"},
      {{"--series", days(), "--tz", "CEST"}, "--tz"},
      {{"--series", days(), "--delimiter", "tab"}, "--delimiter: expected one character"},
      {{"--series", days(), "--quantiles", "1.5"}, "between 0 and 1"},
      {{"--series", days(), "--values", "cost"}, "cost"},
      {{"--series", file("bad.csv", "time,v\n2026-01-01T00:00:00Z,1\n2026-01-01T01:00:00Z,x\n")}, "line 3"},
  };
  for (const auto& c : cases) {
    const CommandRun run = forecast(c.arguments);
    EXPECT_EQ(run.code, 2) << c.want;
    EXPECT_THAT(run.err, HasSubstr(c.want));
    EXPECT_EQ(run.out, "");
  }
}

}  // namespace
}  // namespace ace::cli
