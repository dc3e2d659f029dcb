/// What others tell of destinations, beside what became of our own requests there.
#include <algorithm>

#include "gateway/desk.h"
#include "gateway/era.h"

namespace ace::gateway {
namespace {

/// What a provider has left moves with every answer; a log that has it once a second shows how it ran out.
constexpr Duration kToldEvery = kSecond;

}  // namespace

bool Desk::observed(Era& era, Instant now, event::CapacityObserved seen) {
  if (spine_down_) return false;
  const std::shared_ptr<Telling> telling = telling_of(era, acts_alone(), now);
  event::Record record;
  const RequestId id = make_request_id(now, ids_);
  record.id = {id.high, id.low};
  if (telling) record.snapshot = telling->number;
  seen.at = now;
  record.event = seen;
  if (telling && spine_.append(record)) return true;
  lose();
  return false;
}

void Desk::scraped(Instant at, const Scraped& look) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  Era& era = *eras_.back();
  if (era.world != look.world) return;
  if (look.answered > 0) era.belief.scraped(now, look.destination, look.load);
  const auto [known, fresh] = era.answering.try_emplace(look.destination.value, -1);
  if (known->second == look.answered) return;
  event::CapacityObserved seen;
  seen.source = event::CapacityObserved::Source::prometheus;
  seen.destination = look.destination;
  seen.units_running = seen.units_healthy = look.answered;
  seen.units_total = look.declared;
  if (observed(era, now, seen)) known->second = look.answered;
}

void Desk::told(Instant at, const Flight& f, const RateWindows& windows) {
  if (std::all_of(windows.begin(), windows.end(), [](const RateWindow& w) { return w.remaining < 0; })) return;
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  f.era->belief.told(now, f.claim, windows);
  for (const Flight::Later& later : f.later) later.era->belief.told(now, later.claim, windows);
  if (f.era != eras_.back()) return;  // a fleet that is over is not declared again for it, or it would be the newest
  const DestinationId destination = f.era->world->snapshot[f.offer].destination;
  const auto [last, fresh] = f.era->told.try_emplace(destination.value, now);
  if (!fresh && now < last->second + kToldEvery) return;
  last->second = now;
  event::CapacityObserved seen;
  seen.source = event::CapacityObserved::Source::provider;
  seen.destination = destination;
  seen.tokens_remaining = windows[static_cast<std::size_t>(RateLimit::tokens)].remaining;
  seen.requests_remaining = windows[static_cast<std::size_t>(RateLimit::requests)].remaining;
  (void)observed(*f.era, now, seen);
}

}  // namespace ace::gateway
