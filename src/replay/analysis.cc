#include "replay/analysis.h"

#include "replay/load_curves.h"
#include "replay/run.h"

namespace ace {
namespace {

/// What the numbers rest on, said in sentences a reader can check.
std::vector<std::string> assumptions_of(const Snapshot& snapshot, const RunResult& run) {
  const Fleet& fleet = snapshot.fleet();
  std::vector<std::string> said;
  said.push_back(
      "every amount is modelled: the trace was replayed against simulated servers and declared API latencies");
  for (const Model& model : fleet.models)
    if (model.baseline && !model.baseline->contracted)
      said.push_back("the default price of " + model.name +
                     " is a list price, not contracted: its baseline is assumed");
  for (const Destination& d : fleet.destinations) {
    for (const Offer& offer : snapshot.offers())
      if (offer.destination.value < fleet.destinations.size() && &fleet.destinations[offer.destination.value] == &d &&
          offer.profile && !offer.profile->measured)
        said.push_back("capacity and latency of " + d.name + " for " + fleet.models[offer.model.value].name +
                       " are a roofline, not a measurement");
    if (d.tier == Tier::payg && !d.unlimited && !d.tpm && !d.rpm)
      said.push_back(d.name + " declares no rate limit: none was applied");
  }
  said.push_back("the trace has no request contents: the response cache of ACE saved nothing here");
  if (run.last - run.first < 7 * kDay)
    said.push_back("the window is shorter than 7 days: fixed cost and load shape do not extrapolate");
  return said;
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
  run_options.plant = {.slowdown = options.plant_slowdown, .block_tokens = source.block_tokens()};
  run_options.belief = options.belief;
  run_options.witness = options.witness;
  run_options.each = options.each;
  run_options.progress = options.progress;

  Result<RunResult> made = run(fleet, source, run_options);
  if (!made) return std::move(made).error();
  RunResult& run = *made;

  Analysis analysis;
  analysis.baseline = options.baseline;
  analysis.source_format = source.format();
  for (std::uint32_t t = 0; t < source.tenants().size(); ++t) analysis.tenants.push_back(source.tenants()[t]);
  for (std::uint32_t t = 0; t < source.teams().size(); ++t) analysis.teams.push_back(source.teams()[t]);
  analysis.skipped = source.skipped();
  analysis.unreplayed = run.unreplayed;
  analysis.rows = run.rows;
  analysis.seed = options.seed;
  analysis.islands = run.islands;
  analysis.assumptions = assumptions_of(fleet, run);
  analysis.curves = load_curves(fleet, run.statement, run.series);
  analysis.status_quo_served = run.status_quo_served;
  analysis.status_quo_slo_met = run.status_quo_slo_met;
  analysis.series = std::move(run.series);
  analysis.used_share = std::move(run.used_share);
  analysis.knees = std::move(run.knees);
  analysis.evictions = run.evictions;
  analysis.unit_changes = run.unit_changes;
  analysis.gpu_milliseconds_booked = static_cast<std::uint64_t>(run.gpu_milliseconds);
  analysis.statement = std::move(run.statement);
  return analysis;
}

}  // namespace ace
