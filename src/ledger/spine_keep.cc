/// Which requests of a fold are at hand, and how one that no longer is comes back.
#include "ledger/spine_state.h"

namespace ace {

std::uint32_t SpineLedger::State::slot_of(RequestId id, std::uint64_t sequence) {
  if (const std::uint32_t slot = index.find(id); slot != RequestIndex::kNone) return slot;
  std::uint32_t slot = 0;
  if (free.empty()) {
    slot = static_cast<std::uint32_t>(pool.size());
    pool.emplace_back();
  } else {
    slot = free.back();
    free.pop_back();
  }
  pool[slot].reset();
  pool[slot].sequence = sequence;
  pool[slot].id = id;
  index.insert(id, slot);
  return slot;
}

void SpineLedger::State::drop(std::uint32_t slot) {
  index.erase(pool[slot].id);
  pool[slot].live = false;
  free.push_back(slot);
}

void SpineLedger::State::remember(std::uint32_t slot) {
  recent.push_back(slot);
  if (recent.size() <= kRecent) return;
  if (const FoldedRequest& oldest = pool[recent.front()]; oldest.in_gap) gapped.emplace(oldest.id.high, oldest.id.low);
  drop(recent.front());
  recent.pop_front();
}

Result<bool> SpineLedger::State::recall(std::uint32_t tenant, RequestId id, std::uint64_t before) {
  if (!options.recall) return false;
  const Result<std::vector<event::Record>> facts = options.recall(tenant, id, before);
  if (!facts) return Error(facts.error()).with("recalling " + to_string(id));
  const bool ended = std::any_of(facts->begin(), facts->end(), [](const event::Record& r) {
    return std::holds_alternative<event::Completed>(r.event);
  });
  const bool admitted = std::any_of(facts->begin(), facts->end(), [](const event::Record& r) {
    return std::holds_alternative<event::Admitted>(r.event);
  });
  if (!admitted || !ended) return false;
  const std::uint32_t slot = slot_of(id, before);
  FoldedRequest& request = pool[slot];
  for (const event::Record& record : *facts) {
    const Result<std::uint32_t> era = era_of(record);
    const Result<void> entered = era ? enter(request, record, *era) : Result<void>(era.error());
    if (entered) continue;
    drop(slot);
    return Error(entered.error()).with("recalling " + to_string(id));
  }
  request.state = FoldedRequest::State::booked;
  request.in_gap = gapped.erase({id.high, id.low}) > 0;
  request.ticket = {budgets.places(budgets_for(request), request.a.at), {}};
  request.booked_cost = settle(request).chain.c[4];
  remember(slot);
  return true;
}

}  // namespace ace
