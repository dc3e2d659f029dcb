#pragma once
/// What of a claimed saving counts: request by request, then cell by cell. ECONOMICS 7.
#include <cstdint>
#include <map>

#include "core/statistics.h"
#include "ledger/counterfactual.h"

namespace ace {

/// Claimed, and what of it counts. counted = claimed - disallowed, per lever; losses always count.
struct Levers {
  std::array<Usd, kLevers> lever{};
  Usd unattributed{};
  [[nodiscard]] Usd sum() const {
    Usd total = unattributed;
    for (const Usd amount : lever) total += amount;
    return total;
  }
  Levers& operator+=(const Levers& other) {
    for (std::size_t i = 0; i < kLevers; ++i) lever[i] += other.lever[i];
    unattributed += other.unattributed;
    return *this;
  }
  Levers& operator-=(const Levers& other) {
    for (std::size_t i = 0; i < kLevers; ++i) lever[i] -= other.lever[i];
    unattributed -= other.unattributed;
    return *this;
  }
  friend bool operator==(const Levers&, const Levers&) = default;
};
inline Levers levers_of(const Chain& chain) { return {chain.lever, chain.unattributed}; }

/// Audited hits of a tenant's cache that is not exact-match, pooled over 28 days.
struct CacheAudit {
  std::uint64_t audited = 0, false_hits = 0;
  friend bool operator==(const CacheAudit&, const CacheAudit&) = default;
};

struct Gates {
  double served_min = 0.999;
  std::uint64_t cell_requests_min = 500;       ///< smaller cells are judged on their tenant x model x day
  double false_hits_max = 0.01;                ///< upper Wilson bound to prove; 381 clean audits do
  std::map<std::uint32_t, CacheAudit> audits;  ///< by tenant symbol; only caches that are not exact-match need them
  Duration request_time_max{10 * kMinute};     ///< a cell settles this long after its hour ends
};

/// Is the bound on false hits proven for this tenant?
bool proven(const Gates& gates, std::uint32_t tenant);

/// When the cells of an hour settle. Facts that arrive later are booked as compensating entries.
Instant settles_at(std::int64_t hour, const Gates& gates);

/// part / whole >= least, in exact parts per million; true for an empty whole.
bool share_reached(std::uint64_t part, std::uint64_t whole, double least);

/// What the request itself allows, before its cell is judged. Three disjoint parts of the claim:
///   claimed = withheld (never counts) + gated (counts if the cell passes) + loss (always counts)
/// A request whose remaining claim is positive is gated as a whole, its negative levers included; else it is a loss as
/// a whole. No gate takes a request below min(claimed, 0): withholding a lever stops where the claim is used up, so the
/// loss is the same whatever fails, failing a cell never removes a loss, and refusing a saver never spares one. Nothing
/// is netted between requests.
struct Allowance {
  Levers withheld, gated, loss;
  Reason reason = Reason::none;        ///< of the whole request: gap, slo_request, not_served, unpriced, no_baseline
  Reason lever_reason = Reason::none;  ///< of one lever: insufficient_evidence, assumed_routing
  Usd withheld_lever{};                ///< of `withheld`, what lever_reason took
};
Allowance allow(const Settled& request, const Gates& gates);

/// The same for a saving that is one signed amount. What a lever's reason withholds is withheld here too, up to the
/// saving.
struct AllowedAmount {
  Usd withheld{}, gated{}, loss{};
};
AllowedAmount allow_amount(Usd saving, const Allowance& allowance);

}  // namespace ace
