/// ace plan size: how much of each kind of capacity to hold.
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <ostream>

#include "cli/files.h"
#include "cli/plan.h"
#include "cli/progress.h"
#include "cli/replay_arguments.h"
#include "plan/series_csv.h"
#include "plan/sizing_text.h"

namespace ace::cli {
namespace {

const std::vector<double> kFalls = {0.1, 0.3, 0.5};

struct SizeArguments {
  ReplayArguments replay;
  std::string step = "1h", series, supply;
  double train = 0.5, payg = -1.0;
  bool json = false;
};

std::string joined(const std::vector<std::string>& pages, bool json) {
  std::string out;
  for (const std::string& page : pages) out += (out.empty() ? "" : json ? "," : "\n") + page;
  return json ? "{\"schema\":\"ace.plan_size/1\",\"pools\":[" + out + "]}\n" : out;
}

void say_what_was_left_out(const PoolReading& reading, Context& context) {
  const auto note = [&](std::uint64_t requests, std::string_view what) {
    if (requests > 0) *context.err << fmt::format("ace: note: {} requests {}\n", requests, what);
  };
  note(reading.unknown, "ask for models that the fleet has not: not sized");
  for (std::size_t why = 0; why < kUnpooled; ++why)
    note(reading.left_out[why], fmt::format("not sized: {}", name_of(static_cast<Unpooled>(why))));
  note(reading.partly, "may not go to every destination of their pool; sizing takes the pool as if they could");
}

Result<std::string> page_of(const Prepared& p, const PoolTraceOptions& options, const PoolReading& reading,
                            std::size_t at, bool json) {
  const PoolTrace& trace = reading.pools[at];
  const Result<SizingProblem> train = problem_of(p.snapshot, trace.pool, trace.train);
  if (!train) return train.error();
  const Result<SizingProblem> judge = problem_of(p.snapshot, trace.pool, trace.judge());
  if (!judge) return judge.error();
  const Result<Sizing> sizing = size_up(*train, *judge, kFalls);
  if (!sizing) return sizing.error();
  std::vector<HeldUnits> held;
  for (const SizedPlan* plan :
       {&sizing->nothing, &sizing->optimum, &sizing->availability, &sizing->today, &sizing->oracle})
    held.push_back({at, plan->priced.units});
  Result<std::vector<ReplayedCost>> replayed = replay_plans(p.snapshot, *p.source, options, reading, held);
  if (!replayed) return std::move(replayed).error();
  const SizingPage page{
      trace.pool.name, trace.train.demand,  trace.judge().demand, trace.in_sample(), trace.train.burst, *train, *judge,
      *sizing,         *std::move(replayed)};
  return json ? to_json(page) : to_text(page);
}

Result<std::string> size_trace(const SizeArguments& a, Duration step, Context& context) {
  ReplayArguments replay = a.replay;
  replay.read_again = true;
  const Result<std::unique_ptr<Prepared>> prepared = prepare(replay, context);
  if (!prepared) return prepared.error();
  const Prepared& p = **prepared;
  PoolTraceOptions options{p.options.naming, p.options.from, p.options.to, step, a.train, {}};
  Progress progress(context, "reading");
  options.progress = std::ref(progress);
  const Result<PoolReading> reading = read_pools(p.snapshot, *p.source, options);
  if (!reading) return reading.error();
  std::vector<std::string> pages;
  for (std::size_t i = 0; i < reading->pools.size(); ++i) {
    Result<std::string> page = page_of(p, options, *reading, i, a.json);
    if (!page) return page;
    pages.push_back(*std::move(page));
  }
  say_what_was_left_out(*reading, context);
  return joined(pages, a.json);
}

/// One series of demand, in units of one destination.
Result<std::string> size_series(const SizeArguments& a, Context& context) {
  if (a.supply.empty() || a.payg < 0.0)
    return Error(Errc::bad_input,
                 "--series needs --supply DESTINATION, in whose units it counts, and --payg USD, what the "
                 "work of such a unit costs in an hour without it");
  Result<FleetReading> loaded = load_fleet(a.replay.fleet, a.replay.prices);
  if (!loaded) return std::move(loaded).error();
  for (const std::string& warning : loaded->warnings) *context.err << "ace: warning: " << warning << "\n";
  const Snapshot fleet(loaded->fleet);
  const std::optional<DestinationId> id = loaded->fleet.destination(a.supply);
  if (!id || loaded->fleet.destinations[id->value].tier == Tier::payg)
    return Error(Errc::bad_input, "--supply: the fleet holds no destination \"" + a.supply + "\" in units");
  const Result<std::string> text = read_file(a.series);
  if (!text) return text.error();
  Result<std::vector<Series>> all = series_from_csv(*text);
  if (!all) return std::move(all).error().with(a.series);
  std::vector<std::string> pages;
  for (const Series& series : *all) {
    const Result<SizingHalves> halves = halves_of(series, a.train, supply_of(fleet, *id, series.start), a.payg);
    if (!halves) return Error(halves.error()).with(a.series + ": " + series.name);
    const Result<Sizing> sizing = size_up(halves->train, halves->judge, kFalls);
    if (!sizing) return Error(sizing.error()).with(series.name);
    const BurstProfile even;
    const SizingPage page{series.name, halves->planned_on, halves->judged_on, halves->in_sample,
                          even,        halves->train,      halves->judge,     *sizing};
    pages.push_back(a.json ? to_json(page) : to_text(page));
  }
  return joined(pages, a.json);
}

Result<void> run_size(const SizeArguments& a, Context& context) {
  const Result<Duration> step = duration_from("--step", a.step);
  if (!step) return step.error();
  if (*step < kSecond) return Error(Errc::bad_input, "--step: expected a second or more, got \"" + a.step + "\"");
  if (!(a.train > 0.0 && a.train <= 1.0))
    return Error(Errc::bad_input, fmt::format("--train: expected a share above 0 and at most 1, got {}", a.train));
  if (!a.series.empty() && !a.replay.trace.empty()) return Error(Errc::bad_input, "give a trace or --series, not both");
  const Result<std::string> out = a.series.empty() ? size_trace(a, *step, context) : size_series(a, context);
  if (!out) return out.error();
  *context.out << *out;
  return {};
}

}  // namespace

void add_plan_size(CLI::App& plan, Context& context) {
  auto a = std::make_shared<SizeArguments>();
  a->replay.sensitivity = "off";
  CLI::App* command = plan.add_subcommand(
      "size", "How much of each kind of capacity to hold: made on the first part of a trace, judged on the rest");
  command->add_option("trace", a->replay.trace, "request log: a file (plain, .gz, .zst), - or an event spine");
  add_naming_arguments(*command, a->replay);
  command->add_option("--window", a->replay.window, "arrivals from,to (RFC 3339); either may be empty")
      ->type_name("FROM,TO");
  add_format_arguments(*command, a->replay.format);
  command->add_option("--step", a->step, "of the demand, as 5m or 1h")->capture_default_str();
  command->add_option("--train", a->train, "share of the window to plan on; 1 = all, judged in-sample")
      ->capture_default_str();
  command->add_option("--series", a->series, "in the place of a trace: CSV of time and demand, in units of --supply")
      ->type_name("FILE");
  command->add_option("--supply", a->supply, "with --series: the destination to size")->type_name("NAME");
  command->add_option("--payg", a->payg, "with --series: USD that an hour of a full unit's work costs without it")
      ->type_name("USD");
  command->add_flag("--json", a->json, "one JSON object");
  command->callback([a, &context] {
    if (Result<void> done = run_size(*a, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
