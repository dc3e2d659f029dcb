#include <algorithm>
#include <limits>

#include "dispatch/dispatch.h"
#include "dispatch/feasible.h"
#include "dispatch/rank.h"
#include "dispatch/weigh.h"

namespace ace {
namespace {

/// Why nobody is left: the last kind of constraint that anybody reached.
Verdict verdict_of(const std::array<std::uint32_t, kExclusions>& excluded) {
  const auto sum = [&](Exclusion first, Exclusion last) {
    std::uint32_t total = 0;
    for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last); ++i) total += excluded[i];
    return total;
  };
  if (sum(Exclusion::not_running, Exclusion::attempted) > 0) return Verdict::no_capacity;
  // A model that nobody serves is not a matter of compliance, and neither is a price that nobody knows.
  const bool compliance = sum(Exclusion::jurisdiction, Exclusion::retention) > 0;
  if (sum(Exclusion::context, Exclusion::unpriced) > 0 || !compliance) return Verdict::no_capable_destination;
  return Verdict::no_compliant_destination;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, kVerdicts> names = {"dispatched", "no_compliant_destination",
                                                             "no_capable_destination", "no_capacity", "retries_spent"};
  return names[static_cast<std::size_t>(verdict)];
}

Scratch::Scratch(const Snapshot& snapshot) : price(snapshot.lots_max() * kLot), lots(snapshot.lots_max()) {
  attempted.reserve(8);
}

Decision decide(const Snapshot& fleet, const Live& live, const Request& request, Instant now, Scratch& scratch) {
  return decide(fleet, live, request, now, scratch, kernel());
}

Decision decide(const Snapshot& fleet, const Live& live, const Request& request, Instant now, Scratch& scratch,
                const Kernel& kernel) {
  Decision decision;
  decision.reserve_short = live.reserve_short;
  const Weighing weighing(fleet, live, request, now, scratch, kernel);
  decision.excluded = weighing.excluded();
  decision.feasible = weighing.feasible();
  if (decision.feasible == 0) {
    decision.verdict = verdict_of(decision.excluded);
    return decision;
  }
  // Headroom is short and the operator enforces the reserve: classes that can wait are held back first.
  if (live.reserve_short && fleet.fleet().policies.reserve_enforce && request.slo.valid() &&
      fleet.fleet().slo_classes[request.slo.value].deferrable()) {
    decision.verdict = Verdict::no_capacity;
    return decision;
  }
  decision.verdict = Verdict::dispatched;
  const Cheapest cheapest = weighing.cheapest();
  decision.chosen = cheapest.offer;
  decision.terms = cheapest.terms;
  decision.cheapest_uncongested = cheapest.uncongested;
  decision.reference_price = static_cast<std::int64_t>(weighing.reference());
  return decision;
}

}  // namespace ace
