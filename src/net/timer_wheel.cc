#include "net/timer_wheel.h"

#include <algorithm>

#include "core/check.h"

namespace ace::net {

void Timer::unlink() {
  if (next_ == nullptr) return;
  previous_->next_ = next_;
  next_->previous_ = previous_;
  previous_ = next_ = nullptr;
}

void Timer::link_after(Timer& head) {
  next_ = head.next_;
  previous_ = &head;
  head.next_->previous_ = this;
  head.next_ = this;
}

TimerWheel::TimerWheel(std::chrono::nanoseconds tick, std::size_t slots, Steady now) : tick_(tick), hand_(now) {
  ACE_CHECK(tick.count() > 0 && slots > 1, "a wheel needs ticks and slots");
  for (std::size_t i = 0; i < slots; ++i) {
    auto* head = new Timer;
    head->next_ = head->previous_ = head;
    slots_.push_back(head);
  }
}

TimerWheel::~TimerWheel() {
  for (Timer* head : slots_) {
    while (head->next_ != head) head->next_->unlink();
    head->next_ = head->previous_ = nullptr;
    delete head;
  }
}

void TimerWheel::place(Timer& timer) {
  // The tick in which it is due; one beyond the turn waits in the last slot and is placed again from there.
  const auto ticks = std::max<std::int64_t>((timer.deadline_ - hand_ + tick_ - std::chrono::nanoseconds{1}) / tick_, 1);
  const auto ahead = static_cast<std::size_t>(std::min<std::int64_t>(ticks, static_cast<std::int64_t>(slots_.size())));
  timer.slot_time_ = hand_ + tick_ * static_cast<std::int64_t>(ahead);
  timer.link_after(*slots_[(at_ + ahead - 1) % slots_.size()]);
}

void TimerWheel::arm(Timer& timer, Steady deadline) {
  timer.deadline_ = deadline;
  if (timer.next_ != nullptr) {
    if (deadline >= timer.slot_time_) return;
    timer.unlink();
  }
  if (deadline != kNever) place(timer);
}

void TimerWheel::advance(Steady now) {
  // After a long pause one turn is enough to meet every timer.
  if (now - hand_ > tick_ * static_cast<std::int64_t>(2 * slots_.size()))
    hand_ = now - tick_ * static_cast<std::int64_t>(slots_.size());
  while (hand_ + tick_ <= now) {
    Timer due;
    Timer& slot = *slots_[at_];
    due.next_ = due.previous_ = &due;
    if (slot.next_ != &slot) {  // take the whole ring, so that what is armed meanwhile waits for the next turn
      due.next_ = slot.next_;
      due.previous_ = slot.previous_;
      due.next_->previous_ = due.previous_->next_ = &due;
      slot.next_ = slot.previous_ = &slot;
    }
    hand_ += tick_;
    at_ = (at_ + 1) % slots_.size();
    while (due.next_ != &due) {
      Timer& timer = *due.next_;
      timer.unlink();
      if (timer.deadline_ == kNever) continue;
      if (timer.deadline_ > hand_) {
        place(timer);
        continue;
      }
      timer.deadline_ = kNever;
      timer.on_expiry_();
    }
    due.next_ = due.previous_ = nullptr;
  }
}

bool TimerWheel::empty() const {
  return std::all_of(slots_.begin(), slots_.end(), [](const Timer* head) { return head->next_ == head; });
}

}  // namespace ace::net
