/// ace plan valley: deferrable jobs under the knee of the troughs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/files.h"
#include "cli/plan.h"
#include "cli/progress.h"
#include "cli/replay_arguments.h"
#include "core/text.h"
#include "plan/jobs.h"
#include "plan/series_csv.h"
#include "plan/valley_capacity.h"

namespace ace::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr double kMillisPerHour = 3.6e6;

struct ValleyArguments {
  std::string jobs, capacity, prices, step = "1h", pool;
  std::optional<double> tokens_per_unit_hour;
  ReplayArguments replay;
  bool json = false;
};

Result<Series> one_series(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return Error(text.error());
  Result<std::vector<Series>> all = series_from_csv(*text);
  if (!all) return std::move(all).error().with(path);
  if (all->size() != 1)
    return Error(Errc::bad_input,
                 fmt::format("{}: expected a column of times and one of values, got {} of values", path, all->size()));
  return std::move(all->front());
}

/// The pool whose troughs are meant: the one that is named, or the only owned one.
Result<DestinationId> pool_of(const Fleet& fleet, const std::string& name) {
  std::vector<std::string> owned;
  DestinationId found;
  for (std::uint32_t d = 0; d < fleet.destinations.size(); ++d) {
    if (fleet.destinations[d].tier != Tier::owned) continue;
    owned.push_back(fleet.destinations[d].name);
    if (name.empty() || name == owned.back()) found = DestinationId{d};
  }
  if (found.valid() && (!name.empty() || owned.size() == 1)) return found;
  return Error(Errc::bad_input,
               name.empty()
                   ? fmt::format("--pool: the fleet has {} owned pools; name one of {}", owned.size(), listed(owned, 8))
                   : fmt::format("--pool: \"{}\" is no owned pool; the fleet has {}", name, listed(owned, 8)));
}

Result<Series> replayed_capacity(ValleyArguments& a, Duration step, Context& context) {
  a.replay.sensitivity = "off";
  Result<std::unique_ptr<Prepared>> prepared = prepare(a.replay, context);
  if (!prepared) return std::move(prepared).error();
  Prepared& p = **prepared;
  const Result<DestinationId> pool = pool_of(p.fleet, a.pool);
  if (!pool) return Error(pool.error());
  Progress progress(context, "replaying");
  p.options.progress = std::ref(progress);
  const Result<Analysis> analysis = analyze(p.snapshot, *p.source, p.options);
  if (!analysis) return Error(analysis.error());
  return free_units(p.snapshot, *analysis, *pool, step);
}

Result<Trough> trough_from(ValleyArguments& a, Context& context) {
  const Result<Duration> step = duration_from("--step", a.step);
  if (!step) return Error(step.error());
  if (*step < kSecond || *step > kDay)
    return Error(Errc::bad_input, "--step: expected a second to 24h, got \"" + a.step + "\"");
  if (a.capacity.empty() == a.replay.trace.empty())
    return Error(Errc::bad_input, "say where there is room: --capacity SERIES, or --trace T with --fleet F");
  const Result<Series> free = a.capacity.empty() ? replayed_capacity(a, *step, context) : one_series(a.capacity);
  if (!free) return Error(free.error());
  Result<Trough> trough = trough_of(*free);
  if (!trough) return trough;
  if (!a.prices.empty()) {
    const Result<Series> prices = one_series(a.prices);
    if (!prices) return Error(prices.error());
    for (std::size_t s = 0; s < trough->room.size(); ++s) {
      const std::int64_t i = floor_div(nanos(trough->at(s) - prices->start), nanos(prices->step));
      const bool known = i >= 0 && static_cast<std::size_t>(i) < prices->values.size() &&
                         !is_gap(prices->values[static_cast<std::size_t>(i)]);
      if (!known)
        return Error(Errc::bad_input, fmt::format("{}: no price for {}; give one for every step of the capacity",
                                                  a.prices, to_rfc3339(trough->at(s))));
      // A forecast of what a unit-hour will cost.
      const Result<Usd> price = usd_from_physics(prices->values[static_cast<std::size_t>(i)]);
      if (!price) return Error(price.error()).with(a.prices);
      trough->price.push_back(*price);
    }
  }
  return trough;
}

struct JobLine {
  std::string name;
  double unit_hours = 0.0;
  Instant deadline{};
  std::optional<std::size_t> number;  ///< in the planner, if it was admitted
  std::string refused;
  Instant starts{}, ends{};
};

Json json_of(const std::vector<JobLine>& lines, const std::vector<DonatableHour>& hours, const ValleyPlan& plan,
             const Trough& trough) {
  Json jobs = Json::array(), troughs = Json::array();
  for (const JobLine& line : lines) {
    Json job = {{"name", line.name},
                {"work_unit_hours", line.unit_hours},
                {"deadline", to_rfc3339(line.deadline)},
                {"admitted", line.number.has_value()}};
    if (!line.number) {
      job["refused"] = line.refused;
    } else {
      job["starts"] = to_rfc3339(line.starts);
      job["ends"] = to_rfc3339(line.ends);
      Json slots = Json::array();
      for (const Slot& slot : plan.of(*line.number))
        slots.push_back({{"at", to_rfc3339(trough.at(slot.step))},
                         {"unit_hours", static_cast<double>(slot.work) / kMillisPerHour}});
      job["slots"] = std::move(slots);
    }
    jobs.push_back(std::move(job));
  }
  for (const DonatableHour& hour : hours)
    troughs.push_back({{"hour", to_rfc3339(hour.hour)},
                       {"free_unit_hours", hour.free_unit_hours},
                       {"planned_unit_hours", hour.planned_unit_hours},
                       {"donatable_unit_hours", hour.left_unit_hours()}});
  return {{"schema", "ace.valley/1"},
          {"step_s", to_seconds(trough.step)},
          {"cost_usd", to_decimal(plan.cost)},
          {"jobs", std::move(jobs)},
          {"troughs", std::move(troughs)}};
}

std::string text_of(const std::vector<JobLine>& lines, const std::vector<DonatableHour>& hours,
                    const ValleyPlan& plan) {
  std::string out = fmt::format("{:<24}{:>12}  {:<22}{:<22}{}\n", "job", "unit-hours", "starts", "done by", "deadline");
  for (const JobLine& line : lines) {
    out += fmt::format("{:<24}{:>12.2f}  ", line.name, line.unit_hours);
    out += line.number ? fmt::format("{:<22}{:<22}{}\n", to_rfc3339(line.starts), to_rfc3339(line.ends),
                                     to_rfc3339(line.deadline))
                       : "refused: " + line.refused + "\n";
  }
  out += fmt::format("\n{:<24}{:>12}{:>12}{:>12}\n", "hour", "free", "planned", "donatable");
  double free = 0.0, planned = 0.0;
  for (const DonatableHour& hour : hours) {
    out += fmt::format("{:<24}{:>12.2f}{:>12.2f}{:>12.2f}\n", to_rfc3339(hour.hour), hour.free_unit_hours,
                       hour.planned_unit_hours, hour.left_unit_hours());
    free += hour.free_unit_hours, planned += hour.planned_unit_hours;
  }
  out += fmt::format("{:<24}{:>12.2f}{:>12.2f}{:>12.2f}\ncost {}\n", "unit-hours together", free, planned,
                     free - planned, to_display(plan.cost));
  return out;
}

Result<void> run_valley(ValleyArguments& a, Context& context) {
  const Result<std::string> text = read_file(a.jobs);
  if (!text) return Error(text.error());
  const Result<std::vector<DeferrableJob>> jobs = parse_jobs(*text, a.tokens_per_unit_hour);
  if (!jobs) return Error(jobs.error()).with(a.jobs);
  const Result<Trough> trough = trough_from(a, context);
  if (!trough) return Error(trough.error());
  ValleyPlanner planner(*trough);
  std::vector<JobLine> lines;
  for (const DeferrableJob& job : *jobs) {
    JobLine line{job.name, static_cast<double>(job.work) / kMillisPerHour, job.deadline, {}, {}, {}, {}};
    const Result<std::size_t> number = planner.admit(job);
    if (number) {
      line.number = *number;
    } else if (number.error().code() == Errc::conflict) {
      line.refused = number.error().what();
      context.exit_code = 1;
    } else {
      return Error(number.error()).with(a.jobs);
    }
    lines.push_back(std::move(line));
  }
  const ValleyPlan plan = planner.plan();
  for (JobLine& line : lines) {
    if (!line.number) continue;
    const std::span<const Slot> slots = plan.of(*line.number);
    ACE_CHECK(!slots.empty(), "an admitted job has lost its place");
    line.starts = trough->at(slots.front().step);
    line.ends = trough->at(slots.back().step + 1);
  }
  const std::vector<DonatableHour> hours = donatable(*trough, plan);
  *context.out << (a.json ? json_of(lines, hours, plan, *trough).dump(1) + "\n" : text_of(lines, hours, plan));
  return {};
}

}  // namespace

void add_plan_valley(CLI::App& plan, Context& context) {
  auto a = std::make_shared<ValleyArguments>();
  CLI::App* command =
      plan.add_subcommand("valley", "Which deferrable jobs fit under the knee of the troughs, and where");
  command->add_option("JOBS", a->jobs, "CSV of jobs (docs/PLAN.md), asked in this order; - for standard input")
      ->required();
  command->add_option("--capacity", a->capacity, "CSV of times and units that stay free under the knee")
      ->type_name("SERIES");
  command->add_option("--trace", a->replay.trace, "in its place: a request log, replayed on --fleet")
      ->type_name("FILE");
  add_reading_arguments(*command, a->replay);
  command->get_option("--fleet")->required(false);
  command->add_option("--pool", a->pool, "owned destination whose troughs are meant, if there are several");
  command->add_option("--step", a->step, "of a replayed trough")->capture_default_str();
  command->add_option("--energy", a->prices, "CSV of times and USD per unit-hour: what running there costs")
      ->type_name("SERIES");
  command
      ->add_option("--tokens-per-unit-hour", a->tokens_per_unit_hour,
                   "what a unit does at its knee, for jobs in tokens")
      ->check(number_above_zero());
  command->add_flag("--json", a->json, "one JSON object");
  command->callback([a, &context] {
    if (Result<void> done = run_valley(*a, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
