#include <fmt/core.h>

#include <functional>
#include <memory>
#include <ostream>

#include "cli/files.h"
#include "cli/plan.h"
#include "cli/progress.h"
#include "cli/trace.h"
#include "plan/demand.h"
#include "plan/forecast.h"
#include "plan/series_csv.h"

namespace ace::cli {
namespace {

struct ForecastArguments {
  TraceArguments trace;
  std::string series, horizon = "7d", step, time, name, of = "load";
  std::vector<std::string> columns;
  std::vector<double> quantiles{0.1, 0.5, 0.9};
  double interval = 0.9;
  LoadWeights weights;
  bool json = false;
};

Result<std::vector<Series>> series_of(const ForecastArguments& a, const std::shared_ptr<const Zone>& zone,
                                      Duration step) {
  SeriesFormat format;
  format.time = a.time;
  format.name = a.name;
  format.values = a.columns;
  format.zone = zone;
  format.step = step;
  const Result<char> delimiter = delimiter_from(a.trace.format);
  if (!delimiter) return Error(delimiter.error());
  format.delimiter = *delimiter;
  const Result<std::string> text = read_file(a.series);
  if (!text) return text.error();
  Result<std::vector<Series>> series = series_from_csv(*text, format);
  if (!series) return std::move(series).error().with(a.series);
  return series;
}

/// One kind of demand of every cell of a trace.
Result<std::vector<Series>> demand_series(const ForecastArguments& a, Duration step, Context& context) {
  std::optional<FleetReading> declared;
  if (!a.trace.fleet.empty()) {
    Result<FleetReading> reading = load_fleet(a.trace.fleet, "");
    if (!reading) return std::move(reading).error();
    declared = std::move(*reading);
  }
  Result<std::unique_ptr<RequestSource>> source = open_trace(a.trace);
  if (!source) return std::move(source).error();
  const Result<DemandReading> read =
      demand_of(**source, {.step = step > Duration{0} ? step : kHour, .fleet = declared ? &declared->fleet : nullptr});
  if (!read) return read.error();
  say_what_was_left_out(**source, context);
  if (read->requests == 0) return Error(Errc::bad_input, a.trace.path + ": no request, so no demand to forecast");
  if (read->cached_unknown > 0)
    *context.err << fmt::format("ace: note: {} of {} requests do not say what was cached; they count as uncached\n",
                                read->cached_unknown, read->requests);
  if (read->answered > 0)
    *context.err << fmt::format("ace: note: {} requests were answered by a response cache and are no demand\n",
                                read->answered);
  std::vector<Series> all;
  for (const CellDemand& cell : read->cells) {
    if (a.of == "load") all.push_back(cell.load(a.weights));
    if (a.of == "requests") all.push_back(cell.requests);
    if (a.of == "uncached") all.push_back(cell.uncached);
    if (a.of == "cached") all.push_back(cell.cached);
    if (a.of == "output") all.push_back(cell.output);
  }
  return all;
}

Result<void> run_forecast(const ForecastArguments& a, Context& context) {
  if (a.series.empty() == a.trace.path.empty())
    return Error(Errc::bad_input, "plan forecast: give either a request log or --series FILE");
  ForecastOptions options;
  options.quantiles = a.quantiles;
  options.interval = a.interval;
  const Result<Duration> horizon = duration_from("--horizon", a.horizon);
  if (!horizon) return horizon.error();
  options.horizon = *horizon;
  const Result<Duration> step = a.step.empty() ? Duration{0} : duration_from("--step", a.step);
  if (!step) return step.error();
  if (!a.step.empty() && *step <= Duration{0}) return Error(Errc::bad_input, "--step: expected more than nothing");
  std::shared_ptr<const Zone> zone;
  if (!a.trace.format.tz.empty()) {
    Result<std::shared_ptr<const Zone>> named = zone_of(a.trace.format.tz);
    if (!named) return std::move(named).error();
    zone = *std::move(named);
  }
  options.zone = zone.get();
  const Result<std::vector<Series>> all =
      a.series.empty() ? demand_series(a, *step, context) : series_of(a, zone, *step);
  if (!all) return all.error();

  Progress progress(context, "forecasting");
  std::string out;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const Result<Forecast> made = forecast((*all)[i], options);
    if (!made) return made.error();
    if (!out.empty()) out += a.json ? "," : "\n";
    out += a.json ? to_json(*made) : to_text(*made);
    progress(static_cast<double>(i + 1) / static_cast<double>(all->size()), i + 1);
  }
  *context.out << (a.json ? "{\"schema\":\"ace.forecast/1\",\"forecasts\":[" + out + "]}\n" : out);
  return {};
}

}  // namespace

void add_plan_forecast(CLI::App& plan, Context& context) {
  auto a = std::make_shared<ForecastArguments>();
  CLI::App* command = plan.add_subcommand("forecast", "Quantiles of what demand will be, judged on its own past");
  add_trace_arguments(*command, a->trace);
  command->get_option("trace")->required(false);
  command->add_option("--series", a->series, "in the place of a request log: CSV of time and values, or -")
      ->type_name("FILE");
  command->add_option("--horizon", a->horizon, "how far ahead, up to 366d")->capture_default_str();
  command->add_option("--step", a->step, "of the series; 1h for a log, else the commonest distance between rows");
  command->add_option("--quantiles", a->quantiles, "between 0 and 1")->delimiter(',')->capture_default_str();
  command->add_option("--interval", a->interval, "share of values that the adaptive interval holds")
      ->capture_default_str();
  command
      ->add_option("--of", a->of, "of a log, tokens or requests per minute: load, uncached, cached, output, requests")
      ->check(CLI::IsMember({"load", "uncached", "cached", "output", "requests"}))
      ->capture_default_str();
  command->add_option("--weight-cached", a->weights.cached, "of a cached prompt token in the load")
      ->check(number_from_zero())
      ->capture_default_str();
  command->add_option("--weight-output", a->weights.output, "of an output token in the load")
      ->check(number_from_zero())
      ->capture_default_str();
  command->add_option("--time", a->time, "of --series: column of the instants; else the first");
  command->add_option("--values", a->columns, "of --series: columns; else every one that holds numbers")
      ->delimiter(',');
  command->add_option("--name", a->name, "of --series: column that names a row's series");
  command->add_flag("--json", a->json, "one JSON object");
  command->callback([a, &context] {
    if (Result<void> done = run_forecast(*a, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
