#pragma once
/// The running accounts of a Ledger: sums that commute, so that neither order nor division of the stream shows.
#include <array>
#include <cstdint>
#include <map>

#include "core/hash.h"
#include "ledger/ledger.h"
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
};

/// Accounts of the chargeback.
struct UsageKey {
  std::int64_t hour = 0;
  std::uint32_t tenant = 0, team = 0;
  ModelId model;
  DestinationId destination;
  SloId slo;
  friend bool operator==(const UsageKey&, const UsageKey&) = default;
  [[nodiscard]] std::uint64_t hash() const {
    return mix(mix(mix(static_cast<std::uint64_t>(hour), std::uint64_t{tenant} << 32 | team),
                   std::uint64_t{model.value} << 32 | destination.value),
               slo.value);
  }
};
struct Used {
  std::uint64_t requests = 0;
  std::int64_t input = 0, cached = 0, output = 0;
  std::int64_t cache_write = 0, reasoning = 0;  ///< of input, of output
  Usd marginal{}, baseline{};
  Used& operator+=(const Used& o);
};

/// Tokens that all-PAYG would take in one minute.
struct MinuteKey {
  std::int64_t minute = 0;
  friend bool operator==(const MinuteKey&, const MinuteKey&) = default;
  [[nodiscard]] std::uint64_t hash() const { return mix(static_cast<std::uint64_t>(minute), 0); }
};

/// What needs no key.
struct Totals {
  bool any = false;
  Instant first{}, last{};
  std::uint64_t requests = 0, cache_hits = 0, aborted = 0, spilled = 0, retried = 0, observed_requests = 0;
  std::uint64_t priced_requests = 0;
  std::array<std::uint64_t, 4> not_served_by_verdict{};
  std::array<std::uint64_t, kReasons> requests_by_reason{};
  std::array<Usd, kReasons> disallowed_by_reason{}, excluded_c0{};
  std::int64_t input = 0, cached = 0, output = 0, goodput = 0;
  Usd denominator{}, observed{};
  Coalitions coalitions{};
  Totals& operator+=(const Totals& o);
};

}  // namespace ace::fold

namespace ace {

struct Ledger::State {
  State(const Snapshot& fleet, const Options& chosen) : settler(fleet), options(chosen) {}
  /// @param sign +1 books, -1 takes back
  Receipt book(const Settled& request, int sign);

  Settler settler;
  Options options;
  Table<fold::SlotKey, fold::Slot> slots;
  Table<fold::UsageKey, fold::Used> usage;
  Table<fold::MinuteKey, std::int64_t> minutes;
  fold::Totals totals;
  std::map<std::pair<DestinationId, event::FixedCost::Kind>, Usd> fixed;
  std::map<DestinationId, std::int64_t> used_ppm;
  Bookings bookings;
};

}  // namespace ace
