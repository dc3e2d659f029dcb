#include "plan/valley_capacity.h"

#include <fmt/format.h>

#include <algorithm>

namespace ace {
namespace {

double lowest_knee(const Snapshot& fleet, const Analysis& analysis, DestinationId pool) {
  double knee = 0.98;  // ECONOMICS 3: no knee is above
  for (const KneePoint& point : analysis.knees)
    if (fleet[point.offer].destination == pool) knee = std::min(knee, point.fitted);
  return knee;
}

}  // namespace

Result<Series> free_units(const Snapshot& fleet, const Analysis& analysis, DestinationId pool, Duration step) {
  const Destination& at = fleet.fleet().destinations[pool.value];
  const auto bad = [&](const char* what) {
    return Error(Errc::bad_input, fmt::format("the trough of \"{}\": {}", at.name, what));
  };
  ACE_CHECK(step > Duration{}, "a step of a series is positive");
  if (at.tier != Tier::owned) return bad("expected an owned pool; what is rented by the hour is given back instead");
  if (at.units.reactive) return bad("the pool moves its own units; give it units or a schedule to see what stays free");
  const LoadSeries& load = analysis.series;
  if (load.buckets().empty()) return bad("nothing was replayed");

  double tokens = 0.0, unit_seconds = 0.0;
  const double width = to_seconds(load.width());
  const auto begin_of = [&](std::size_t b) { return load.start() + static_cast<std::int64_t>(b) * load.width(); };
  for (std::size_t b = 0; b < load.buckets().size(); ++b) {
    tokens += static_cast<double>(load.buckets()[b].tokens[pool.value]);
    unit_seconds += static_cast<double>(at.units.scheduled(begin_of(b))) * width;
  }
  const double used = analysis.used_share[pool.value] * unit_seconds;
  const double knee = lowest_knee(fleet, analysis, pool);

  const std::int64_t first = floor_div(nanos(load.start()), nanos(step));
  Series series{at.name, instant(first * nanos(step)), step, {}};
  std::vector<double> covered;  // seconds of each step
  for (std::size_t b = 0; b < load.buckets().size(); ++b) {
    const auto mine = static_cast<double>(load.buckets()[b].tokens[pool.value]);
    const double busy = tokens > 0.0 ? mine / tokens * used / width : 0.0;
    const double free = std::max(0.0, static_cast<double>(at.units.scheduled(begin_of(b))) * knee - busy);
    for (Instant from = begin_of(b), end = from + load.width(); from < end;) {  // a bucket may touch several steps
      const std::int64_t number = floor_div(nanos(from), nanos(step));
      const auto s = static_cast<std::size_t>(number - first);
      const Instant until = std::min(end, instant((number + 1) * nanos(step)));
      if (s >= series.values.size()) series.values.resize(s + 1), covered.resize(s + 1);
      series.values[s] += free * to_seconds(until - from);
      covered[s] += to_seconds(until - from);
      from = until;
    }
  }
  for (std::size_t s = 0; s < series.values.size(); ++s) series.values[s] /= covered[s];
  return series;
}

}  // namespace ace
