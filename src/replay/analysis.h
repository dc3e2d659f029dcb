#pragma once
/// A trace and a fleet in, everything the report says out.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ledger/ledger.h"
#include "replay/engine.h"
#include "replay/gaps.h"
#include "replay/series.h"
#include "replay/source.h"

namespace ace {

enum class SensitivityMode : std::uint8_t { off, sample, full };
std::string_view name_of(SensitivityMode mode);

/// How a trace's model and tenant names become the fleet's.
struct Naming {
  std::string model;  ///< for a trace without models, or to override; empty = none
  std::vector<std::pair<std::string, std::string>> model_map;  ///< trace name -> fleet name
};

struct AnalyzeOptions {
  BaselineKind baseline = BaselineKind::all_payg;
  Naming naming;
  Instant from = Instant::min(), to = Instant::max();  ///< of arrivals
  unsigned threads = 1;
  std::uint64_t seed = 1;
  bool bound = false;
  SensitivityMode sensitivity = SensitivityMode::sample;
  SettlementPolicy settlement = SettlementPolicy::pooled;
  IdlePolicy idle = IdlePolicy::by_usage;
  std::vector<bool> held;  ///< as Ledger::Options has it
  /// Servers of the world take this factor longer than the fleet file says, at least 1: a faster world is nobody's
  /// evidence. Nothing = as the operator measured them, and 1 + kRooflineError where nobody did.
  std::optional<double> plant_slowdown;
  SpineGaps gaps;  ///< in which the spine recorded nothing
  Belief::Options belief;
  Engine::Witness witness;                   ///< watches one row
  std::function<void(const Settled&)> each;  ///< every settled request, island by island in completion order
  /// The same with what the other baseline spent on it: the status quo, or round robin where that is the headline's.
  std::function<void(const Settled&, Usd)> beside;
  /// Every event of our own side of the base run, as a gateway would record it, in order of time and then of islands;
  /// called from one thread, and an error of it ends the run. Nothing is decided otherwise for being recorded: every
  /// run decides on what a record can hold (spine/evidence.h). Tenants and teams are symbols of the source.
  std::function<Result<void>(event::Record)> record;
  std::size_t record_columns = event::kColumnsMax;      ///< candidates whose columns a decision's record holds
  std::function<void(double, std::uint64_t)> progress;  ///< share done (negative = unknown), requests so far
};

/// Requests of the trace that were not replayed, and why.
struct Unreplayed {
  std::string reason;
  std::uint64_t requests = 0;
  std::int64_t tokens = 0;
  Usd logged{};                 ///< what the log says they cost, where it does
  bool outside_window = false;  ///< nobody asked for them, so coverage does not miss them
};

struct SensitivityRow {
  std::string what;          ///< "PAYG prices +20%"
  std::string_view against;  ///< its baseline
  bool servers = false;      ///< about how fast servers are: shown beside the headline
  Usd baseline{}, fixed{};   ///< the baseline fully loaded
  Usd claimed{}, counted{};  ///< fully loaded, before and after the gates
  Usd counted_marginal{};    ///< before fixed cost
  Usd disallowed{};          ///< by gates: a cell that fails here and not as given moves more than a price
  std::uint64_t failed_cells = 0;
  double claimed_share = 0.0, saving_share = 0.0;  ///< claimed and counted over the baseline
  double change = 0.0;                             ///< of saving_share, against the base run of the same sample
};

struct BoundResult {
  Usd dispatch_bound{}, plan_bound{};
  std::optional<double> dispatch_share;  ///< (C0 - C4) / (C0 - LB)
  std::optional<double> plan_share;      ///< fully loaded
};

struct KneePoint {
  OfferId offer;
  SloId slo;
  double prior = 0.0, fitted = 0.0;
};

/// What the brain made of an offer's latency curve: by the data sheet or as measured, and at the end of the run.
struct CurvePoint {
  OfferId offer;
  ServerProfile prior, fitted;
};

/// The supply curve of a model at a quantile of its load, for a mean request of the trace.
struct LoadCurve {
  std::string at;  ///< "p50", "p95"
  double load_tokens_per_s =
      0.0;  ///< prompt and output tokens of the arrivals in the busiest bucket below the quantile
  SupplyCurve curve;
};

struct Analysis {
  Statement statement;
  BaselineKind baseline = BaselineKind::all_payg;
  std::string source_format;
  std::vector<std::string> tenants, teams, projects;  ///< by symbol
  std::vector<SkippedRows> skipped;
  std::vector<Unreplayed> unreplayed;
  std::uint64_t rows = 0;
  std::uint64_t seed = 1;
  std::uint32_t islands = 1;
  LoadSeries series;
  std::vector<double> used_share;  ///< by destination
  std::vector<KneePoint> knees;
  std::vector<CurvePoint> latency;
  std::vector<Swaps::Loads> loads;  ///< of models, by destination
  std::vector<std::string> assumptions;
  double sensitivity_sample = 1.0;  ///< share of the requests in the sensitivity runs
  std::vector<SensitivityRow> sensitivity;
  std::optional<BoundResult> bound;
  std::vector<LoadCurve> curves;
  std::uint64_t status_quo_served = 0, status_quo_slo_met = 0;  ///< of the static baseline, where it was replayed
  std::uint64_t evictions = 0, unit_changes = 0;
  std::optional<std::uint64_t> held_back;  ///< requests, by `reserve: enforce`; nothing = nobody counted
};

/// Replays the source on the fleet. Memory does not grow with the trace.
/// @return bad_input if no model of the trace is known, if times go backwards, or if the window is empty.
Result<Analysis> analyze(const Snapshot& fleet, RequestSource& source, const AnalyzeOptions& options);

/// Resolves names of the source against the fleet, lazily by symbol.
class Resolver {
 public:
  /// @param tenants_max  undeclared tenants beyond so many stand together as one: people and keys may be tenants, and
  ///                     books for each of them would grow with the trace
  Resolver(const Snapshot& fleet, const RequestSource& source, const Naming& naming,
           std::size_t tenants_max = static_cast<std::size_t>(-1));
  /// @return nothing if the model is unknown
  std::optional<Demand> operator()(const Arrival& arrival);
  /// Names of the models of the trace that the fleet does not know, with their requests.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> unknown() const;
  /// Names by symbol as demands have them; those that stand together are "(N more tenants)".
  [[nodiscard]] std::vector<std::string> tenants() const;
  [[nodiscard]] std::size_t folded() const { return folded_; }

 private:
  const Fleet* fleet_;
  const RequestSource* source_;
  const Naming* naming_;
  struct ModelSlot {
    bool resolved = false;
    ModelId model;
    std::uint64_t requests = 0;
  };
  struct TenantSlot {
    bool resolved = false;
    std::uint32_t symbol = 0;  ///< its own, or that of all the others
    TenantId tenant;
    SloId slo;
    ComplianceId compliance;
    std::string_view data_class;
  };
  std::vector<ModelSlot> models_;
  std::vector<TenantSlot> tenants_;
  std::size_t tenants_max_, undeclared_ = 0, folded_ = 0;
  std::uint32_t others_ = 0;  ///< symbol of the first that is folded, and so of all of them
};

}  // namespace ace
