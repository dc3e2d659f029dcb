#include "plan/forecast.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace ace {
namespace {

constexpr Duration kHorizonMost = 366 * kDay;
constexpr std::int64_t kStepsMost = 150'000;

Result<void> check(const Series& series, const ForecastOptions& options) {
  const auto wrong = [&](const std::string& what) {
    return Error(Errc::bad_input,
                 fmt::format("forecast of {}: {}", series.name.empty() ? "a series" : series.name, what));
  };
  if (series.step <= Duration{0}) return wrong("the step must be positive");
  if (std::all_of(series.values.begin(), series.values.end(), is_gap)) return wrong("it has no value");
  for (std::size_t i = 0; i < series.values.size(); ++i)
    if (std::isinf(series.values[i]))
      return wrong(fmt::format("the value at {} is not finite", to_rfc3339(series.at(i))));
  if (options.horizon < series.step)
    return wrong(fmt::format("the horizon must hold at least one step of {} s", to_seconds(series.step)));
  if (options.horizon > kHorizonMost)
    return wrong(
        fmt::format("a horizon of {:.0f} days was asked for, at most 366 are forecast: what lies further is a "
                    "scenario, not a forecast",
                    to_seconds(options.horizon) / 86'400));
  if (options.horizon / series.step > kStepsMost)
    return wrong(fmt::format("the horizon has {} steps, at most {} are forecast; take a longer step",
                             options.horizon / series.step, kStepsMost));
  if (options.quantiles.empty()) return wrong("no quantile is asked for");
  for (const double q : options.quantiles)
    if (!(q > 0.0 && q < 1.0)) return wrong(fmt::format("quantiles lie between 0 and 1, got {}", q));
  if (!(options.interval > 0.0 && options.interval < 1.0))
    return wrong(fmt::format("the interval lies between 0 and 1, got {}", options.interval));
  return {};
}

/// Ascending, each once.
std::vector<double> levels_of(const ForecastOptions& options) {
  std::vector<double> levels = options.quantiles;
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  return levels;
}

void remark(Forecast& f, const Series& series, std::size_t steps, std::size_t day) {
  std::vector<std::string>& notes = f.findings.notes;
  if (f.findings.constant) notes.push_back("the series is constant: so is the forecast");
  if (series.values.size() == 1) notes.push_back("one value is no history: it is repeated, and no interval is known");
  if (series.values.size() > 1 && series.values.size() < 2 * day)
    notes.push_back(
        "less than two days of history: where there is no same time before, the naive forecast is the last "
        "value");
  if (f.backtest.points > 0 && f.backtest.points < 1000)
    notes.push_back(fmt::format("only {} values could be held out: the coverage is a rough figure", f.backtest.points));
  if (f.tested < static_cast<std::int64_t>(steps) * series.step)
    notes.push_back(
        fmt::format("the history lets {} steps ahead be tested; beyond them the path repeats and the fan "
                    "widens with the square root of the lead, which nothing has measured",
                    f.tested / series.step));
}

}  // namespace

Result<Forecast> forecast(const Series& series, const ForecastOptions& options) {
  if (Result<void> fine = check(series, options); !fine) return std::move(fine).error();
  const auto steps = static_cast<std::size_t>(options.horizon / series.step);
  const Calendar calendar(series.start, series.step, series.values.size() + steps, options.zone);
  Clean cleaned = clean(series, calendar);
  const std::vector<double> levels = levels_of(options);
  const Origins origins = origins_for(series.values.size(), steps, calendar.day());
  Rolling rolling(series.values, cleaned.values, calendar, levels, options.interval, origins);
  rolling.run();

  Forecast f;
  f.name = series.name;
  f.start = series.end();
  f.step = series.step;
  f.quantiles = levels;
  f.fan = rolling.forecast(steps);
  f.backtest = rolling.result();
  f.model = rolling.chosen();
  f.tested = static_cast<std::int64_t>(std::min(steps, origins.horizon)) * series.step;
  f.findings = std::move(cleaned.findings);
  remark(f, series, steps, calendar.day());
  return f;
}

}  // namespace ace
