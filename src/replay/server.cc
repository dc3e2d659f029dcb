#include "replay/server.h"

#include <algorithm>
#include <limits>

namespace ace {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

std::int64_t held_tokens(std::int64_t prompt, std::int64_t output) { return prompt + (output + 1) / 2; }

}  // namespace

Server::Server(const ServerProfile& profile, double slowdown) : profile_(profile), slowdown_(slowdown), next_(kNever) {}

void Server::arrive(double now, std::uint32_t flight, std::int64_t prefill, std::int64_t prompt, std::int64_t output) {
  advance(now);
  waiting_.push_back({flight, std::max<std::int64_t>(prefill, 1), prompt, std::max<std::int64_t>(output, 1)});
  backlog_ += waiting_.back().prefill;
  admit();
  plan();
}

void Server::advance(double now) {
  const double dt = now - now_;
  if (dt <= 0.0) return;
  const auto slots =
      static_cast<double>(running_.size() + prefilling_.size()) / static_cast<double>(profile_.batch_max);
  const auto kv = static_cast<double>(held_) / static_cast<double>(std::max<std::int64_t>(profile_.kv_tokens_max, 1));
  used_ += std::min(1.0, std::max(slots, kv)) * dt;
  virtual_tokens_ += decode_rate_ * dt;
  if (!prefilling_.empty()) prefill_left_ = std::max(0.0, prefill_left_ - prefill_rate_ * dt);
  now_ = now;
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
    if (prefilling_.empty()) prefill_left_ = static_cast<double>(head.prefill);
    prefilling_.push_back(head);
    waiting_.pop_front();
  }
}

void Server::plan() {
  const auto batch = static_cast<double>(running_.size());
  double step = (profile_.step_base_s + profile_.step_per_sequence_s * batch +
                 profile_.step_per_kv_token_s * static_cast<double>(held_)) *
                slowdown_;
  const double prefill_rate = profile_.prefill_tokens_per_s / slowdown_;
  double prefill_done = kNever;
  if (!prefilling_.empty()) {
    if (running_.empty()) {
      prefill_rate_ = prefill_rate;
    } else {
      const auto chunk = static_cast<double>(profile_.prefill_chunk);
      step += chunk / prefill_rate;
      prefill_rate_ = chunk / step;
    }
    prefill_done = now_ + prefill_left_ / prefill_rate_;
  }
  double decode_done = kNever;
  decode_rate_ = 0.0;
  if (!running_.empty()) {
    decode_rate_ = 1.0 / step;
    decode_done = now_ + std::max(0.0, running_.front().finish - virtual_tokens_) * step;
  }
  next_is_prefill_ = prefill_done <= decode_done;
  next_ = std::min(prefill_done, decode_done);
}

Server::Event Server::fire() {
  if (next_ == kNever) return {};
  advance(next_);
  Event event{Event::Kind::none, 0, now_};
  if (next_is_prefill_) {  // the prompt is done and its first token is out
    const Waiting done = prefilling_.front();
    prefilling_.pop_front();
    backlog_ -= done.prefill;
    prefill_left_ = prefilling_.empty() ? 0.0 : static_cast<double>(prefilling_.front().prefill);
    running_.push_back({virtual_tokens_ + static_cast<double>(done.output - 1), done.flight,
                        held_tokens(done.prompt, done.output), done.output});
    std::push_heap(running_.begin(), running_.end());
    event.kind = Event::Kind::first_token;
    event.flight = done.flight;
  } else {
    std::pop_heap(running_.begin(), running_.end());
    const Running done = running_.back();
    running_.pop_back();
    virtual_tokens_ = std::max(virtual_tokens_, done.finish);
    held_ -= done.held;
    event.kind = Event::Kind::finished;
    event.flight = done.flight;
    if (running_.empty()) virtual_tokens_ = 0.0;  // nothing refers to it: keep the number small and exact
    admit();
  }
  plan();
  return event;
}

std::int64_t Server::remove(double now, std::uint32_t flight) {
  advance(now);
  std::int64_t produced = 0;
  const auto is_it = [&](const auto& entry) { return entry.flight == flight; };
  if (const auto at = std::find_if(running_.begin(), running_.end(), is_it); at != running_.end()) {
    const double left = std::max(0.0, at->finish - virtual_tokens_);
    produced = std::max<std::int64_t>(1, at->output - static_cast<std::int64_t>(left));
    held_ -= at->held;
    running_.erase(at);
    std::make_heap(running_.begin(), running_.end());
  } else if (const auto in = std::find_if(prefilling_.begin(), prefilling_.end(), is_it); in != prefilling_.end()) {
    held_ -= held_tokens(in->prompt, in->output);
    backlog_ -= in->prefill;
    const bool head = in == prefilling_.begin();
    prefilling_.erase(in);
    if (head) prefill_left_ = prefilling_.empty() ? 0.0 : static_cast<double>(prefilling_.front().prefill);
  } else if (const auto out = std::find_if(waiting_.begin(), waiting_.end(), is_it); out != waiting_.end()) {
    backlog_ -= out->prefill;
    waiting_.erase(out);
  }
  admit();
  plan();
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
  advance(now);
  return used_;
}

}  // namespace ace
