/// The bar of issue 5 on the real series: held out, origin by origin, with the model that the past before it chose.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "core/csv.h"
#include "plan/demand.h"
#include "plan/forecast.h"
#include "plan/series_csv.h"
#include "trace/trace.h"

namespace ace {
namespace {

/// A file of the shared data, unpacked.
std::string text_of(const std::string& file) {
  auto stored = open_file(std::string(ACE_DATA) + "/" + file);
  EXPECT_TRUE(stored) << stored.error().what();
  if (!stored) return {};
  const auto input = decompressed(*std::move(stored));
  std::string text;
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const Result<std::size_t> got = input->read(buffer);
    EXPECT_TRUE(got);
    if (!got || *got == 0) break;
    text.append(buffer.data(), *got);
  }
  return text;
}

Series price(const std::string& market) {
  SeriesFormat format;
  format.zone = *zone_of("UTC");  // these files have 24 hours on every day
  format.values = {"Real price"};
  const auto series = series_from_csv(text_of("electricity-prices/" + market + "_real_and_forecast.csv.gz"), format);
  EXPECT_TRUE(series) << series.error().what();
  return series->front();
}

/// All sources of a grid operator, summed: its load, more or less.
Series generation(const std::string& area) {
  std::string text = text_of("carbon-hourly/" + area + "_2022.csv");
  const auto all = series_from_csv(text);
  EXPECT_TRUE(all) << all.error().what();
  Series sum = all->front();
  for (std::size_t i = 0; i < sum.values.size(); ++i) {
    sum.values[i] = 0.0;
    for (const Series& source : *all)
      if (source.name != "avg_CI") sum.values[i] += is_gap(source.values[i]) ? 0.0 : source.values[i];
  }
  return sum;
}

/// Sums of one column at whole steps of another, which counts seconds.
Series counted(const std::string& file, const std::string& seconds, const std::string& value, Duration step) {
  const std::string text = text_of(file);
  Result<CsvTable> table = CsvTable::open(text);
  EXPECT_TRUE(table);
  const std::size_t at = *table->require(seconds);
  const std::size_t what = value.empty() ? at : *table->require(value);
  std::map<std::int64_t, double> sums;
  CsvRow row;
  while (*table->next(row)) {
    const double t = std::stod(std::string(row.fields[at]));
    sums[static_cast<std::int64_t>(t / to_seconds(step))] +=
        value.empty() ? 1.0 : std::stod(std::string(row.fields[what]));
  }
  Series series{file, instant_of({.year = 2026, .month = 1, .day = 5}), step, {}};
  series.values.assign(static_cast<std::size_t>(sums.rbegin()->first), 0.0);  // the last step may not be whole
  for (const auto& [step_number, sum] : sums)
    if (static_cast<std::size_t>(step_number) < series.values.size())
      series.values[static_cast<std::size_t>(step_number)] = sum;
  return series;
}

Series five_minutes(const std::string& trace) {
  const auto source = open_trace(std::string(ACE_DATA) + "/" + trace);
  EXPECT_TRUE(source) << source.error().what();
  const auto demand = demand_of(**source, {.step = 5 * kMinute});
  EXPECT_TRUE(demand) << demand.error().what();
  EXPECT_EQ(demand->cells.size(), 1U);
  return demand->cells.front().load({});
}

TEST(ForecastData, is_never_much_worse_than_seasonal_naive_and_on_most_series_much_better) {
  struct Case {
    std::string name;
    Series series;
    Duration horizon;
  };
  std::vector<Case> cases;
  for (const char* market : {"DE", "NP", "PJM"}) cases.push_back({std::string("price ") + market, price(market), kDay});
  for (const char* area : {"BPAT", "CISO", "ERCO", "PJM"})
    cases.push_back({std::string("generation ") + area, generation(area), kDay});
  // A day of history says nothing about the next day: an hour ahead there, and a step on an hour of 5-minute cells.
  for (const auto& [model, horizon] :
       {std::pair("m-large", kDay), std::pair("m-small", kDay), std::pair("deepseek-r1", kHour)})
    for (const Duration step : {10 * kMinute, kHour})
      cases.push_back({std::string("servegen ") + model,
                       counted(std::string("servegen/") + model + "_rates.csv.gz", "t_s", "rate_per_s", step),
                       horizon});
  cases.push_back(
      {"openb pods", counted("alibaba-openb/openb_pod_list_default.csv", "creation_time", "", kHour), kDay});
  cases.push_back({"azure code", five_minutes("azure-llm/AzureLLMInferenceTrace_code.csv"), 5 * kMinute});
  cases.push_back({"mooncake", five_minutes("mooncake/conversation_trace.jsonl.gz"), 5 * kMinute});

  std::size_t better = 0;
  for (const Case& c : cases) {
    const Result<Forecast> f = forecast(c.series, {.horizon = c.horizon});
    ASSERT_TRUE(f) << c.name << ": " << f.error().what();
    const Backtest& b = f->backtest;
    std::printf("%-22s %6.0f s %6zu values held out  %5.1f%% of the better naive  coverage %4.1f%%  %s\n",
                c.name.c_str(), to_seconds(c.series.step), b.points, 100.0 * b.relative(), 100.0 * b.coverage,
                f->model.c_str());
    EXPECT_LE(b.relative(), 1.02) << c.name;
    better += b.relative() <= 0.95 ? 1U : 0U;
    if (b.points >= 1000) {
      EXPECT_GE(b.coverage, 0.88) << c.name;
      EXPECT_LE(b.coverage, 0.92) << c.name;
    }
  }
  EXPECT_GE(2 * better, cases.size());
}

}  // namespace
}  // namespace ace
