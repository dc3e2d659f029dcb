#pragma once
/// A decision as an event, the same from every shell that decides.
#include "spine/spine.h"

namespace ace {

/// What is recorded of a decision on this request. `Decided::cheapest_payg` is that of the answer as predicted: what it
/// takes is not known yet.
/// @param snapshot number of the fleet on the spine
inline event::Decided decided_event(const Snapshot& fleet, std::uint64_t snapshot, RequestId id, Instant now,
                                    const Request& request, const Live& live, const Decision& decision) {
  event::Decided decided;
  decided.id = id;
  decided.at = now;
  decided.snapshot = snapshot;
  decided.decision = decision;
  decided.predicted = request.predicted;
  if (decision.verdict != Verdict::dispatched) return decided;
  const std::int64_t predicted = live.cached[decision.chosen.value];
  const std::int64_t cached = std::min<std::int64_t>(predicted, request.prompt.value);
  decided.cached_predicted = Tokens{predicted};
  if (fleet[decision.chosen].tier == Tier::payg) return decided;
  const Usage usage(Tokens{request.prompt.value - cached}, Tokens{cached},
                    Tokens{static_cast<std::int64_t>(request.predicted.output_mean + 0.5)});
  const bool waits = request.batch || fleet.fleet().slo_classes[request.slo.value].deferrable();
  const auto cheapest =
      fleet.cheapest_payg(fleet[decision.chosen].model, request.compliance, request.data_class, usage, waits);
  if (cheapest) decided.cheapest_payg = cheapest->offer;
  return decided;
}

}  // namespace ace
