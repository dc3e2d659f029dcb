/// What the engine says of its world in a gateway's words.
#include "ledger/decided.h"
#include "replay/engine.h"

namespace ace {

void Engine::record(Instant now, event::Event event) {
  event::Record record;
  const RequestId id = make_request_id(now, event_ids_);
  record.id = {id.high, id.low};
  record.snapshot = fleet_->fleet().number;
  record.event = std::move(event);
  sink_.recorded(now, std::move(record));
}

void Engine::record(Instant now, const Flight& flight, event::Event event, std::uint32_t ordinal,
                    event::Evidence evidence) {
  event::Record record;
  record.id = {flight.decided.id.high, flight.decided.id.low};
  record.tenant = flight.demand.arrival.tenant;
  record.ordinal = ordinal;
  record.snapshot = fleet_->fleet().number;
  record.event = std::move(event);
  record.evidence = std::move(evidence);
  sink_.recorded(now, std::move(record));
}

event::FirstToken Engine::first_token(const Flight& flight) {
  return {flight.decided.id, flight.first_token, flight.offer, flight.first_token - flight.demand.arrival.at};
}

/// A request that waits looks again and again; only what becomes of it is an event.
void Engine::record_decision(Flight& flight, const Request& request, const Live& live, const Decision& decision,
                             Instant now) {
  if (decision.verdict != Verdict::dispatched && flight.told == decision.verdict) return;
  flight.told = decision.verdict;
  const event::Decided decided =
      decided_event(*fleet_, fleet_->fleet().number, flight.decided.id, now, request, live, decision);
  record(now, flight, decided, flight.told_decisions++,
         witness_of_->evidence(request, now, live, scratch_, options_.record_columns));
}

void Engine::record_attempts(Flight& flight, Instant now) {
  if (!recording()) return;
  for (; flight.told_attempts < flight.failures.size(); ++flight.told_attempts)
    record(now, flight, flight.failures[flight.told_attempts], flight.told_attempts);
}

void Engine::record_end(Flight& flight, Instant now, event::Outcome outcome, Verdict verdict) {
  if (!recording()) return;
  record_attempts(flight, now);
  const event::Completed end = completed(flight, now, outcome, verdict);
  if (outcome == event::Outcome::cache_hit) {
    event::CacheHit hit;  // the log does not say whose answer it was
    hit.id = flight.decided.id;
    hit.at = now;
    record(now, flight, hit);
  }
  record(now, flight, end);
}

}  // namespace ace
