#pragma once
/// Money folded from events: counterfactual, levers, gates, fixed cost, settlement, chargeback. ECONOMICS 6-9.
///
/// Start with `settle`, then `Ledger::add`, then `Statement`.
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/money.h"
#include "core/statistics.h"
#include "ledger/counterfactual.h"
#include "spine/spine.h"

namespace ace {

/// What the headline compares with.
enum class BaselineKind : std::uint8_t { all_payg, status_quo, round_robin, all_payg_uncached };
std::string_view name_of(BaselineKind kind);

enum class SettlementPolicy : std::uint8_t { pooled, clearing, as_dispatched };
enum class IdlePolicy : std::uint8_t { by_usage, by_reservation, even, keep_idle };

struct Gates {
  double served_min = 0.999;
  std::uint64_t cell_requests_min = 500;  ///< smaller cells are judged on their tenant x model x day
};

/// Claimed, and what of it counts. counted = claimed - disallowed, per lever; losses always count.
struct Levers {
  std::array<Usd, kLevers> lever{};
  Usd unattributed{};
  [[nodiscard]] Usd sum() const;
  Levers& operator+=(const Levers& other);
  friend bool operator==(const Levers&, const Levers&) = default;
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
};

/// A line of the chargeback: who used what where in which hour.
struct UsageLine {
  std::int64_t hour = 0;
  std::uint32_t tenant = 0, team = 0;
  ModelId model;  ///< used
  DestinationId destination;
  SloId slo;
  std::uint64_t requests = 0;
  std::int64_t input = 0, cached = 0, output = 0;
  Usd marginal{};  ///< actual C4
  Usd charged{};   ///< under the settlement policy, fixed cost excluded
  Usd fixed{};     ///< allocated share of fixed cost
};

/// Price of the interval x model x SLO class, USD per million normalized tokens.
struct ClearingLine {
  std::int64_t hour = 0;
  ModelId model;
  SloId slo;
  DestinationId dearest;
  UsdPerMtok clearing{}, average{};
};

struct FixedLine {
  DestinationId destination;  ///< none = ACE's hosts
  event::FixedCost::Kind kind{};
  Usd used{}, idle{};  ///< split by the share of capacity used
};

/// Everything the fold knows at the end of a window. All sums are exact; every line traces to requests.
struct Statement {
  BaselineKind baseline = BaselineKind::all_payg;
  Grade grade = Grade::modelled;
  Instant from{}, to{};  ///< [first arrival, last completion]
  std::uint64_t requests = 0, served = 0, slo_met = 0, cache_hits = 0, aborted = 0;
  std::array<std::uint64_t, 4> not_served_by_verdict{};
  std::uint64_t spilled = 0, retried = 0;
  std::int64_t input = 0, cached = 0, output = 0, goodput = 0;  ///< tokens
  Usd c0{}, c1{}, c2{}, c3{}, c4{};                             ///< sums over all requests
  Usd denominator{};                                            ///< C0 of all served, priced requests
  Levers claimed, disallowed, counted;                          ///< marginal view: before fixed cost
  std::array<Usd, kReasons> disallowed_by_reason{};
  std::array<std::uint64_t, kReasons> requests_by_reason{};
  Usd fixed{};  ///< F
  std::vector<FixedLine> fixed_lines;
  std::array<Usd, kLevers> shapley{}, shapley_low{}, shapley_high{};
  Usd assumed_routing{}, assumed_baseline{};  ///< beside the headline, never inside
  // coverage
  std::uint64_t priced_requests = 0;
  std::array<Usd, kReasons> excluded_c0{};
  // other baselines, one signed amount
  Usd observed_baseline{};  ///< sum of logged costs
  std::uint64_t observed_requests = 0;
  Usd cheapest_baseline{}, uncached_baseline{};
  // ratios: goodput tokens per dollar
  Usd avoidable{};  ///< PAYG + energy + spot/on-demand hours
  std::int64_t peak_tpm_all_payg = 0;
  std::vector<Cell> cells;  ///< sorted by (hour, tenant name order as given, model)
  std::vector<UsageLine> usage;
  std::vector<ClearingLine> clearing;
  Usd idle_reserved{}, idle_unassigned{};
  /// Fully loaded counted saving: counted.sum() - F. What the headline prints.
  [[nodiscard]] Usd counted_saving() const { return counted.sum() - fixed; }
  [[nodiscard]] Usd claimed_saving() const { return claimed.sum() - fixed; }
};

class Ledger {
 public:
  struct Options {
    BaselineKind baseline = BaselineKind::all_payg;
    SettlementPolicy settlement = SettlementPolicy::pooled;
    IdlePolicy idle = IdlePolicy::by_usage;
    Gates gates;
    bool shapley = true;
    Instant from{}, to{};  ///< of the window; both zero = first arrival to last completion
  };
  Ledger(const Snapshot& fleet, const Options& options);
  ~Ledger();
  Ledger(Ledger&&) noexcept;

  /// Folds one settled request. @param status_quo what the status-quo baseline would have paid for it (other
  /// baselines), if computed
  void add(const Settled& request);
  /// The same with an amount that the chosen baseline (status quo, round robin) spent on this request instead of C0.
  void add(const Settled& request, Usd other_baseline);
  void add(const event::FixedCost& cost);
  /// @return conflict if a millisecond of the device is booked already.
  Result<void> add(const event::GpuBooking& booking);
  /// Token-seconds of capacity that a destination offered, for the split of fixed cost into used and idle. @param
  /// used_share in [0, 1]
  void utilization(DestinationId destination, double used_share);
  /// Takes over another ledger's fold; the result does not depend on how requests were divided.
  void merge(const Ledger& other);
  /// Judges the gates, allocates fixed cost, settles. Names of tenants order the lines.
  [[nodiscard]] Statement close(const std::vector<std::string>& tenant_names) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ace
