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
  spend(now);
  prefill = std::max<std::int64_t>(prefill, 1);
  waiting_.push_back({flight, prefill, prompt, std::max<std::int64_t>(output, 1), prefill});
  backlog_ += prefill;
  ++load_;
  admit();
  if (!prefill_phase()) plan();  // a step with prompts that is under way does not change
}

/// Accounts for the time until `until`, during which nothing changes.
void Server::spend(double until) {
  const double dt = until - now_;
  if (dt <= 0.0) return;
  const auto slots =
      static_cast<double>(running_.size() + prefilling_.size()) / static_cast<double>(profile_.batch_max);
  const auto kv = static_cast<double>(held_) / static_cast<double>(std::max<std::int64_t>(profile_.kv_tokens_max, 1));
  used_ += (prefill_phase() ? 1.0 : std::min(1.0, std::max(slots, kv))) * dt;  // a step with prompts is a full step
  virtual_tokens_ = std::min(virtual_tokens_ + rate_ * dt, next_tokens_);
  now_ = until;
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
  const double duration = (std::max(profile_.step_base_s * n, work) +
                           overhead(running_.size() + std::max<std::size_t>(completing_, 1)) * n) *
                          slowdown_;
  what_ = Next::end;
  next_ = now_ + duration;
  next_tokens_ = virtual_tokens_ + n;
  rate_ = duration > 0.0 ? n / duration : 0.0;
}

/// What comes next, outside of a prefill phase.
void Server::plan() {
  if (running_.empty()) {
    virtual_tokens_ = next_tokens_ = rate_ = 0.0;  // nothing refers to them: keep the numbers small and exact
    what_ = Next::nothing;
    next_ = kNever;
    if (!prefilling_.empty()) begin_prefill();
    return;
  }
  const double finish = running_.front().finish;
  const double boundary = std::ceil(virtual_tokens_);
  const bool prompts = !prefilling_.empty();
  if (prompts && boundary == virtual_tokens_ && finish > boundary) return begin_prefill();
  const double step = (profile_.step_base_s + overhead(running_.size())) * slowdown_;
  what_ = prompts && boundary < finish ? Next::begin : Next::finish;  // a finish first: it may let more prompts in
  next_tokens_ = std::max(what_ == Next::begin ? boundary : finish, virtual_tokens_);
  rate_ = step > 0.0 ? 1.0 / step : 0.0;
  next_ = now_ + (next_tokens_ - virtual_tokens_) * step;
}

Server::Event Server::fire() {
  if (what_ == Next::nothing) return {};
  spend(next_);
  virtual_tokens_ = next_tokens_;
  switch (what_) {
    case Next::nothing:
      break;
    case Next::finish:
      return finish();
    case Next::begin:
      begin_prefill();
      break;
    case Next::end:
      if (completing_ > 0) return deliver();
      plan();
      break;
    case Next::deliver:
      return deliver();
  }
  return {Event::Kind::none, 0, now_};
}

/// The oldest prompt of the phase is done and its first token is out.
Server::Event Server::deliver() {
  const Waiting done = prefilling_.front();
  prefilling_.pop_front();
  backlog_ -= done.prefill;
  const std::int64_t held = held_tokens(done.prompt, done.output);
  held_running_ += held;
  running_.push_back({virtual_tokens_ + static_cast<double>(done.output - 1), done.flight, held, done.output});
  std::push_heap(running_.begin(), running_.end());
  what_ = Next::deliver;
  next_ = now_;
  if (--completing_ == 0) plan();
  return {Event::Kind::first_token, done.flight, now_};
}

Server::Event Server::finish() {
  std::pop_heap(running_.begin(), running_.end());
  const Running done = running_.back();
  running_.pop_back();
  --load_;
  held_ -= done.held;
  held_running_ -= done.held;
  admit();
  plan();
  return {Event::Kind::finished, done.flight, now_};
}

std::int64_t Server::remove(double now, std::uint32_t flight) {
  spend(now);
  std::int64_t produced = 0;
  const auto is_it = [&](const auto& entry) { return entry.flight == flight; };
  if (const auto at = std::find_if(running_.begin(), running_.end(), is_it); at != running_.end()) {
    const double left = std::ceil(std::max(0.0, at->finish - virtual_tokens_));
    produced = std::max<std::int64_t>(1, at->output - static_cast<std::int64_t>(left));
    held_ -= at->held;
    held_running_ -= at->held;
    running_.erase(at);
    std::make_heap(running_.begin(), running_.end());
  } else if (const auto in = std::find_if(prefilling_.begin(), prefilling_.end(), is_it); in != prefilling_.end()) {
    held_ -= held_tokens(in->prompt, in->output);
    backlog_ -= in->prefill;
    if (prefill_phase() && static_cast<std::size_t>(in - prefilling_.begin()) < completing_) --completing_;
    prefilling_.erase(in);
  } else if (const auto out = std::find_if(waiting_.begin(), waiting_.end(), is_it); out != waiting_.end()) {
    backlog_ -= out->prefill;
    waiting_.erase(out);
  }
  load_ = running_.size() + prefilling_.size() + waiting_.size();
  admit();
  // A step that is under way goes on without it; its end may find nothing to deliver.
  if (what_ == Next::deliver && completing_ == 0) what_ = Next::nothing;
  if (!prefill_phase()) plan();
  return produced;
}

std::vector<std::uint32_t> Server::flights() const {
  std::vector<std::uint32_t> all;
  for (const auto& r : running_) all.push_back(r.flight);
  for (const auto& w : prefilling_) all.push_back(w.flight);
  for (const auto& w : waiting_) all.push_back(w.flight);
  std::sort(all.begin(), all.end());
  return all;
}

double Server::used_seconds(double now) {
  spend(now);
  return used_;
}

}  // namespace ace
