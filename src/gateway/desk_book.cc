/// How a live request ends, and what the spine is told of it on the way.
#include <algorithm>

#include "core/per_token.h"
#include "gateway/desk.h"
#include "gateway/era.h"

namespace ace::gateway {
namespace {

/// How often a spine that could not be written is tried again.
constexpr Duration kSpineRetry{100'000'000};

/// Who waited for a whole answer did not see when its first token came. Its time is told in the proportion of what its
/// class allows, or its destination declares, for the first token and for the others; so its limits are kept exactly if
/// the whole came within TTFT + (n - 1) x TPOT.
struct Pace {
  Duration ttft{0}, tpot{0};
};
Pace pace_of_whole(const SloClass& slo, const Latency& declared, Duration total, std::int64_t output) {
  const Duration first = std::max(slo.ttft.value_or(declared.ttft_p50), Duration{1});
  const Duration next = slo.tpot.value_or(declared.tpot_p50);
  const std::int64_t others = std::max<std::int64_t>(output - 1, 0);
  const int128 allowed = int128{nanos(first)} + int128{nanos(next)} * others;
  const auto share = [&](Duration part, int128 more) {
    return Duration{static_cast<std::int64_t>((int128{nanos(part)} * nanos(total) + more) / allowed)};
  };
  if (others == 0) return {total, Duration{0}};
  return {share(first, allowed - 1), share(next, 0)};  // rounded up: what came too late is never told as in time
}

std::int64_t verbosity_of(const Fleet& fleet, ModelId requested, ModelId used) {
  for (const Equivalent& e : fleet.models[requested.value].equivalents)
    if (e.model == used) return std::max<std::int64_t>(e.verbosity_ppm, 1);
  return 1'000'000;
}

}  // namespace

void Desk::record(Flight& f, event::Event e, std::uint32_t ordinal, event::Evidence evidence) {
  if (!f.telling) return;
  if (f.telling->broken) {  // the spine lost something of this stream meanwhile: a half would be worse than nothing
    f.telling = nullptr;
    return;
  }
  event::Record r;
  r.id = {f.id.high, f.id.low};
  r.tenant = f.admitted.tenant;
  r.ordinal = ordinal;
  r.snapshot = f.telling->number;
  r.event = std::move(e);
  r.evidence = std::move(evidence);
  if (spine_.append(r)) {
    f.position = spine_.position();
    return;
  }
  lose();
  f.telling = nullptr;
}

bool Desk::when_durable(const Telling* telling, std::uint64_t position, std::function<void()> then) {
  {
    const std::scoped_lock lock(mutex_);
    if (telling == nullptr || telling->broken) {
      if (!options_.serve_unledgered) return false;
      position = 0;
    }
  }
  spine_.when_durable(position, std::move(then));
  return true;
}
bool Desk::when_durable(const Flight& f, std::function<void()> then) {
  return when_durable(f.telling.get(), f.position, std::move(then));
}
bool Desk::when_durable(const HandedOn& what, std::function<void()> then) {
  return when_durable(what.telling.get(), what.position, std::move(then));
}

/// The attempt under way has ended, and is billed to the offer that it went to. @see record_attempts
event::Attempted& Desk::attempted(Flight& f, Instant now, const Usage& billed) {
  event::Attempted& attempt = f.attempts.emplace_back();
  attempt.id = f.id;
  attempt.offer = attempt.billed_as = f.offer;
  attempt.from = attempt.energy_hour = f.sent;
  attempt.to = now;
  attempt.billed = billed;
  return attempt;
}

/// The same of one that was answered, perhaps by another deployment than was asked.
void Desk::attempted(Flight& f, Instant now, const Answered& answered) {
  event::Attempted& attempt = attempted(f, now, answered.usage);
  attempt.answered = true;
  if (answered.billed_as.valid()) attempt.billed_as = answered.billed_as;
}

void Desk::record_attempts(Flight& f) {
  for (; f.told_attempts < f.attempts.size(); ++f.told_attempts)
    record(f, f.attempts[f.told_attempts], f.told_attempts);
}

/// Nothing more is written until the fleet is declared anew: a reader then starts from its priors again.
void Desk::lose() {
  if (!spine_down_) down_since_ = now_;
  spine_down_ = true;
  for (const auto& era : eras_) {
    era->anew = true;
    for (auto& telling : era->tellings) {
      if (telling) telling->broken = true;
      telling = nullptr;
    }
  }
}

bool Desk::recover(Instant now) {
  if (now < tried_ + kSpineRetry) return false;
  tried_ = now;
  Era& era = *eras_.back();
  const std::shared_ptr<Telling> telling = telling_of(era, acts_alone(), now);
  if (!telling) return false;
  event::Record gap;
  const RequestId id = make_request_id(now, ids_);
  gap.id = {id.high, id.low};
  gap.snapshot = telling->number;
  gap.event = event::Gap{spine_.cause(), down_since_, now, -1};
  if (!spine_.append(gap)) {
    lose();
    return false;
  }
  spine_down_ = false;
  if (Accrual& last = accruals_.back(); last.number) {  // its time went on under that number until now
    last.ended = now;
    begin_accrual(now);
  } else {
    last.number = telling->number;
  }
  return true;
}

Desk::Receipt Desk::completed(Instant at, Flight& f, const Answered& answered) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  const Snapshot& snapshot = f.era->world->snapshot;
  const Fleet& fleet = snapshot.fleet();
  const Offer& offer = snapshot[f.offer];
  const SloClass& slo = fleet.slo_classes[f.admitted.slo.value];
  const Latency& declared = fleet.destinations[offer.destination.value].latency;
  const std::int64_t output = answered.usage.completion().value;

  attempted(f, now, answered);

  event::Completed c;
  c.id = f.id;
  c.at = now;
  c.outcome = event::Outcome::served;
  remember_prompt(f, now);
  c.offer = f.offer;
  c.usage = answered.usage;
  const std::int64_t verbosity = verbosity_of(fleet, f.admitted.requested, offer.model);
  c.output_requested = Tokens{static_cast<std::int64_t>(divide_half_away(int128{output} * 1'000'000, verbosity))};
  c.h1 = Tokens{answered.usage[Unit::cached_input]};
  const Duration total = now - f.admitted.at;
  Observed seen{Tokens{output}, c.h1, now - f.sent, Duration{0}};
  if (f.first_token != Instant{}) {
    c.ttft = f.first_token - f.admitted.at;
    c.tpot = per_token(now - f.first_token, output);
    seen.ttft = f.first_token - f.sent;
    seen.tpot = c.tpot;
  } else {
    const Pace pace = pace_of_whole(slo, declared, total, output);
    c.ttft = pace.ttft;
    c.tpot = pace.tpot;
    const Pace there = pace_of_whole(slo, declared, now - f.sent, output);
    seen.ttft = there.ttft;
    if (!offer.profile) seen.tpot = there.tpot;  // of an engine of ours, a guess must not teach how fast it is
  }
  c.slo_met = slo.kept(c.ttft, c.tpot, total);
  f.era->belief.completed(now, f.claim, seen, c.slo_met);
  for (const Flight::Later& later : f.later) later.era->belief.completed(now, later.claim, seen, c.slo_met);
  f.later.clear();
  f.claimed = false;
  return end(now, f, c);
}

Desk::Receipt Desk::answered_from_cache(Instant at, Flight& f, RequestId source, const Usage& usage) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  event::CacheHit hit;
  hit.id = f.id;
  hit.at = now;
  hit.source = source;
  record(f, hit);
  event::Completed c;
  c.id = f.id;
  c.at = now;
  c.outcome = event::Outcome::cache_hit;
  c.usage = usage;
  c.output_requested = usage.completion();
  c.slo_met = true;
  c.exact_match = true;
  return end(now, f, c);
}

Desk::Receipt Desk::gave_up(Instant at, Flight& f) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  event::Completed c;
  c.id = f.id;
  c.at = now;
  c.outcome = event::Outcome::not_served;
  c.verdict = f.verdict == Verdict::dispatched ? Verdict::no_capacity : f.verdict;
  return end(now, f, c);
}

Desk::Receipt Desk::aborted(Instant at, Flight& f, const Answered& so_far) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  event::Completed c;
  c.id = f.id;
  c.at = now;
  if (!f.claimed) {  // nothing was sent: nobody worked on it
    c.outcome = event::Outcome::not_served;
    c.verdict = f.verdict == Verdict::dispatched ? Verdict::no_capacity : f.verdict;
    return end(now, f, c);
  }
  const Tokens output = so_far.usage.completion();
  const Observed seen{output, Tokens{so_far.usage[Unit::cached_input]}, Duration{0}, Duration{0}};
  f.era->belief.aborted(now, f.claim, seen);
  for (const Flight::Later& later : f.later) later.era->belief.aborted(now, later.claim, seen);
  f.later.clear();
  f.claimed = false;
  attempted(f, now, so_far);
  c.outcome = event::Outcome::client_abort;
  c.offer = f.offer;
  c.usage = so_far.usage;
  c.output_requested = output;
  c.h1 = Tokens{so_far.usage[Unit::cached_input]};
  if (f.first_token != Instant{}) c.ttft = f.first_token - f.admitted.at;
  return end(now, f, c);
}

Desk::Receipt Desk::end(Instant now, Flight& f, event::Completed c) {
  ACE_CHECK(!f.ended && !f.claimed, "a request ends once, and gives back what it held");
  f.ended = true;
  leave_queue(f);
  record_attempts(f);
  const Settled settled = f.era->settler.settle(f.admitted, f.decided, f.attempts, c);
  Receipt receipt;
  receipt.cost = settled.chain.c[4];
  receipt.baseline = settled.chain.c[0];
  receipt.priced = settled.answered() && settled.excluded == Reason::none;
  receipt.slo_met = c.slo_met;
  receipt.attempts = f.attempts.size();
  if (budgets_ != nullptr && !f.ticket.places.empty()) budgets_->post(f.ticket, receipt.cost, now);
  record(f, c);
  judge(now, f, c, receipt);
  remember(now, f, c, receipt);
  flights_.erase(f.id);
  --f.era->flights;
  std::erase_if(eras_, [&](const auto& era) { return era != eras_.back() && era->flights == 0; });
  wake_all();
  return receipt;
}

}  // namespace ace::gateway
