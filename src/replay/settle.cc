/// How a request ends: what it used, whether it came as promised, what it cost.
#include <algorithm>

#include "core/per_token.h"
#include "replay/engine.h"
#include "replay/usage_of.h"

namespace ace {

void Engine::complete(std::uint32_t number, Instant now, event::Outcome outcome, Verdict verdict) {
  Flight& flight = flights_[number];
  if (outcome == event::Outcome::served) {
    event::Attempted& answer = flight.failures.emplace_back();
    answer.id = flight.decided.id;
    answer.offer = flight.offer;
    answer.from = answer.energy_hour = flight.dispatched;
    answer.to = now;
    answer.answered = true;
    answer.billed = usage_of(flight.demand.arrival, flight.cached, flight.output);
    answer.billed_as = flight.billed_as;
  }
  record_end(flight, now, outcome, verdict);
  if (sink_.settled)
    settle(flight, now, outcome, verdict);
  else
    spend(flight, now, outcome);
  last_completion_ = std::max(last_completion_, now);
  free_.push_back(number);
}

void Engine::spend(const Flight& flight, Instant now, event::Outcome outcome) {
  const Arrival& arrival = flight.demand.arrival;
  Spent spent;
  spent.row = arrival.row;
  spent.cost = settler_.paid(flight.failures);
  const bool hit = outcome == event::Outcome::cache_hit;
  spent.answered = hit || outcome == event::Outcome::served;
  spent.slo_met = hit || (spent.answered && fleet_->fleet().slo_classes[flight.demand.slo.value].kept(
                                                flight.first_token - arrival.at,
                                                per_token(now - flight.first_token, flight.output), now - arrival.at));
  spent.observed = arrival.cost_nano >= 0;
  sink_.spent(spent);
}

event::Admitted Engine::admitted(const Flight& flight) const {
  const Arrival& arrival = flight.demand.arrival;
  event::Admitted admitted;
  admitted.id = flight.decided.id;
  admitted.row = arrival.row;
  admitted.at = arrival.at;
  admitted.tenant = arrival.tenant;
  admitted.team = arrival.team;
  admitted.project = arrival.project;
  admitted.key = arrival.key;
  admitted.declared_tenant = flight.demand.tenant;
  admitted.requested = flight.demand.model;
  admitted.slo = flight.demand.slo;
  admitted.compliance = flight.demand.compliance;
  admitted.prompt = Tokens{arrival.prompt};
  admitted.max_output = Tokens{arrival.max_output};
  admitted.needs = kText | arrival.needs;
  admitted.h0 = Tokens{flight.h0};
  admitted.batch = arrival.batch;
  return admitted;
}

event::Completed Engine::completed(const Flight& flight, Instant now, event::Outcome outcome, Verdict verdict) const {
  const Arrival& arrival = flight.demand.arrival;
  event::Completed completed;
  completed.id = flight.decided.id;
  completed.at = now;
  completed.outcome = outcome;
  completed.verdict = verdict;
  completed.observed_cost_nano = arrival.cost_nano;
  completed.in_gap = options_.gaps.hold(flight.decided.at);
  if (outcome ==
      event::Outcome::cache_hit) {  // at once, for the price of a look-up: the gateway's hosts are fixed cost
    completed.usage = usage_of(arrival, 0, arrival.output);
    completed.output_requested = Tokens{arrival.output};
    completed.slo_met = true;
    // The log does not say whether its cache compares whole requests; the fleet file may.
    completed.exact_match = fleet_->fleet().policies.response_cache;
  }
  if (outcome == event::Outcome::served) {
    completed.offer = flight.offer;
    completed.usage = flight.failures.back().billed;
    completed.output_requested = Tokens{arrival.output};
    completed.h1 = Tokens{flight.cached};
    completed.ttft = flight.first_token - arrival.at;
    completed.tpot = per_token(now - flight.first_token, flight.output);
    const SloClass& slo = fleet_->fleet().slo_classes[flight.demand.slo.value];
    completed.slo_met = slo.kept(completed.ttft, completed.tpot, now - arrival.at);
  }
  return completed;
}

void Engine::settle(Flight& flight, Instant now, event::Outcome outcome, Verdict verdict) {
  const Arrival& arrival = flight.demand.arrival;
  const event::Completed end = completed(flight, now, outcome, verdict);
  if (outcome == event::Outcome::served) {
    if (options_.note_late_hits && !flight.blocks.empty() && flight.cached > 0 &&
        (flight.dispatched > arrival.at || flight.attempts > 1))
      late_hits_.push_back({arrival.row, flight.cached});
    flight.decided.cheapest_payg = OfferId{};
    if ((*fleet_)[flight.billed_as].tier != Tier::payg)  // C3 of an answer by an API is its own price
      flight.decided.cheapest_payg = cheapest_payg(flight.demand, flight.offer, end.usage);
  }
  sink_.settled(settler_.settle(admitted(flight), flight.decided, flight.failures, end));
}

OfferId Engine::cheapest_payg(const Demand& demand, OfferId offer, const Usage& usage) const {
  const SloClass& slo = fleet_->fleet().slo_classes[demand.slo.value];
  const auto cheapest = fleet_->cheapest_payg((*fleet_)[offer].model, demand.compliance, demand.data_class, usage,
                                              demand.arrival.batch || slo.deferrable());
  return cheapest ? cheapest->offer : OfferId{};
}

}  // namespace ace
