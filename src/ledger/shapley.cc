/// Coalition values of one request and the Shapley values of a sum of them. ECONOMICS 6.
#include <algorithm>
#include <bit>

#include "ledger/counterfactual.h"
#include "ledger/usage.h"

namespace ace {
namespace {

constexpr unsigned bit(Lever lever) { return 1U << static_cast<unsigned>(lever); }
constexpr unsigned kCaching = bit(Lever::caching), kRouting = bit(Lever::routing), kArbitrage = bit(Lever::arbitrage),
                   kUtilization = bit(Lever::utilization);

}  // namespace

Shapley shapley_of(const Coalitions& v) {
  // A lever that joins k others: k! (3 - k)! of the 24 orders have exactly those before it.
  constexpr std::array<std::int64_t, kLevers> orders = {6, 2, 2, 6};
  Shapley s;
  Usd others{};
  for (unsigned i = 0; i < kLevers; ++i) {
    int128 sum = 0;
    bool first = true;
    for (unsigned set = 0; set < v.size(); ++set) {
      if ((set >> i & 1U) != 0) continue;
      const Usd saved = v[set] - v[set | 1U << i];
      sum += int128{saved.nano} * orders[static_cast<std::size_t>(std::popcount(set))];
      s.low[i] = first ? saved : std::min(s.low[i], saved);
      s.high[i] = first ? saved : std::max(s.high[i], saved);
      first = false;
    }
    s.value[i] = {static_cast<std::int64_t>(sum / 24)};
    if (i != static_cast<unsigned>(Lever::utilization)) others += s.value[i];
  }
  s.value[static_cast<std::size_t>(Lever::utilization)] = v[0] - v[15] - others;
  return s;
}

/// C3's rule for a model and its tokens: the price at the place used if that is PAYG and offers it, else the cheapest
/// compliant PAYG; none where none was feasible at admission. The offer noted then was the cheapest for the cached
/// tokens found, which other cached tokens may turn.
Usd Settler::arbitraged(const Settled& s, ModelId model, const Usage& usage, Usd plain) const {
  const bool waits = deferrable(s.admitted);
  if (paid_by_token(s)) {
    const std::optional<OfferId> there =
        s.billed_as.valid() ? offer_at((*snapshot_)[s.billed_as].destination, model) : std::nullopt;
    if (there) return at_offer(*there, usage, s.admitted.at, waits).value_or(plain);
  } else if (model == s.used && !s.decided.cheapest_payg.valid()) {
    return plain;
  }
  return cheapest(market(s.admitted, model), usage, waits).value_or(plain);
}

Coalitions Settler::coalitions(const Settled& s) const {
  Coalitions v;
  const std::array<Usd, 5>& c = s.chain.c;
  const event::Outcome outcome = s.completed.outcome;
  if (outcome == event::Outcome::not_served) {  // C4 with utilization, else 0
    for (unsigned set = 0; set < v.size(); ++set) v[set] = (set & kUtilization) != 0 ? c[4] : Usd{};
    return v;
  }
  if (s.excluded != Reason::none) {
    v.fill(c[4]);
    return v;
  }
  if (outcome == event::Outcome::cache_hit) {  // C1 with caching, else C0; what failed before it is utilization
    for (unsigned set = 0; set < v.size(); ++set)
      v[set] = ((set & kCaching) != 0 ? c[1] : c[0]) + ((set & kUtilization) != 0 ? c[4] - c[3] : Usd{});
    return v;
  }
  if (s.unattributed) {
    for (unsigned set = 0; set < v.size(); ++set) v[set] = (set & kCaching) != 0 ? c[1] : c[0];
    return v;
  }
  const event::Admitted& admitted = s.admitted;
  const bool waits = deferrable(admitted), changed = s.used != admitted.requested;
  const bool payg = paid_by_token(s);

  // What PAYG costs, by model (0 requested, 1 used), cache (0 h0, 1 h1) and arbitrage.
  Usd cost[2][2][2];
  Usage scratch[2];
  for (unsigned model = 0; model < (changed ? 2U : 1U); ++model) {
    const ModelId id = model == 1 ? s.used : admitted.requested;
    const Usage& whole = model == 1 ? s.completed.usage : as_requested(admitted, s.completed, s.used, scratch[0]);
    const Usage* cached = nullptr;
    for (unsigned cache : {1U, 0U}) {
      const Usage& usage = with_cached(whole, cache == 1 ? s.completed.h1 : admitted.h0, cache == 1, scratch[1]);
      Usd& plain = cost[model][cache][0];
      Usd& cheap = cost[model][cache][1];
      if (cache == 0 && &usage == cached) {  // both caches hold the same
        plain = cost[model][1][0];
        cheap = cost[model][1][1];
        continue;
      }
      cached = &usage == &whole ? &whole : nullptr;
      const Market& sellers = market(admitted, id);
      plain = model == 0 ? c[cache] : cache == 1 ? c[2] : standard(sellers, usage, waits).value_or(c[2]);
      cheap = id == s.used && cache == 1 ? c[3] : arbitraged(s, id, usage, plain);
    }
  }
  if (!changed) std::copy(&cost[0][0][0], &cost[0][0][0] + 4, &cost[1][0][0]);
  for (unsigned routed : {0U, 1U}) {
    // What the place used costs with utilization on: its own bill, or PAYG and what was spent beside the answer.
    const bool there = payg || routed != 0 || !changed ||
                       offer_at((*snapshot_)[s.billed_as].destination, admitted.requested).has_value();
    for (unsigned cache : {0U, 1U})
      for (unsigned cheap : {0U, 1U}) {
        const unsigned set = routed * kRouting | cache * kCaching | cheap * kArbitrage;
        v[set] = cost[routed][cache][cheap];
        v[set | kUtilization] = payg ? v[set] + (c[4] - c[3]) : there ? c[4] : v[set];
      }
  }
  return v;
}

Shapley shapley(const Snapshot& fleet, const Settled& request) {
  Shapley s = shapley_of(Settler(fleet).coalitions(request));
  s.unattributed = request.chain.unattributed;
  return s;
}

}  // namespace ace
