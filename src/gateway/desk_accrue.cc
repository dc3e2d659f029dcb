/// What is paid whether it is used or not: recorded while it accrues, in turns that no request notices.
#include "gateway/desk.h"
#include "gateway/era.h"

namespace ace::gateway {
namespace {

/// Records that are handed over under one hold of the lock: a large fleet has thousands, and requests wait.
constexpr int kAtOnce = 16;

}  // namespace

/// Another world or stream is in force from now on, or the same under another number.
void Desk::begin_accrual(Instant now) {
  accruals_.push_back({StandingCost(world_.load(), now), {}, {}});
  number_accrual(now);
}

/// The last one ends. @pre eras_ and the mode are still its own
void Desk::end_accrual(Instant now) {
  if (spine_down_) (void)recover(now);
  number_accrual(now);  // the last chance: a number given later would make its fleet the newest
  accruals_.back().ended = now;
}

/// Gives the last one the number of what it accrues under, if it can be had and will be needed.
void Desk::number_accrual(Instant now) {
  Accrual& last = accruals_.back();
  if (last.number || spine_down_ || !last.cost.any()) return;
  if (const auto telling = telling_of(*eras_.back(), acts_alone(), now)) last.number = telling->number;
}

void Desk::accrue(Instant at, Duration least) {
  const std::scoped_lock turn(accruing_);
  const Instant now = [&] {
    const std::scoped_lock lock(mutex_);
    return tick(at);
  }();
  while (pay()) {
    std::optional<StandingCost> due;
    Instant until = now;
    {
      const std::scoped_lock lock(mutex_);
      const Accrual& first = accruals_.front();
      until = first.ended.value_or(now);
      if (!first.ended && (now <= first.cost.told() || now < first.cost.told() + least)) return;
      due = first.cost;
    }
    std::vector<event::Event> events = due->until(until);  // not under the lock: a long stretch has many hours
    std::optional<std::uint64_t> number;
    {
      const std::scoped_lock lock(mutex_);
      if (accruals_.size() == 1) number_accrual(now);
      Accrual& first = accruals_.front();
      number = first.number;
      if (!number && !first.ended && !events.empty()) return;
      first.cost.said(until);
      if (first.ended == until) accruals_.pop_front();
    }
    if (!number) continue;  // nothing to say, or the spine never heard of it: it came and went inside a gap
    for (event::Event& e : events) owed_.push_back({*number, std::move(e)});
  }
}

/// Hands over what is owed. Nothing of it follows from what is believed, so a number that requests write no more under
/// is still good for it; and what is not taken now stays owed, which is no loss. @return whether all of it was taken
bool Desk::pay() {
  while (true) {
    const std::scoped_lock lock(mutex_);
    if (spine_down_ && !recover(now_)) return false;
    for (int i = 0; i < kAtOnce; ++i) {
      if (owed_.empty()) return true;
      event::Record record;
      const RequestId id = make_request_id(now_, ids_);
      record.id = {id.high, id.low};
      record.snapshot = owed_.front().number;
      record.event = owed_.front().event;
      if (!spine_.append(record)) return false;
      owed_.pop_front();
    }
  }
}

}  // namespace ace::gateway
