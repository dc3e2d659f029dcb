#include "ledger/gates.h"

#include <algorithm>

namespace ace {

bool proven(const Gates& gates, std::uint32_t tenant) {
  const auto found = gates.audits.find(tenant);
  if (found == gates.audits.end() || found->second.audited == 0) return false;
  return wilson_upper(found->second.false_hits, found->second.audited) < gates.false_hits_max;
}

Instant settles_at(std::int64_t hour, const Gates& gates) {
  return instant((hour + 1) * nanos(kHour)) + gates.request_time_max;
}

bool share_reached(std::uint64_t part, std::uint64_t whole, double least) {
  const auto ppm = static_cast<std::int64_t>(least * 1e6 + 0.5);  // a share, not money: 0.99 is 990,000 exactly
  return int128{part} * 1'000'000 >= int128{whole} * ppm;
}

Allowance allow(const Settled& request, const Gates& gates) {
  Allowance a;
  Levers rest = levers_of(request.chain);
  if (!request.answered()) {
    a.reason = Reason::not_served;
  } else if (request.excluded != Reason::none) {
    a.reason = request.excluded;
  } else {
    const auto withhold = [&](Lever lever, Reason why) {
      Usd& amount = rest.lever[static_cast<std::size_t>(lever)];
      const Usd taken = std::min(amount, rest.sum());
      if (taken <= Usd{}) return;
      a.withheld.lever[static_cast<std::size_t>(lever)] += taken;
      a.withheld_lever += taken;
      a.lever_reason = why;
      amount -= taken;
    };
    if (request.completed.outcome == event::Outcome::cache_hit && !request.completed.exact_match &&
        !proven(gates, request.admitted.tenant))
      withhold(Lever::caching, Reason::insufficient_evidence);
    if (request.routing_assumed) withhold(Lever::routing, Reason::assumed_routing);
    if (request.completed.in_gap)
      a.reason = Reason::gap;
    else if (!request.completed.slo_met)
      a.reason = Reason::slo_request;
  }
  if (rest.sum() <= Usd{})
    a.loss = rest;
  else if (a.reason != Reason::none)
    a.withheld += rest;
  else
    a.gated = rest;
  return a;
}

AllowedAmount allow_amount(Usd saving, const Allowance& allowance) {
  AllowedAmount a;
  if (saving <= Usd{}) {
    a.loss = saving;
    return a;
  }
  if (allowance.reason != Reason::none) {
    a.withheld = saving;
    return a;
  }
  a.withheld = std::min(saving, allowance.withheld_lever);
  a.gated = saving - a.withheld;
  return a;
}

}  // namespace ace
