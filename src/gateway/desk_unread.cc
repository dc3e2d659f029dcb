/// What is handed on unread, on the spine.
#include <algorithm>

#include "gateway/desk.h"
#include "gateway/era.h"

namespace ace::gateway {
namespace {

event::Record record_of(const HandedOn& what, std::uint32_t ordinal) {
  event::Record record;
  record.id = {what.event.id.high, what.event.id.low};
  record.tenant = what.event.tenant;
  record.ordinal = ordinal;
  record.snapshot = what.telling->number;
  record.event = what.event;
  return record;
}

}  // namespace

std::variant<HandedOn, Desk::Refusal> Desk::hand_on(Instant at, const Unread& unread) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  const std::shared_ptr<Era> era = era_of(unread.world);
  if (!era) return Refusal{.why = Refused::outdated};
  if (spine_down_ && !recover(now) && !options_.serve_unledgered) return Refusal{.why = Refused::spine};
  const Caller& caller = unread.caller;
  if (budgets_ != nullptr) {
    // What it costs cannot be held, so a budget that must not be exceeded does not let it through. One for a model does
    // not hold for it: which model it asks for is not known.
    const BudgetBook book = budgets_->book();
    for (const std::uint32_t budget : book.matching({caller.tenant, caller.team, caller.project, caller.key, {}}))
      if (book.budgets()[budget].hard)
        return Refusal{.why = Refused::unpriced, .budget_name = book.budgets()[budget].name};
  }
  HandedOn out;
  event::Passed& e = out.event;
  e.id = make_request_id(now, ids_);
  e.at = now;
  e.declared_tenant = caller.declared;
  e.compliance = caller.compliance;
  e.destination = unread.destination;
  e.sent = unread.bytes;
  if (!spine_down_) out.telling = telling_of(*era, acts_alone(), now);
  if (out.telling) {
    const std::optional<Symbols> names = symbols_of(caller, now);
    if (names) {
      e.tenant = names->tenant;
      e.team = names->team;
      e.project = names->project;
      e.key = names->key;
    }
    if (!names || !spine_.append(record_of(out, 0))) out.telling = nullptr;
    out.position = spine_.position();
  }
  if (!out.telling) {
    if (!spine_down_) lose();
    if (!options_.serve_unledgered) return Refusal{.why = Refused::spine};
    ++unledgered_;
  }
  return out;
}

void Desk::handed_on(Instant at, const HandedOn& what, int status, std::int64_t received) {
  const std::scoped_lock lock(mutex_);
  const Instant now = tick(at);
  if (!what.telling || what.telling->broken) return;
  HandedOn end = what;
  end.event.at = now;
  end.event.status = status;
  end.event.received = received;
  if (!spine_.append(record_of(end, 1))) lose();
}

}  // namespace ace::gateway
