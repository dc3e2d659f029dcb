/// Who chooses: the merit order, or the rules it is compared with.
#include <algorithm>

#include "replay/engine.h"

namespace ace {

Engine::Order Engine::order_of(ModelId model) const {
  Order order;
  const std::optional<Baseline>& fallback = fleet_->fleet().models[model.value].baseline;
  for (const OfferId offer : fleet_->candidates(model)) {
    if ((*fleet_)[offer].model != model) break;  // from here on equivalents
    order.all.push_back(offer);
    if (fallback && (*fleet_)[offer].destination == fallback->destination)
      order.fallback = offer;
    else
      order.declared.push_back(offer);
  }
  const auto declared = [&](OfferId offer) {
    return std::pair(fleet_->fleet().destinations[(*fleet_)[offer].destination.value].declared, offer);
  };
  std::sort(order.declared.begin(), order.declared.end(),
            [&](OfferId a, OfferId b) { return declared(a) < declared(b); });
  return order;
}

Decision Engine::choose(const Request& request, Live& live, Instant now) {
  if (options_.dispatching == Dispatching::merit_order) return decide(*fleet_, live, request, now, scratch_);
  const Order& order = orders_[request.model.value];
  const std::span<const Lot> lots = admissible(*fleet_, live, request, now, scratch_);
  const auto is_in = [&](OfferId offer) {
    const std::size_t at = offer.value - order.all.front().value / kLot * kLot;
    return (lots[at / kLot].in >> at % kLot & 1U) != 0;
  };
  Decision decision;
  decision.feasible = static_cast<std::uint32_t>(std::count_if(order.all.begin(), order.all.end(), is_in));
  if (decision.feasible > 0 && options_.dispatching == Dispatching::round_robin) {
    std::size_t before = turn_++ % decision.feasible;
    decision.chosen =
        *std::find_if(order.all.begin(), order.all.end(), [&](OfferId o) { return is_in(o) && before-- == 0; });
  } else {
    const auto first = std::find_if(order.declared.begin(), order.declared.end(), is_in);
    if (first != order.declared.end()) decision.chosen = *first;
    if (order.fallback.valid() && is_in(order.fallback) &&
        (!decision.chosen.valid() || (*fleet_)[decision.chosen].tier == Tier::payg))
      decision.chosen = order.fallback;
  }
  if (!decision.chosen.valid())
    return decide(*fleet_, live, request, now, scratch_);  // for the verdict: nothing, or an equivalent only
  decision.verdict = Verdict::dispatched;
  return decision;
}

}  // namespace ace
