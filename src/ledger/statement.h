#pragma once
/// What the fold knows at the end of a window: values only, every line sorted, every sum exact.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/bookings.h"
#include "ledger/gates.h"
#include "ledger/usage.h"

namespace ace {

/// Names by symbol, as a run's tables have them; borrowed. Symbols beyond a table have no name.
class SymbolNames {
 public:
  // NOLINTNEXTLINE: a table of tenants is names
  SymbolNames(const std::vector<std::string>& tenants, const std::vector<std::string>& teams = kNone,
              const std::vector<std::string>& projects = kNone)
      : tenants_(tenants), teams_(teams), projects_(projects) {}
  [[nodiscard]] std::span<const std::string> tenants() const { return tenants_; }
  [[nodiscard]] std::string_view tenant(std::uint32_t symbol) const { return in(tenants_, symbol); }
  [[nodiscard]] std::string_view team(std::uint32_t symbol) const { return in(teams_, symbol); }
  [[nodiscard]] std::string_view project(std::uint32_t symbol) const { return in(projects_, symbol); }

 private:
  static inline const std::vector<std::string> kNone;
  static std::string_view in(std::span<const std::string> names, std::uint32_t symbol) {
    return symbol < names.size() ? std::string_view(names[symbol]) : std::string_view();
  }
  std::span<const std::string> tenants_, teams_, projects_;
};

/// What the headline compares with.
enum class BaselineKind : std::uint8_t { all_payg, status_quo, round_robin, all_payg_uncached };
std::string_view name_of(BaselineKind kind);
/// Do C0 and the levers decompose this baseline, and does it carry no fixed cost? Else the saving is one signed amount
/// per request with the same F on both sides.
constexpr bool decomposes(BaselineKind kind) {
  return kind == BaselineKind::all_payg || kind == BaselineKind::all_payg_uncached;
}

enum class SettlementPolicy : std::uint8_t { pooled, clearing, as_dispatched };
enum class IdlePolicy : std::uint8_t { by_usage, by_reservation, even, keep_idle };
std::string_view name_of(SettlementPolicy policy);
std::string_view name_of(IdlePolicy policy);

/// A saving that is one signed amount per request, not split over levers.
struct OneSaving {
  std::uint64_t requests = 0;  ///< that have this baseline
  Usd baseline{}, claimed{}, disallowed{}, counted{};
  friend bool operator==(const OneSaving&, const OneSaving&) = default;
};

/// One settlement cell: admission hour x tenant x requested model.
struct Cell {
  std::int64_t hour = 0;
  std::uint32_t tenant = 0;
  ModelId model;
  std::uint64_t requests = 0, served = 0, slo_met = 0;
  Usd baseline{}, actual{};
  Levers claimed, disallowed;
  Reason failed = Reason::none;  ///< the gate it failed, if any
  bool judged_by_day = false;
  friend bool operator==(const Cell&, const Cell&) = default;
};

/// A line of the chargeback: who used what where in which hour. Answers from ACE's own cache and requests nobody
/// answered have no destination; they are charged what they cost under every policy.
struct UsageLine {
  std::int64_t hour = 0;
  std::uint32_t tenant = 0, team = 0, project = 0;
  ModelId model;  ///< used
  DestinationId destination;
  SloId slo;
  std::uint64_t requests = 0;
  std::int64_t input = 0, cached = 0, output = 0;
  TokenParts parts;  ///< of `input` and `output`
  Usd marginal{};    ///< actual C4
  Usd baseline{};    ///< C0, at the batch price where the class may wait
  Usd charged{};     ///< under the settlement policy, fixed cost excluded
  Usd fixed{};       ///< share of the used part of its destination's fixed cost
  Usd hosts{};       ///< share of ACE's own hosts
  Usd idle{};        ///< share of idle under IdlePolicy::by_usage
  /// Of requests whose cost a log states and that the fleet's prices know too: how many, what the log says, and what
  /// the prices do.
  std::uint64_t logged_requests = 0;
  Usd logged{}, by_prices{};
  [[nodiscard]] Usd total() const { return charged + fixed + hosts + idle; }
  friend bool operator==(const UsageLine&, const UsageLine&) = default;
};

/// Price of the interval x model x SLO class, USD per million normalized tokens.
struct ClearingLine {
  std::int64_t hour = 0;
  ModelId model;
  SloId slo;
  DestinationId dearest;
  UsdPerMtok clearing{}, average{};
  friend bool operator==(const ClearingLine&, const ClearingLine&) = default;
};

/// What settles beside the usage lines; with them it sums to C4 + F.
struct Adjustment {
  enum class Kind : std::uint8_t {
    reserved_idle,  ///< reserved by the tenant and not used by it
    shared_idle,    ///< idle spread by IdlePolicy::even or by_reservation
    unassigned,     ///< idle nobody carries
    batch_cap,      ///< taken off batch lines above their batch baseline; unassigned
    surplus,        ///< clearing: returned to who holds the capacity (negative), no tenant = the operator
  } kind{};
  DestinationId destination;            ///< none where the amount belongs to no single one
  std::optional<std::uint32_t> tenant;  ///< none = unassigned
  Usd amount{};
  friend bool operator==(const Adjustment&, const Adjustment&) = default;
};
std::string_view name_of(Adjustment::Kind kind);

struct FixedLine {
  DestinationId destination;  ///< none = ACE's hosts
  event::FixedCost::Kind kind{};
  Usd used{}, idle{};       ///< split by the share of capacity used
  bool both_sides = false;  ///< part of `fixed_other`
  friend bool operator==(const FixedLine&, const FixedLine&) = default;
};

/// Everything the fold knows at the end of a window. All sums are exact; every line traces to requests.
struct Statement {
  BaselineKind baseline = BaselineKind::all_payg;
  /// assumed where the counted saving rests on default prices that nobody contracted
  Grade grade = Grade::modelled;
  Instant from{}, to{};  ///< [first arrival, last completion]
  std::uint64_t requests = 0, served = 0, slo_met = 0, cache_hits = 0, aborted = 0;
  std::array<std::uint64_t, kVerdicts> not_served_by_verdict{};
  std::uint64_t spilled = 0, retried = 0;
  std::uint64_t reserve_short = 0;  ///< requests decided last while headroom was below the largest destination's load
  std::int64_t input = 0, cached = 0, output = 0, goodput = 0;  ///< tokens
  Usd c0{}, c1{}, c2{}, c3{}, c4{};                             ///< sums over all requests
  Usd denominator{};                                            ///< C0 of all served, priced requests
  Levers claimed, disallowed, counted;                          ///< marginal view: before fixed cost
  std::array<Usd, kReasons> disallowed_by_reason{};
  /// Requests whose saving is disallowed for this reason, in part or whole; not served and excluded ones are all here.
  std::array<std::uint64_t, kReasons> requests_by_reason{};
  Usd fixed{};  ///< F
  /// The part of F that stands on the side of status quo and round robin too, what the baseline's fleet paid for as
  /// well: every destination where the baseline is another way of dispatching on this fleet, those that were held
  /// where the log says what its requests cost; never ACE's own hosts.
  Usd fixed_other{};
  std::vector<FixedLine> fixed_lines;
  std::array<Usd, kLevers> shapley{}, shapley_low{}, shapley_high{};  ///< of the claim; the range over the 24 orders
  Usd assumed_routing{};   ///< positive routing saving without quality evidence: beside the headline, never inside
  Usd assumed_baseline{};  ///< part of `counted` that rests on default prices that nobody contracted
  // coverage
  std::uint64_t priced_requests = 0;  ///< served ones with a baseline
  std::array<Usd, kReasons> excluded_c0{};
  // other baselines, one signed amount
  OneSaving other;              ///< what add() was given: status quo, round robin
  OneSaving cheapest;           ///< baseline = cheapest compliant PAYG
  OneSaving all_payg;           ///< all-PAYG; its baseline is that of served, priced requests
  OneSaving all_payg_uncached;  ///< without the provider's own cache, likewise
  Usd observed_baseline{};      ///< sum of the costs that the log states
  std::uint64_t observed_requests = 0;
  std::uint64_t untimed = 0;  ///< answers under a promise of time of which a log has no times; they count as in time
  // ratios: goodput tokens per dollar
  Usd avoidable{};  ///< PAYG + energy + spot/on-demand hours
  std::int64_t peak_tpm_all_payg = 0;
  std::array<GpuMillis, kUses> gpu_time{};
  std::vector<Cell> cells;       ///< sorted by (hour, tenant name order as given, model)
  std::vector<UsageLine> usage;  ///< sorted by (hour, tenant, team, project, model, destination, slo), names first
  std::vector<ClearingLine> clearing;
  std::vector<Adjustment> adjustments;
  Usd idle_reserved{}, idle_unassigned{};
  std::vector<std::uint32_t> tenant_rank;  ///< by tenant symbol: its place among the names

  /// Fixed cost that this side has and the baseline has not: all of it against all-PAYG.
  [[nodiscard]] Usd fixed_added() const { return decomposes(baseline) ? fixed : fixed - fixed_other; }
  /// What the headline's baseline costs, fully loaded.
  [[nodiscard]] Usd baseline_cost() const { return decomposes(baseline) ? denominator : other.baseline + fixed_other; }
  /// Counted saving against it before fixed cost, and fully loaded: what the headline prints.
  [[nodiscard]] Usd counted_marginal() const { return decomposes(baseline) ? counted.sum() : other.counted; }
  [[nodiscard]] Usd counted_saving() const { return counted_marginal() - fixed_added(); }
  [[nodiscard]] Usd claimed_saving() const {
    return (decomposes(baseline) ? claimed.sum() : other.claimed) - fixed_added();
  }
  [[nodiscard]] Usd disallowed_saving() const { return decomposes(baseline) ? disallowed.sum() : other.disallowed; }
  /// The gate its cell failed, or none. For the second pass over requests.
  [[nodiscard]] Reason gate_of(std::int64_t hour, std::uint32_t tenant, ModelId model) const;
};

/// One bar of the waterfall. All but the last sum to the last.
struct Bar {
  std::string_view name;
  Usd amount{};        ///< what it adds to the cost: levers with the sign turned
  bool total = false;  ///< baseline and actual stand on the ground
  Usd used{}, idle{};  ///< of the fixed bar
};
/// Seven bars, an eighth where something is unattributed: baseline, four levers, (unattributed,) fixed cost, actual.
std::vector<Bar> waterfall(const Statement& statement);

/// Goodput tokens per dollar; no ratio on a denominator that is not positive.
std::optional<double> goodput_per_avoidable_dollar(const Statement& statement);
std::optional<double> goodput_per_loaded_dollar(const Statement& statement);

}  // namespace ace
