/// Room: who waits for it, what holds some virtually, and what is cached where.
#include <algorithm>

#include "gateway/desk.h"
#include "gateway/era.h"

namespace ace::gateway {

/// From dispatch to the last token, as declared or as the hardware says at half its batch.
Duration Desk::predicted_residence(const World& world, const Request& request, OfferId id) {
  const Offer& offer = world.snapshot[id];
  const double output = request.predicted.output_mean;
  if (offer.profile) {
    const ServerProfile& p = *offer.profile;
    const double step = step_seconds(p, static_cast<double>(p.batch_max) / 2.0, 0.0);
    return from_seconds(static_cast<double>(request.prompt.value) / p.prefill_tokens_per_s + output * step);
  }
  const Latency& latency = world.fleet.destinations[offer.destination.value].latency;
  return from_seconds(to_seconds(latency.ttft_p50) + output * to_seconds(latency.tpot_p50));
}

void Desk::predict_cached(Era& era, const Flight& f, Live& live, Instant now) {
  const Snapshot& snapshot = era.world->snapshot;
  for (const OfferId id : snapshot.candidates(f.admitted.requested)) {
    const PrefixIndex* const cache = era.prefixes.destination[snapshot[id].destination.value];
    live.cached[id.value] = cache == nullptr || f.blocks.empty()
                                ? 0
                                : static_cast<std::int32_t>(cache->matched(f.blocks, f.admitted.prompt, now).value);
  }
}

void Desk::remember_prompt(const Flight& f, Instant now) {
  if (f.blocks.empty()) return;
  const DestinationId at = f.era->world->snapshot[f.offer].destination;
  if (PrefixIndex* const cache = f.era->prefixes.destination[at.value]) cache->insert(f.blocks, now);
}

void Desk::occupy_virtually(Era& era, const Request& request, const Decision& decision, Instant now) {
  Era::Virtual v;
  v.claim = era.belief.dispatched(now, request, decision);
  v.until = now + predicted_residence(*era.world, request, decision.chosen);
  v.output = static_cast<std::int64_t>(request.predicted.output_mean + 0.5);
  era.virtually.push(std::move(v));
}

void Desk::release_virtual(Era& era, Instant now) {
  while (!era.virtually.empty() && era.virtually.top().until <= now) {
    const Era::Virtual& v = era.virtually.top();
    era.belief.aborted(now, v.claim, Observed{Tokens{v.output}, Tokens{v.claim.cached}, Duration{0}, Duration{0}});
    era.virtually.pop();
  }
}

void Desk::wait(Flight& f) {
  if (f.waiting) return;
  if (queue_.size() >= options_.waiting_max) {
    Flight* const last = queue_.empty() ? nullptr : *std::prev(queue_.end());
    ++shed_;
    if (last == nullptr || !Order{}(&f, last)) {
      f.shed = true;
      return;
    }
    last->shed = true;
    leave_queue(*last);
    if (last->wake) last->wake();
  }
  f.waiting = true;
  queue_.insert(&f);
}

void Desk::leave_queue(Flight& f) {
  if (!f.waiting) return;
  queue_.erase(&f);
  f.waiting = false;
}

/// The one of this model that is next looks again.
void Desk::wake_next(ModelId model) {
  for (Flight* const f : queue_)
    if (f->admitted.requested == model) {
      if (f->wake) f->wake();
      return;
    }
}

/// Something became free: the next of each model looks again.
void Desk::wake_all() {
  if (queue_.empty()) return;
  std::vector<ModelId> woken;
  for (Flight* const f : queue_) {
    const ModelId model = f->admitted.requested;
    if (std::find(woken.begin(), woken.end(), model) != woken.end()) continue;
    woken.push_back(model);
    if (f->wake) f->wake();
  }
}

}  // namespace ace::gateway
