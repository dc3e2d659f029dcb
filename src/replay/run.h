#pragma once
/// One replay of a source: islands side by side, folded into one statement. `analyze` makes several of these.
#include <functional>

#include "replay/analysis.h"
#include "replay/islands.h"

namespace ace {

struct RunOptions {
  Dispatching dispatching = Dispatching::merit_order;
  bool compare_status_quo = false;  ///< also replay the static baseline in lockstep
  BaselineKind baseline = BaselineKind::all_payg;
  Naming naming;
  Instant from = Instant::min(), to = Instant::max();
  unsigned threads = 1;
  std::uint64_t seed = 1;
  SettlementPolicy settlement = SettlementPolicy::pooled;
  IdlePolicy idle = IdlePolicy::by_usage;
  std::vector<bool> held;  ///< as Ledger::Options has it
  bool shapley = true;
  Plant::Options plant;
  Belief::Options belief;
  SpineGaps gaps;
  Engine::Witness witness;
  bool facts = false;                                 ///< fill RunResult::facts
  std::function<bool(const Arrival&)> keep;           ///< empty = all
  std::function<void(const Settled&)> each;           ///< empty = none; called from one thread only
  std::function<void(const Settled&, Usd)> beside;    ///< likewise; see AnalyzeOptions. Needs compare_status_quo
  std::function<Result<void>(event::Record)> record;  ///< see AnalyzeOptions
  std::size_t record_columns = event::kColumnsMax;    ///< likewise
  std::function<void(double, std::uint64_t)> progress;
};

/// What a bound has to know of the run that it bounds. Sorted, so that the same run gives the same bytes.
struct RunFacts {
  std::vector<std::int64_t> left_out;      ///< rows not served, or served without a price
  std::vector<Engine::LateHit> late_hits;  ///< by row
  std::vector<event::UnitsChanged> units;  ///< by destination, then time
  std::vector<Duration> longest;           ///< by SLO class: from arrival to the last token, of served requests
  Usd baseline{}, uncached{}, actual{};    ///< C0 (h0 as it was, h0 = 0) and C4 of the rest
  std::uint64_t requests = 0;              ///< of the rest
};

struct RunResult {
  Statement statement;
  LoadSeries series;
  std::vector<double> used_share;  ///< by destination
  std::vector<KneePoint> knees;
  std::vector<CurvePoint> latency;
  std::vector<Swaps::Loads> loads;  ///< by destination
  std::vector<Unreplayed> unreplayed;
  std::vector<std::string> tenants;  ///< names by symbol
  std::size_t folded_tenants = 0;    ///< of the undeclared ones, those that stand together as one
  std::uint64_t rows = 0, replayed = 0;
  std::uint64_t evictions = 0, unit_changes = 0, held_back = 0;
  std::uint64_t status_quo_served = 0, status_quo_slo_met = 0;
  Instant first{}, last{};
  std::uint32_t islands = 0;
  RunFacts facts;
};

/// Names of a source's table, by symbol.
std::vector<std::string> all_of(const Interner& names);

/// @return as analyze()
Result<RunResult> run(const Snapshot& fleet, RequestSource& source, const RunOptions& options);

}  // namespace ace
