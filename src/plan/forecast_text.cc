/// A forecast as people and machines read it.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "core/text.h"
#include "plan/forecast.h"

namespace ace {
namespace {

constexpr std::size_t kShown = 8;  ///< outliers and the like in the text
constexpr std::size_t kChartColumns = 72;

std::string span(Duration d) {
  if (d % kDay == Duration{0}) return fmt::format("{} d", d / kDay);
  if (d % kHour == Duration{0}) return fmt::format("{} h", d / kHour);
  if (d % kMinute == Duration{0}) return fmt::format("{} min", d / kMinute);
  return fmt::format("{} s", to_seconds(d));
}

/// Six digits, shortest form; a reader's figure.
std::string figure(double value) { return fmt::format("{:.6g}", value); }

/// One line of blocks for a quantile, all lines on one scale.
std::string bars(const std::vector<double>& values, double low, double high) {
  constexpr std::string_view kSteps[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t columns = std::min(kChartColumns, values.size());
  std::string out;
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t from = c * values.size() / columns, to = (c + 1) * values.size() / columns;
    double sum = 0.0;
    for (std::size_t i = from; i < to; ++i) sum += values[i];
    const double mean = sum / static_cast<double>(to - from);
    const double share = high > low ? (mean - low) / (high - low) : 0.5;
    out += kSteps[static_cast<std::size_t>(std::clamp(share * 8.0, 0.0, 7.0))];
  }
  return out;
}

std::string fan_text(const Forecast& f) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const auto& line : f.fan.quantiles)
    for (const double v : line) {
      low = std::min(low, v);
      high = std::max(high, v);
    }
  std::string out = fmt::format("fan       {} from {}, each block {} of {} steps; blocks run from {} to {}\n",
                                span(static_cast<std::int64_t>(f.fan.quantiles[0].size()) * f.step),
                                to_rfc3339(f.start), f.fan.quantiles[0].size() > kChartColumns ? "the mean" : "one",
                                f.fan.quantiles[0].size(), figure(low), figure(high));
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0.0;
    for (const double v : values) sum += v;
    return figure(sum / static_cast<double>(values.size()));
  };
  for (std::size_t k = f.quantiles.size(); k-- > 0;)
    out += fmt::format("  p{:<6} {}  mean {}\n", figure(100.0 * f.quantiles[k]), bars(f.fan.quantiles[k], low, high),
                       mean(f.fan.quantiles[k]));
  return out + fmt::format("  the adaptive {:.0f}% interval runs from {} to {} on the mean\n",
                           100.0 * f.backtest.interval, mean(f.fan.low), mean(f.fan.high));
}

std::string findings_text(const SeriesFindings& f) {
  std::string out;
  if (f.gaps > 0)
    out += fmt::format("gaps      {} of {} steps, the longest {}: filled from the same time before, never scored\n",
                       f.gaps, f.steps, f.longest_gap);
  if (f.negative > 0) out += fmt::format("negative  {} values below zero\n", f.negative);
  for (std::size_t i = 0; i < std::min(f.shifts.size(), kShown); ++i)
    out += fmt::format("shift     {}: from {} to {}\n", to_rfc3339(f.shifts[i].at), figure(f.shifts[i].before),
                       figure(f.shifts[i].after));
  if (f.shifts.size() > kShown)
    out += fmt::format("shift     and {} more; --json has them all\n", f.shifts.size() - kShown);
  if (!f.outliers.empty()) {
    const Outlier& o = f.outliers.front();
    out += fmt::format(
        "outliers  {}: models see them pulled in, scores count them whole; the first {} with {}, expected {}\n",
        f.outliers.size(), to_rfc3339(o.at), figure(o.value), figure(o.expected));
  }
  if (!f.clock_changes.empty())
    out += fmt::format("clocks    change {} times, first at {}\n", f.clock_changes.size(),
                       to_rfc3339(f.clock_changes.front()));
  for (const std::string& note : f.notes) out += fmt::format("note      {}\n", note);
  return out;
}

template <class Items, class Print>
std::string json_list(const Items& items, Print print) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ",";
    out += print(item);
  }
  return out + "]";
}

std::string exact(double value) { return fmt::format("{}", value); }

std::string findings_json(const SeriesFindings& f) {
  const auto at = [](Instant t) { return json_text(to_rfc3339(t)); };
  return fmt::format(
      "{{\"steps\":{},\"gap_steps\":{},\"longest_gap_steps\":{},\"negative_values\":{},\"constant\":{},"
      "\"clock_changes\":{},\"level_shifts\":{},\"outliers\":{},\"notes\":{}}}",
      f.steps, f.gaps, f.longest_gap, f.negative, f.constant, json_list(f.clock_changes, at),
      json_list(f.shifts,
                [&](const LevelShift& s) {
                  return fmt::format("{{\"at\":{},\"before\":{},\"after\":{}}}", at(s.at), exact(s.before),
                                     exact(s.after));
                }),
      json_list(f.outliers,
                [&](const Outlier& o) {
                  return fmt::format("{{\"at\":{},\"value\":{},\"expected\":{}}}", at(o.at), exact(o.value),
                                     exact(o.expected));
                }),
      json_list(f.notes, [](const std::string& note) { return json_text(note); }));
}

}  // namespace

std::string to_text(const Forecast& f) {
  std::string out = fmt::format("series    {}\n", f.name.empty() ? "(unnamed)" : f.name);
  out += fmt::format("model     {}, chosen on {} values held out from {} origins\n", f.model, f.backtest.points,
                     f.backtest.origins);
  if (f.backtest.points > 0) {
    out += fmt::format("{:<32}{:>14}{:>16}\n", "backtest", "pinball loss", "of best naive");
    for (const ModelScore& m : f.backtest.models)
      out += fmt::format("{} {:<30}{:>14}{:>15.1f}%\n", m.chosen ? "*" : " ", m.name, figure(m.pinball),
                         100.0 * m.relative);
    out += fmt::format("  {:<30}{:>14}{:>15.1f}%\n", "as published, origin by origin",
                       figure(f.backtest.chosen_pinball), 100.0 * f.backtest.relative());
    out += fmt::format("coverage  {:.1f}% of held-out values inside the {:.0f}% interval\n",
                       100.0 * f.backtest.coverage, 100.0 * f.backtest.interval);
  }
  return out + findings_text(f.findings) + fan_text(f);
}

std::string to_json(const Forecast& f) {
  const auto models = json_list(f.backtest.models, [](const ModelScore& m) {
    return fmt::format("{{\"name\":{},\"pinball\":{},\"of_naive\":{},\"chosen\":{}}}", json_text(m.name),
                       exact(m.pinball), exact(m.relative), m.chosen);
  });
  std::string fan = "{";
  for (std::size_t k = 0; k < f.quantiles.size(); ++k)
    fan += fmt::format("{}\"{}\":{}", k > 0 ? "," : "", figure(f.quantiles[k]), json_list(f.fan.quantiles[k], exact));
  return fmt::format(
      "{{\"name\":{},\"start\":\"{}\",\"step_s\":{},\"model\":{},\"tested_s\":{},\"quantiles\":{}}},"
      "\"interval\":{{\"share\":{},\"low\":{},\"high\":{}}},"
      "\"backtest\":{{\"origins\":{},\"points\":{},\"models\":{},\"published_pinball\":{},\"naive_pinball\":{},"
      "\"interval\":{},\"coverage\":{}}},\"findings\":{}}}",
      json_text(f.name), to_rfc3339(f.start), to_seconds(f.step), json_text(f.model), to_seconds(f.tested), fan,
      figure(f.backtest.interval), json_list(f.fan.low, exact), json_list(f.fan.high, exact), f.backtest.origins,
      f.backtest.points, models, exact(f.backtest.chosen_pinball), exact(f.backtest.naive_pinball),
      figure(f.backtest.interval), exact(f.backtest.coverage), findings_json(f.findings));
}

}  // namespace ace
