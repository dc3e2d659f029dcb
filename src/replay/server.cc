#include "replay/server.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ace {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

std::int64_t held_tokens(std::int64_t prompt, std::int64_t output) { return prompt + (output + 1) / 2; }

}  // namespace

Server::Server(const ServerProfile& profile, double slowdown) : profile_(profile), slowdown_(slowdown), next_(kNever) {
  profile_.prefill_chunk = std::max<std::int64_t>(profile_.prefill_chunk, 1);
}

void Server::arrive(double now, std::uint32_t flight, std::int64_t prefill, std::int64_t prompt, std::int64_t output) {
  advance(now);
  prefill = std::max<std::int64_t>(prefill, 1);
  waiting_.push_back({flight, prefill, prompt, std::max<std::int64_t>(output, 1), prefill});
  backlog_ += prefill;
  admit();
  if (phase_ == Phase::decode) plan();  // a step under way with prompts is not changed by one more
}

/// Accounts for the time until `until`, during which nothing changes.
void Server::spend(double until) {
  const double dt = until - now_;
  if (dt <= 0.0) return;
  const auto slots =
      static_cast<double>(running_.size() + prefilling_.size()) / static_cast<double>(profile_.batch_max);
  const auto kv = static_cast<double>(held_) / static_cast<double>(std::max<std::int64_t>(profile_.kv_tokens_max, 1));
  used_ += std::min(1.0, std::max(slots, kv)) * dt;
  virtual_tokens_ += rate_ * dt;
  now_ = until;
}

void Server::advance(double now) {
  if (phase_ == Phase::decode && !prefilling_.empty() && boundary_ <= now && boundary_ < next_) {
    spend(boundary_);  // the step under way ended and the one with the prompts began
    virtual_tokens_ = boundary_tokens_;
    begin_prefill();
  }
  spend(now);
}

void Server::admit() {
  while (!waiting_.empty()) {
    const Waiting& head = waiting_.front();
    const std::int64_t need = held_tokens(head.prompt, head.output);
    const bool empty = running_.empty() && prefilling_.empty();
    const bool room = static_cast<std::int64_t>(running_.size() + prefilling_.size()) < profile_.batch_max &&
                      held_ + need <= profile_.kv_tokens_max;
    if (!room && !empty) return;  // an empty engine takes even a request larger than its cache
    held_ += need;
    prefilling_.push_back(head);
    waiting_.pop_front();
  }
}

/// Seconds of a step beyond its base or prompt work.
double Server::overhead(std::size_t sequences) const {
  return profile_.step_per_sequence_s * static_cast<double>(sequences) +
         profile_.step_per_kv_token_s * static_cast<double>(held_running_);
}

/// Fills the next step with prompts, first in first out. Steps that the head fills alone are taken together, up to the
/// first that ends a running sequence.
void Server::begin_prefill() {
  const std::int64_t chunk = profile_.prefill_chunk;
  std::int64_t steps = prefilling_.front().left / chunk;
  if (steps > 1 && !running_.empty())
    steps = std::min(steps, static_cast<std::int64_t>(running_.front().finish - virtual_tokens_));
  steps = std::max<std::int64_t>(steps, 1);
  std::int64_t room = chunk * steps;
  completing_ = 0;
  for (Waiting& w : prefilling_) {
    const std::int64_t part = std::min(w.left, room);
    w.left -= part;
    room -= part;
    if (w.left > 0) break;
    ++completing_;
    if (room == 0) break;
  }
  const double work = static_cast<double>(chunk * steps - room) / profile_.prefill_tokens_per_s;
  const auto n = static_cast<double>(steps);
  const double sequences = overhead(running_.size() + std::max<std::size_t>(completing_, 1));
  const double duration = (std::max(profile_.step_base_s * n, work) + sequences * n) * slowdown_;
  phase_ = Phase::prefill;
  prefill_end_ = next_ = now_ + duration;
  boundary_tokens_ = virtual_tokens_ + n;
  rate_ = n / duration;
}

void Server::plan() {
  if (phase_ == Phase::delivering || finish_due()) {
    next_ = now_;
    return;
  }
  if (phase_ == Phase::prefill) {
    next_ = prefill_end_;
    return;
  }
  if (running_.empty()) {
    rate_ = 0.0;
    next_ = kNever;
    virtual_tokens_ = 0.0;  // nothing refers to it: keep the number small and exact
    if (!prefilling_.empty()) begin_prefill();
    return;
  }
  const double step = (profile_.step_base_s + overhead(running_.size())) * slowdown_;
  const double finish = running_.front().finish;
  rate_ = 1.0 / step;
  next_ = now_ + (finish - virtual_tokens_) * step;
  if (prefilling_.empty()) return;
  boundary_tokens_ = std::ceil(virtual_tokens_);
  if (finish <= boundary_tokens_) {
    boundary_ = next_;  // the finish comes first: it may let more prompts in
    return;
  }
  boundary_ = now_ + (boundary_tokens_ - virtual_tokens_) * step;
  if (boundary_ <= now_) {
    begin_prefill();
  } else {
    next_ = boundary_;
  }
}

Server::Event Server::fire() {
  if (next_ == kNever) return {};
  spend(next_);
  Event event{Event::Kind::none, 0, now_};
  if (phase_ == Phase::prefill && !finish_due()) {  // the step with the prompts has ended
    virtual_tokens_ = boundary_tokens_;
    phase_ = completing_ > 0 ? Phase::delivering : Phase::decode;
  }
  if (phase_ == Phase::delivering) {  // the prompt is done and its first token is out
    const Waiting done = prefilling_.front();
    prefilling_.pop_front();
    backlog_ -= done.prefill;
    const std::int64_t held = held_tokens(done.prompt, done.output);
    held_running_ += held;
    running_.push_back({virtual_tokens_ + static_cast<double>(done.output - 1), done.flight, held, done.output});
    std::push_heap(running_.begin(), running_.end());
    event.kind = Event::Kind::first_token;
    event.flight = done.flight;
    if (--completing_ == 0) phase_ = Phase::decode;
  } else if (!running_.empty() && (finish_due() || next_ != boundary_ || prefilling_.empty())) {
  }
  plan();
  return event;
}
