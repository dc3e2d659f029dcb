#include <fmt/core.h>

#include <memory>
#include <ostream>

#include "cli/files.h"
#include "cli/plan.h"
#include "plan/forecast.h"
#include "plan/series_csv.h"

namespace ace::cli {
namespace {

struct ForecastArguments {
  std::string series, horizon = "7d", step, tz, time, name;
  std::vector<std::string> columns;
  std::vector<double> quantiles{0.1, 0.5, 0.9};
  bool json = false;
};

Result<std::vector<Series>> series_of(const ForecastArguments& a, const std::shared_ptr<const Zone>& zone) {
  SeriesFormat format;
  format.time = a.time;
  format.name = a.name;
  format.values = a.columns;
  format.zone = zone;
  if (!a.step.empty()) {
    const Result<Duration> step = duration_from("--step", a.step);
    if (!step) return step.error();
    format.step = *step;
  }
  const Result<std::string> text = read_file(a.series);
  if (!text) return text.error();
  Result<std::vector<Series>> series = series_from_csv(*text, format);
  if (!series) return std::move(series).error().with(a.series);
  return series;
}

Result<void> run_forecast(const ForecastArguments& a, Context& context) {
  ForecastOptions options;
  options.quantiles = a.quantiles;
  const Result<Duration> horizon = duration_from("--horizon", a.horizon);
  if (!horizon) return horizon.error();
  options.horizon = *horizon;
  std::shared_ptr<const Zone> zone;
  if (!a.tz.empty()) {
    Result<std::shared_ptr<const Zone>> named = zone_of(a.tz);
    if (!named) return std::move(named).error();
    zone = *std::move(named);
  }
  options.zone = zone.get();
  const Result<std::vector<Series>> all = series_of(a, zone);
  if (!all) return all.error();
  std::string out;
  for (const Series& series : *all) {
    const Result<Forecast> made = forecast(series, options);
    if (!made) return made.error();
    if (!out.empty()) out += a.json ? "," : "\n";
    out += a.json ? to_json(*made) : to_text(*made);
  }
  *context.out << (a.json ? "{\"schema\":\"ace.forecast/1\",\"forecasts\":[" + out + "]}\n" : out);
  return {};
}

}  // namespace

void add_plan_forecast(CLI::App& plan, Context& context) {
  auto a = std::make_shared<ForecastArguments>();
  CLI::App* command = plan.add_subcommand("forecast", "Quantiles of what a series will be, judged on its own past");
  command->add_option("--series", a->series, "CSV of time and values, or - for standard input")
      ->type_name("FILE")
      ->required();
  command->add_option("--horizon", a->horizon, "how far ahead, up to 366d")->capture_default_str();
  command->add_option("--step", a->step, "of the series; else the commonest distance between its rows");
  command->add_option("--quantiles", a->quantiles, "between 0 and 1")->delimiter(',')->capture_default_str();
  command->add_option("--tz", a->tz, "civil time that the series lives by: UTC, +02:00, Europe/Berlin; else UTC")
      ->type_name("ZONE");
  command->add_option("--time", a->time, "column of the instants; else the first");
  command->add_option("--columns", a->columns, "columns of values; else every one that holds numbers")->delimiter(',');
  command->add_option("--name", a->name, "column that names a row's series");
  command->add_flag("--json", a->json, "one JSON object");
  command->callback([a, &context] {
    if (Result<void> done = run_forecast(*a, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
