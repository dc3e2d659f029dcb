#pragma once
/// Money folded from events: counterfactual, levers, gates, fixed cost, settlement, chargeback. ECONOMICS 6-9.
///
/// Start with `Settler`, then `Ledger::add`, then `Statement`.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/money.h"
#include "ledger/bookings.h"
#include "ledger/chargeback.h"
#include "ledger/counterfactual.h"
#include "ledger/fixed_cost.h"
#include "ledger/focus.h"
#include "ledger/gates.h"
#include "ledger/period.h"
#include "ledger/reconcile.h"
#include "ledger/recorded.h"
#include "ledger/row.h"
#include "ledger/statement.h"
#include "spine/spine.h"

namespace ace {

/// A share of a destination's capacity that a tenant holds.
struct Reservation {
  DestinationId destination;
  std::uint32_t tenant = 0;    ///< symbol
  std::int64_t share_ppm = 0;  ///< of the destination; all tenants together at most 1,000,000
};

/// What the tenants of a fleet hold, under their symbols. @param tenants names by symbol; who holds something and never
/// came gets one
std::vector<Reservation> reservations_of(const Fleet& fleet, std::vector<std::string>& tenants);

class Ledger {
 public:
  struct Options {
    BaselineKind baseline = BaselineKind::all_payg;
    SettlementPolicy settlement = SettlementPolicy::pooled;
    IdlePolicy idle = IdlePolicy::by_usage;
    Gates gates;
    bool shapley = true;
    Instant from{}, to{};  ///< of the window; both zero = first arrival to last completion
    std::vector<Reservation> reservations;
    /// By destination: the fleet whose log states costs paid for it too; beyond the end = not.
    std::vector<bool> held;
  };
  Ledger(const Snapshot& fleet, const Options& options);
  ~Ledger();
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;

  /// What is left to know of a booked request to compare it with another baseline later.
  struct Receipt {
    std::uint32_t slot = 0;
    bool answered = false, excluded = false;
    Reason reason = Reason::none;  ///< why it was withheld as a whole
    Usd actual{}, withheld_lever{};
  };
  /// Folds one settled request.
  Receipt add(const Settled& request);
  /// The amount that the chosen baseline (status quo, round robin) spent on a booked request instead of C0, once. An
  /// unserved request is worth nothing there too, an excluded one what it cost.
  void compare(const Receipt& receipt, Usd other_baseline);
  /// Both at once.
  void add(const Settled& request, Usd other_baseline) { compare(add(request), other_baseline); }
  /// A later fact about a request booked before: two entries in the cell of its admission hour, minus what was booked
  /// and plus what is right. Nothing is rewritten; a statement closed before stays as printed.
  void compensate(const Settled& booked, const Settled& right);
  void add(const event::FixedCost& cost);
  /// @return conflict if a millisecond of the device is booked already.
  Result<void> add(const event::GpuBooking& booking);
  /// Takes over another ledger's fold; the result does not depend on how requests were divided. Both must have the same
  /// fleet and options, and no GPU-millisecond in common.
  void merge(const Ledger& other);
  /// Shares that tenants hold, in the place of those in the options. @pre as there
  void reserve(std::vector<Reservation> reservations);
  /// Judges the gates, allocates fixed cost, settles. Names order the lines.
  /// @param names every tenant that was booked has one
  [[nodiscard]] Statement close(const SymbolNames& names) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ace
