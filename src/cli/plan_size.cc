/// ace plan size: how much of each kind of capacity to hold.
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>

#include "cli/files.h"
#include "cli/plan.h"
#include "cli/plan_size_terms.h"
#include "cli/progress.h"
#include "cli/replay_arguments.h"
#include "core/text.h"
#include "plan/coin_solver.h"
#include "plan/series_csv.h"
#include "plan/size_together.h"
#include "plan/sizing_text.h"

namespace ace::cli {
namespace {

const std::vector<double> kFalls = {0.1, 0.3, 0.5};

struct SizeArguments {
  ReplayArguments replay;
  std::string step = "1h", series, supply;
  double train = 0.5, payg = -1.0, tail_weight = 0.0, tail = 0.95;
  std::optional<double> budget, reserve;
  std::vector<std::string> terms;
  std::string period = "30d";
  std::int64_t held_units = 0;
  std::size_t held_periods = 0;
  bool json = false;
};

SizingLimits limits_of(const SizeArguments& a) {
  return {.budget_monthly = a.budget, .reserve = a.reserve, .tail_weight = a.tail_weight, .tail = a.tail};
}

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

/// What was asked of the optimum, for the page.
std::string limits_text(const SizingLimits& limits) {
  std::vector<std::string> all;
  if (limits.budget_monthly) all.push_back(fmt::format("fees of at most {} USD a month", *limits.budget_monthly));
  if (limits.reserve)
    all.push_back(fmt::format("the {:g} quantile of demand with the largest unit out", *limits.reserve));
  if (limits.tail_weight > 0.0)
    all.push_back(
        fmt::format("a weight of {:g} on the mean of the worst {:g} of days", limits.tail_weight, 1.0 - limits.tail));
  return listed(all);
}

/// The pools of a trace, planned together and judged one by one.
class TraceSizing {
 public:
  TraceSizing(const Prepared& prepared, PoolTraceOptions options, const PoolReading& reading)
      : p_(&prepared), options_(std::move(options)), reading_(&reading) {}

  Result<void> plan(const SizingLimits& limits) {
    limits_ = limits_text(limits);
    std::vector<PoolToSize> pools;
    train_.reserve(reading_->pools.size());
    for (const PoolTrace& trace : reading_->pools) {
      Result<SizingProblem> problem = problem_of(p_->snapshot, trace.pool, trace.train);
      if (!problem) return std::move(problem).error();
      train_.push_back(*std::move(problem));
      pools.push_back({train_.back(), trace.train.demand, trace.train.burst});
    }
    Result<std::vector<std::vector<std::int64_t>>> units = size_together(pools, limits, CoinSolver());
    if (!units) return std::move(units).error();
    units_ = *std::move(units);
    return {};
  }

  Result<std::string> page(std::size_t at, bool json) const {
    const PoolTrace& trace = reading_->pools[at];
    const Result<SizingProblem> judge = problem_of(p_->snapshot, trace.pool, trace.judge());
    if (!judge) return judge.error();
    const Result<Sizing> sizing = size_up(train_[at], *judge, units_[at], kFalls);
    if (!sizing) return sizing.error();
    std::vector<HeldUnits> held;
    for (const SizedPlan* plan :
         {&sizing->nothing, &sizing->optimum, &sizing->availability, &sizing->today, &sizing->oracle})
      held.push_back({at, plan->priced.units});
    Result<std::vector<ReplayedCost>> replayed = replay_plans(p_->snapshot, *p_->source, options_, *reading_, held);
    if (!replayed) return std::move(replayed).error();
    const SizingPage page{trace.pool.name,
                          trace.train.demand,
                          trace.judge().demand,
                          trace.in_sample(),
                          trace.train.burst,
                          train_[at],
                          *judge,
                          *sizing,
                          limits_,
                          *std::move(replayed)};
    return json ? to_json(page) : to_text(page);
  }

 private:
  const Prepared* p_;
  PoolTraceOptions options_;
  const PoolReading* reading_;
  std::string limits_;
  std::vector<SizingProblem> train_;
  std::vector<std::vector<std::int64_t>> units_;
};

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
  TraceSizing sizing(p, options, *reading);
  if (Result<void> planned = sizing.plan(limits_of(a)); !planned) return std::move(planned).error();
  std::vector<std::string> pages;
  for (std::size_t i = 0; i < reading->pools.size(); ++i) {
    Result<std::string> page = sizing.page(i, a.json);
    if (!page) return page;
    pages.push_back(*std::move(page));
  }
  say_what_was_left_out(*reading, context);
  return joined(pages, a.json);
}

Result<std::string> calendars(const SizeArguments& a, const std::vector<Series>& all, const Supply& supply) {
  TermProblem problem{.supply = supply, .payg = a.payg, .terms = {}};
  for (const std::string& text : a.terms) {
    Result<Term> term = term_from(text);
    if (!term) return std::move(term).error();
    problem.terms.push_back(*std::move(term));
  }
  const Result<Duration> period = duration_from("--period", a.period);
  if (!period) return period.error();
  problem.period = *period;
  problem.held_units = a.held_units;
  problem.held_periods = a.held_periods;
  std::vector<std::string> pages;
  for (const Series& series : all) {
    const Result<TermPlan> plan = plan_terms(series, problem, CoinSolver());
    if (!plan) return Error(plan.error()).with(series.name);
    pages.push_back((a.json ? calendar_json : calendar_text)(series.name, problem, *plan));
  }
  return joined(pages, a.json);
}

/// Series of demand, in units of one destination.
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
  if (!a.terms.empty()) return calendars(a, *all, supply_of(fleet, *id, all->front().start));
  std::vector<std::string> pages;
  for (const Series& series : *all) {
    const Result<SizingHalves> halves = halves_of(series, a.train, supply_of(fleet, *id, series.start), a.payg);
    if (!halves) return Error(halves.error()).with(a.series + ": " + series.name);
    const BurstProfile even;
    const PoolToSize pools[] = {{halves->train, halves->planned_on, even}};
    const auto units = size_together(pools, limits_of(a), CoinSolver());
    if (!units) return Error(units.error()).with(series.name);
    const Result<Sizing> sizing = size_up(halves->train, halves->judge, (*units)[0], kFalls);
    if (!sizing) return Error(sizing.error()).with(series.name);
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
  command->add_option("--budget", a->budget, "most USD a month for the fees of all that the optimum holds")
      ->type_name("USD")
      ->check(number_from_zero());
  command
      ->add_option("--reserve", a->reserve,
                   "with its largest unit out, the optimum still has room for this quantile of demand (N+1)")
      ->type_name("QUANTILE")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--cvar", a->tail_weight,
                   "weight, 0 to 1, of the mean of the worst days against the mean of all; days are the scenarios")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--tail", a->tail, "with --cvar: share of days that are not the worst")
      ->check(CLI::Range(0.0, 0.999999))
      ->capture_default_str();
  command
      ->add_option("--term", a->terms,
                   "with --series: NAME:PERIODS:FEE[:UPFRONT], USD of a unit; when to begin which, from all periods")
      ->type_name("TERM");
  command->add_option("--period", a->period, "with --term: how long one is")->capture_default_str();
  command->add_option("--held-units", a->held_units, "with --term: units that are committed already")
      ->check(number_from_zero());
  command->add_option("--held-periods", a->held_periods, "with --term: for so many periods from the start")
      ->check(whole_number());
  for (const char* option : {"--supply", "--payg", "--term"}) command->get_option(option)->needs("--series");
  for (const char* option : {"--period", "--held-units", "--held-periods"})
    command->get_option(option)->needs("--term");
  for (const char* option : {"--budget", "--reserve", "--cvar"}) command->get_option(option)->excludes("--term");
  command->get_option("--tail")->needs("--cvar");
  command->add_flag("--json", a->json, "one JSON object");
  command->callback([a, &context] {
    if (Result<void> done = run_size(*a, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
