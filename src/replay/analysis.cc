#include "replay/analysis.h"

#include "replay/assumptions.h"
#include "replay/bound.h"
#include "replay/load_curves.h"
#include "replay/run.h"
#include "replay/sensitivity.h"

namespace ace {
namespace {

// How long the parts take, in replays of the trace without a status quo beside it.
constexpr double kRunWeight = 2.0, kBoundWeight = 2.0, kSensitivityWeight = 8.0;

/// Progress of the runs and passes of one analysis as one share.
struct Stages {
  const std::function<void(double, std::uint64_t)>& tell;
  double done = 0.0, all = 1.0;
  std::uint64_t rows = 0;
  [[nodiscard]] std::function<void(double)> stage(double weight) {
    const double from = done;
    done += weight;
    if (!tell) return {};
    return [this, from, weight](double share) { tell((from + weight * share) / all, rows); };
  }
};

std::string percent(double share) {
  const auto tenths = static_cast<std::int64_t>(share * 1000.0 + (share < 0.0 ? -0.5 : 0.5));
  return std::string(tenths < 0 ? "-" : "") + std::to_string(std::abs(tenths) / 10) + "." +
         std::to_string(std::abs(tenths) % 10) + "%";
}

/// Runs the table of changes, or says why there is none.
Result<void> add_sensitivity(const Snapshot& fleet, RequestSource& source, const AnalyzeOptions& options,
                             const RunOptions& run_options, const RunResult& run, Stages& stages, Analysis& analysis) {
  if (options.sensitivity == SensitivityMode::off || run.replayed == 0) return {};
  if (!source.rewind()) {
    analysis.assumptions.push_back("sensitivity was not computed: the source can be read once");
    return {};
  }
  Result<Sensitivity> table =
      sensitivity(fleet.fleet(), source, run_options, options.sensitivity, run.rows, stages.stage(kSensitivityWeight));
  if (!table) return std::move(table).error();
  analysis.sensitivity_sample = table->share;
  analysis.sensitivity = std::move(table->rows);
  const Statement& s = run.statement;
  const Usd baseline = s.baseline_cost();
  if (table->share >= 1.0 || baseline.nano <= 0) return {};
  const double full = static_cast<double>(s.counted_saving().nano) / static_cast<double>(baseline.nano);
  analysis.assumptions.push_back("sensitivity was run on a sample of " + percent(table->share) +
                                 " of the tokens (tenant x prefix) at equally scaled capacity: it saves " +
                                 percent(analysis.sensitivity.front().saving_share) + ", the whole trace " +
                                 percent(full));
  return {};
}

}  // namespace

std::string_view name_of(SensitivityMode mode) {
  switch (mode) {
    case SensitivityMode::off:
      return "off";
    case SensitivityMode::sample:
      return "sample";
    case SensitivityMode::full:
      return "full";
  }
  return "unknown";
}

Result<Analysis> analyze(const Snapshot& fleet, RequestSource& source, const AnalyzeOptions& options) {
  RunOptions run_options;
  run_options.dispatching = Dispatching::merit_order;
  run_options.compare_status_quo = true;
  run_options.baseline = options.baseline;
  run_options.naming = options.naming;
  run_options.from = options.from;
  run_options.to = options.to;
  run_options.threads = options.threads;
  run_options.seed = options.seed;
  run_options.settlement = options.settlement;
  run_options.idle = options.idle;
  run_options.held = options.held;
  run_options.plant.slowdown = options.plant_slowdown.value_or(1.0);
  if (!options.plant_slowdown) run_options.plant.slowdown.unmeasured = 1.0 + kRooflineError;
  run_options.plant.block_tokens = source.block_tokens();
  run_options.belief = options.belief;
  run_options.gaps = options.gaps;
  run_options.witness = options.witness;
  run_options.each = options.each;
  run_options.beside = options.beside;
  run_options.record = options.record;
  run_options.record_columns = options.record_columns;
  run_options.facts = options.bound;
  Stages stages{options.progress};
  stages.all = kRunWeight + (options.bound ? kBoundWeight : 0.0) +
               (options.sensitivity == SensitivityMode::off ? 0.0 : kSensitivityWeight);
  if (options.progress)
    run_options.progress = [&, tell = stages.stage(kRunWeight)](double share, std::uint64_t rows) {
      stages.rows = rows;
      if (share < 0.0)
        options.progress(share, rows);
      else
        tell(share);
    };

  Result<RunResult> made = run(fleet, source, run_options);
  if (!made) return std::move(made).error();
  run_options.record = {};
  RunResult& run = *made;

  Analysis analysis;
  analysis.baseline = options.baseline;
  analysis.source_format = source.format();
  analysis.tenants = run.tenants.empty() ? all_of(source.tenants()) : run.tenants;
  analysis.teams = all_of(source.teams());
  analysis.projects = all_of(source.projects());
  analysis.skipped = source.skipped();
  analysis.unreplayed = run.unreplayed;
  analysis.rows = run.rows;
  analysis.seed = options.seed;
  analysis.islands = run.islands;
  analysis.assumptions = assumptions_of(fleet, source, options, run);
  if (options.bound && run.facts.requests > 0) {
    if (source.rewind()) {
      BoundOptions bounds;
      bounds.naming = options.naming;
      bounds.from = options.from;
      bounds.to = options.to;
      bounds.slowdown = run_options.plant.slowdown;
      bounds.progress = stages.stage(kBoundWeight);
      Result<BoundResult> least =
          bound(fleet, source, run, bounds, options.baseline == BaselineKind::all_payg_uncached);
      if (!least) return std::move(least).error();
      analysis.bound = *least;
    } else {
      analysis.assumptions.push_back("the bounds were not computed: the source can be read once");
    }
  }
  if (Result<void> table = add_sensitivity(fleet, source, options, run_options, run, stages, analysis); !table)
    return std::move(table).error();
  analysis.curves = load_curves(fleet, run.statement, run.series);
  analysis.status_quo_served = run.status_quo_served;
  analysis.status_quo_slo_met = run.status_quo_slo_met;
  analysis.series = std::move(run.series);
  analysis.used_share = std::move(run.used_share);
  analysis.knees = std::move(run.knees);
  analysis.latency = std::move(run.latency);
  analysis.loads = std::move(run.loads);
  analysis.evictions = run.evictions;
  analysis.unit_changes = run.unit_changes;
  analysis.held_back = run.held_back;
  analysis.statement = std::move(run.statement);
  return analysis;
}

}  // namespace ace
