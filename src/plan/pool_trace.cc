#include "plan/pool_trace.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "plan/pool_pass.h"

namespace ace {
namespace {

constexpr std::size_t kStepsMax = 1'000'000;

/// Work of one step at one destination.
struct At {
  double here_s = 0.0, at_work = 0.0, payg = 0.0;    ///< of all that it could serve; USD
  double beside_here_s = 0.0, beside_first_s = 0.0;  ///< of what the pool's first destination could serve too
  double lead_s = 0.0;                               ///< of what no destination before it could serve
};
struct StepWork {
  std::vector<At> at;  ///< by destination
  Usd payg{};
  std::uint64_t requests = 0;
};

/// The first destination that can serve it.
std::size_t lead_of(const PoolUse& use) {
  const auto can = [](const PoolUse::At& at) { return at.can(); };
  return static_cast<std::size_t>(std::find_if(use.at.begin(), use.at.end(), can) - use.at.begin());
}

void add(StepWork& step, const PoolUse& use) {
  step.at.resize(use.at.size());
  step.payg += use.payg;
  ++step.requests;
  for (std::size_t k = 0; k < use.at.size(); ++k) {
    if (!use.at[k].can()) continue;
    At& at = step.at[k];
    at.here_s += use.at[k].unit_s;
    at.at_work += static_cast<double>(use.at[k].at_work.nano) * 1e-9;
    at.payg += static_cast<double>(use.payg.nano) * 1e-9;
    if (!use.at[0].can()) continue;
    at.beside_here_s += use.at[k].unit_s;
    at.beside_first_s += use.at[0].unit_s;
  }
  const std::size_t lead = lead_of(use);
  step.at[lead].lead_s += use.at[lead].unit_s;
}

PoolPart part_of(const Pool& pool, std::span<const StepWork> steps, Instant start, Duration step_length) {
  const std::size_t places = pool.destinations.size();
  PoolPart part;
  part.demand = {pool.name, start, step_length, {}};
  std::vector<At> all(places);
  for (const StepWork& step : steps) {
    part.payg += step.payg;
    part.requests += step.requests;
    for (std::size_t k = 0; k < step.at.size(); ++k) {
      const At& at = step.at[k];
      all[k].here_s += at.here_s;
      all[k].at_work += at.at_work;
      all[k].payg += at.payg;
      all[k].beside_here_s += at.beside_here_s;
      all[k].beside_first_s += at.beside_first_s;
    }
  }
  for (const At& at : all) {
    double capacity = 0.0;
    if (at.beside_here_s > 0.0)
      capacity = at.beside_first_s / at.beside_here_s;
    else if (at.here_s > 0.0)  // no request could use both: then by what an hour of each saves
      capacity = all[0].payg > 0.0 ? at.payg / at.here_s * all[0].here_s / all[0].payg : 1.0;
    part.capacity.push_back(capacity);
    part.variable.push_back(capacity > 0.0 ? at.at_work / (at.here_s * capacity) * 3600.0 : 0.0);
  }
  double work_s = 0.0;
  for (const StepWork& step : steps) {
    double step_s = 0.0;
    for (std::size_t k = 0; k < step.at.size(); ++k) step_s += step.at[k].lead_s * part.capacity[k];
    part.demand.values.push_back(step_s / to_seconds(step_length));
    work_s += step_s;
  }
  if (work_s > 0.0) part.payg_hourly = static_cast<double>(part.payg.nano) * 1e-9 / work_s * 3600.0;
  return part;
}

}  // namespace

Result<PoolReading> read_pools(const Snapshot& fleet, RequestSource& source, const PoolTraceOptions& options) {
  if (!(options.train > 0.0 && options.train <= 1.0))
    return Error(Errc::bad_input,
                 fmt::format("the share to plan on is {}; expected more than 0 and at most 1", options.train));
  PoolReading reading, again;
  PoolScale scale(fleet);
  std::vector<std::vector<StepWork>> steps(scale.pools().size());
  std::optional<std::int64_t> first;  // step of the first request, since the epoch
  std::size_t length = 0;
  const auto step_of = [&](Instant at) {
    return static_cast<std::size_t>(floor_div(nanos(at), nanos(options.step)) - *first);
  };
  Result<void> read = pool_pass(fleet, source, options, scale, reading, [&](Instant at, const PoolUse& use) {
    if (!first) first = floor_div(nanos(at), nanos(options.step));
    length = std::max(length, step_of(at) + 1);
    if (length > kStepsMax) return;  // refused below
    steps[use.pool].resize(std::max(steps[use.pool].size(), step_of(at) + 1));
    add(steps[use.pool][step_of(at)], use);
    if (!std::all_of(use.at.begin(), use.at.end(), [](const PoolUse::At& a) { return a.can(); })) ++reading.partly;
  });
  if (!read) return std::move(read).error();
  if (length == 0)
    return Error(
        Errc::bad_input,
        "no request of the window could be served by capacity that is held in units; look at --model, --window "
        "and the destinations of the fleet file");
  if (length > kStepsMax)
    return Error(Errc::out_of_range,
                 fmt::format("the window has {} steps, more than {}; take a longer --step", length, kStepsMax));
  const auto cut = std::min(length, static_cast<std::size_t>(std::ceil(static_cast<double>(length) * options.train)));
  const Instant start = instant(*first * nanos(options.step));
  std::vector<std::size_t> place(steps.size());
  std::vector<std::array<BurstReplay, 2>> bursts;
  reading.pools.reserve(steps.size());  // the replays point into it
  for (std::size_t p = 0; p < steps.size(); ++p) {
    place[p] = reading.pools.size();
    if (steps[p].empty()) continue;
    steps[p].resize(length);
    const std::span<const StepWork> all = steps[p];
    const Pool& pool = scale.pools()[p];
    const Instant middle = start + static_cast<std::int64_t>(cut) * options.step;
    reading.pools.push_back({pool, part_of(pool, all.first(cut), start, options.step),
                             part_of(pool, all.subspan(cut), middle, options.step)});
    bursts.push_back(
        {BurstReplay(reading.pools.back().train.demand), BurstReplay(reading.pools.back().held_out.demand)});
  }
  if (Result<void> back = source.rewind(); !back) return std::move(back).error().with("reading the trace again");
  read = pool_pass(fleet, source, options, scale, again, [&](Instant at, const PoolUse& use) {
    const bool held_out = step_of(at) >= cut;
    const PoolTrace& trace = reading.pools[place[use.pool]];
    const PoolUse::At& lead = use.at[lead_of(use)];
    const double work_s = lead.unit_s * (held_out ? trace.held_out : trace.train).capacity[lead_of(use)];
    bursts[place[use.pool]][held_out ? 1 : 0].add(at, work_s, lead.patience_s);
  });
  if (!read) return std::move(read).error();
  for (std::size_t p = 0; p < reading.pools.size(); ++p) {
    reading.pools[p].train.burst = bursts[p][0].profile();
    reading.pools[p].held_out.burst = bursts[p][1].profile();
  }
  return reading;
}

Result<SizingProblem> problem_of(const Snapshot& fleet, const Pool& pool, const PoolPart& part) {
  Result<AbsorbedLoad> load = AbsorbedLoad::of(part.demand.values, to_seconds(part.demand.step) / 3600.0, part.burst);
  if (!load) return std::move(load).error().with(pool.name);
  SizingProblem problem{{}, part.payg_hourly, *std::move(load)};
  for (std::size_t k = 0; k < pool.destinations.size(); ++k) {
    Supply supply = supply_of(fleet, pool.destinations[k], part.demand.start);
    if (part.capacity[k] > 0.0)
      supply.capacity *= part.capacity[k];
    else
      supply.units_max = 0;
    supply.variable = part.variable[k];
    problem.supplies.push_back(std::move(supply));
  }
  if (Result<void> checked = check(problem); !checked) return std::move(checked).error();
  return problem;
}

Result<SizingHalves> halves_of(const Series& series, double train, const Supply& supply, double payg) {
  const std::size_t length = series.values.size();
  const auto cut = std::min(length, static_cast<std::size_t>(std::ceil(static_cast<double>(length) * train)));
  SizingHalves halves;
  halves.planned_on = halves.judged_on = series;
  halves.in_sample = cut == length;
  const auto middle = series.values.begin() + static_cast<std::ptrdiff_t>(cut);
  if (!halves.in_sample) {
    halves.planned_on.values.assign(series.values.begin(), middle);
    halves.judged_on.values.assign(middle, series.values.end());
    halves.judged_on.start = series.at(cut);
  }
  const double hours = to_seconds(series.step) / 3600.0;
  for (const bool judge : {false, true}) {
    Result<AbsorbedLoad> load = AbsorbedLoad::of((judge ? halves.judged_on : halves.planned_on).values, hours, {});
    if (!load) return std::move(load).error().with(judge ? "what judges" : "what is planned on");
    (judge ? halves.judge : halves.train) = {{supply}, payg, *std::move(load)};
  }
  return halves;
}

}  // namespace ace
