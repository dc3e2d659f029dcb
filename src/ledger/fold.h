#pragma once
/// The running accounts of a ledger: sums that commute, so that neither order nor division of the stream shows.
#include <array>
#include <cstdint>
#include <map>

#include "core/hash.h"
#include "ledger/ledger.h"
#include "ledger/period.h"
#include "ledger/table.h"

namespace ace::fold {

/// An amount whose saving is one number: claimed = withheld + gated + loss.
struct One {
  std::uint64_t requests = 0;
  Usd baseline{}, claimed{}, withheld{}, gated{};
  One& operator+=(const One& o) {
    requests += o.requests;
    baseline += o.baseline;
    claimed += o.claimed;
    withheld += o.withheld;
    gated += o.gated;
    return *this;
  }
  friend bool operator==(const One&, const One&) = default;
};

/// Accounts of admission hour x tenant x requested model x SLO class: cells are sums of these over the classes.
struct SlotKey {
  std::int64_t hour = 0;
  std::uint32_t tenant = 0;
  ModelId model;
  SloId slo;
  friend bool operator==(const SlotKey&, const SlotKey&) = default;
  [[nodiscard]] std::uint64_t hash() const {
    return mix(mix(static_cast<std::uint64_t>(hour), std::uint64_t{tenant} << 32 | model.value), slo.value);
  }
};
struct Slot {
  std::uint64_t requests = 0, served = 0, slo_met = 0, gated_requests = 0;
  std::uint64_t inexact_hits = 0;  ///< answers of a cache that is not exact-match
  std::uint64_t disproven = 0;     ///< answers of a model whose audits say it is not as good as the one asked for
  Usd baseline{}, actual{};
  Levers claimed, withheld, gated;
  One other, cheapest, assumed;     ///< assumed: requests whose default price nobody contracted
  One all_payg, all_payg_uncached;  ///< all-PAYG with and without the provider's own cache
  Slot& operator+=(const Slot& o);
  friend bool operator==(const Slot&, const Slot&) = default;
};

/// Accounts of the chargeback.
struct UsageKey {
  std::int64_t hour = 0;
  std::uint32_t tenant = 0, team = 0, project = 0;
  ModelId model;
  DestinationId destination;
  SloId slo;
  friend bool operator==(const UsageKey&, const UsageKey&) = default;
  [[nodiscard]] std::uint64_t hash() const {
    return mix(mix(mix(static_cast<std::uint64_t>(hour), std::uint64_t{tenant} << 32 | team),
                   std::uint64_t{model.value} << 32 | destination.value),
               std::uint64_t{project} << 32 | slo.value);
  }
};
struct Used {
  std::uint64_t requests = 0;
  std::int64_t input = 0, cached = 0, output = 0;
  TokenParts parts;  ///< of input and output
  Usd marginal{}, baseline{};
  /// Of requests whose cost a log states and that the fleet's prices know too.
  std::uint64_t logged_requests = 0;
  Usd logged{}, by_prices{};
  Used& operator+=(const Used& o);
  friend bool operator==(const Used&, const Used&) = default;
};

/// Tokens that all-PAYG would take in one minute.
struct MinuteKey {
  std::int64_t minute = 0;
  friend bool operator==(const MinuteKey&, const MinuteKey&) = default;
  [[nodiscard]] std::uint64_t hash() const { return mix(static_cast<std::uint64_t>(minute), 0); }
};

/// Fixed cost, and the part of it that was in use.
struct Fixed {
  Usd amount{}, used{};
  Fixed& operator+=(const Fixed& o) {
    amount += o.amount;
    used += o.used;
    return *this;
  }
  friend Fixed operator-(const Fixed& a, const Fixed& b) { return {a.amount - b.amount, a.used - b.used}; }
  friend bool operator==(const Fixed&, const Fixed&) = default;
};

/// What needs no other key than the UTC day of admission.
struct DayKey {
  std::int64_t day = 0;
  friend bool operator==(const DayKey&, const DayKey&) = default;
  [[nodiscard]] std::uint64_t hash() const { return mix(static_cast<std::uint64_t>(day), 0); }
};
struct Totals {
  bool any = false;
  Instant first{}, last{};
  std::uint64_t requests = 0, cache_hits = 0, aborted = 0, spilled = 0, retried = 0, observed_requests = 0;
  std::uint64_t untimed = 0;  ///< answers under a promise of time of which a log has no times
  std::uint64_t priced_requests = 0, reserve_short = 0;
  std::array<std::uint64_t, kVerdicts> not_served_by_verdict{};
  std::array<std::uint64_t, kReasons> requests_by_reason{};
  std::array<Usd, kReasons> disallowed_by_reason{}, excluded_c0{};
  std::int64_t input = 0, cached = 0, output = 0, goodput = 0;
  Usd denominator{}, observed{};
  Coalitions coalitions{};
  Totals& operator+=(const Totals& o);
};

/// What a fixed cost comes to, and the part of it that falls into a period: linear over its stretch, rounded so that
/// the parts of periods that follow one another sum to the whole.
Fixed part_of(const event::FixedCost& cost, const Period& period = {});
Fixed part_of(const Fixed& whole, Instant from, Instant to, const Period& period);

/// Numbers of one set of accounts as those of another, by number; empty = the same.
struct Renaming {
  std::vector<std::uint32_t> tenants, teams, projects, models, destinations, slo_classes;
};

/// All accounts of requests and fixed cost under one fleet.
struct Accounts {
  Table<SlotKey, Slot> slots;
  Table<UsageKey, Used> usage;
  Table<MinuteKey, std::int64_t> minutes;
  Table<DayKey, Totals> days;
  std::map<std::pair<DestinationId, event::FixedCost::Kind>, Fixed> fixed;

  /// @param sign +1 books, -1 takes back @param settler of the fleet that the request's indices are of
  Ledger::Receipt book(const Settler& settler, const Ledger::Options& options, const Settled& request, int sign);
  void book(const event::FixedCost& cost, int sign = 1);
  void compare(const Ledger::Receipt& receipt, Usd other_baseline, int sign = 1);
  /// Takes over what another fleet's accounts hold, under our numbers.
  void merge(const Accounts& other, const Renaming& names = {});
  /// Of requests admitted in a period.
  [[nodiscard]] Totals totals(const Period& period = {}) const;
  /// Those of requests admitted in a period. Fixed cost is left out: an account of it has no time.
  [[nodiscard]] Accounts within(const Period& period) const;
};

/// What closing measures by: the yardstick of each model, the promise of each class.
struct Measures {
  std::vector<Settler::Weights> weights;  ///< by model
  std::vector<SloClass> slo_classes;
  SloId default_slo;
  [[nodiscard]] const SloClass& slo(SloId id) const { return slo_classes[id.valid() ? id.value : default_slo.value]; }
};
Measures measures_of(const Settler& settler);

/// Judges the gates alone. @param slots of whole days: small cells are judged on theirs @param tenants by symbol
std::vector<Cell> judge(const Table<SlotKey, Slot>& slots, const Measures& measures, const Ledger::Options& options,
                        std::span<const std::string> tenants);

/// Judges the gates, allocates fixed cost, settles. @param names of tenants, which order the lines; teams and projects
/// go by name where there are names, else by symbol
Statement close(const Accounts& accounts, const Bookings& bookings, const Measures& measures,
                const Ledger::Options& options, const SymbolNames& names);

}  // namespace ace::fold

namespace ace {

struct Ledger::State {
  State(const Snapshot& fleet, const Options& chosen) : settler(fleet), options(chosen) {}

  Settler settler;
  Options options;
  fold::Accounts accounts;
  Bookings bookings;
};

}  // namespace ace
