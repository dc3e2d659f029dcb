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
  const Offer& place = (*snapshot_)[s.billed_as];
  const bool payg = place.tier == Tier::payg || s.native_spill;

  // What PAYG costs, by model (0 requested, 1 used), cache (0 h0, 1 h1) and arbitrage.
  Usd cost[2][2][2];
  for (unsigned model = 0; model < 2; ++model) {
    if (model == 1 && !changed) {
      for (unsigned cache = 0; cache < 2; ++cache)
        for (unsigned arbitrage = 0; arbitrage < 2; ++arbitrage) cost[1][cache][arbitrage] = cost[0][cache][arbitrage];
      break;
    }
    const ModelId id = model == 1 ? s.used : admitted.requested;
    const Market& sellers = market(admitted, id);
    const Usage whole = model == 1 ? s.completed.usage : as_requested(admitted, s.completed, s.used);
    for (unsigned cache = 0; cache < 2; ++cache) {
      const Usage usage =
          cache == 1 ? with_cached(whole, s.completed.h1, true) : with_cached(whole, admitted.h0, false);
      Usd& plain = cost[model][cache][0];
      Usd& cheap = cost[model][cache][1];
      if (model == 0)
        plain = c[cache];
      else
        plain = cache == 1 ? c[2] : standard(sellers, usage, waits).value_or(c[2]);
      if (id == s.used && cache == 1) {
        cheap = c[3];
      } else if (const std::optional<OfferId> there = payg ? offer_at(place.destination, id) : std::nullopt) {
        cheap = at_offer(*there, usage, admitted.at, waits).value_or(plain);
      } else if (id == s.used && !payg && s.decided.cheapest_payg.valid()) {
        cheap = at_offer(s.decided.cheapest_payg, usage, admitted.at, waits).value_or(plain);
      } else if (id == s.used && !payg) {
        cheap = plain;  // C3's rule where no PAYG was feasible
      } else {
        cheap = cheapest(sellers, usage, waits).value_or(plain);
      }
    }
  }
  for (unsigned set = 0; set < v.size(); ++set) {
    const bool routed = (set & kRouting) != 0;
    const Usd bought = cost[routed ? 1 : 0][(set & kCaching) != 0 ? 1 : 0][(set & kArbitrage) != 0 ? 1 : 0];
    if ((set & kUtilization) == 0)
      v[set] = bought;
    else if (payg)
      v[set] = bought + (c[4] - c[3]);
    else
      v[set] = routed || !changed || offer_at(place.destination, admitted.requested) ? c[4] : bought;
  }
  return v;
}

Shapley shapley(const Snapshot& fleet, const Settled& request) {
  Shapley s = shapley_of(Settler(fleet).coalitions(request));
  s.unattributed = request.chain.unattributed;
  return s;
}

}  // namespace ace
