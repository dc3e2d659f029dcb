#include "net/loop.h"

#include <asio/post.hpp>
#include <chrono>

#include "net/asio_loop.h"

namespace ace::net {

Loop::Loop() : core_(std::make_unique<Core>()) {}
Loop::~Loop() = default;

void Loop::run() {
  core_->stopped = false;
  while (!core_->stopped) {
    core_->now_fresh = core_->utc_fresh = false;
    core_->io.run_one();
  }
}

void Loop::stop() {
  asio::post(core_->io, [this] { core_->stopped = true; });
}

void Loop::post(std::function<void()> work) { asio::post(core_->io, std::move(work)); }

Steady Loop::now() {
  if (!core_->now_fresh) {
    core_->now = std::chrono::steady_clock::now();
    core_->now_fresh = true;
  }
  return core_->now;
}

Instant Loop::utc() {
  if (!core_->utc_fresh) {
    core_->utc = Instant{std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
    core_->utc_fresh = true;
  }
  return core_->utc;
}

void Loop::arm(Timer& timer, Steady deadline) {
  core_->wheel.arm(timer, deadline);
  if (deadline != kNever && !core_->ticking) start_tick();
}

void Loop::start_tick() {
  core_->ticking = true;
  core_->tick.expires_after(std::chrono::milliseconds{8});
  core_->tick.async_wait([this](const asio::error_code& error) {
    core_->ticking = false;
    if (error) return;
    core_->wheel.advance(now());
    // An idle loop sleeps: the tick stops with the last timer.
    if (!core_->wheel.empty() && !core_->ticking) start_tick();
  });
}

Cancel::Subscription::Subscription(Cancel& cancel, std::function<void()> on_cancel)
    : cancel_(cancel), next_(cancel.first_), on_cancel_(std::move(on_cancel)) {
  if (next_ != nullptr) next_->previous_ = this;
  cancel_.first_ = this;
  if (cancel_.cancelled_) on_cancel_();
}

Cancel::Subscription::~Subscription() {
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : cancel_.first_) = next_;
}

void Cancel::cancel() {
  if (cancelled_) return;
  cancelled_ = true;
  // A subscriber that is told only starts what ends it; none leaves the list before this returns.
  for (Subscription* s = first_; s != nullptr; s = s->next_) s->on_cancel_();
}

}  // namespace ace::net
