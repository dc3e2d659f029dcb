#include "gateway/limits.h"

#include <algorithm>

#include "core/check.h"

namespace ace::gateway {
namespace {

/// The bucket with the limit that holds now; none if there is no limit.
void adjust(std::optional<RateBucket>& bucket, std::int64_t per_minute, Instant now) {
  if (per_minute == 0) {
    bucket.reset();
  } else if (!bucket) {
    bucket.emplace(per_minute);
  } else if (bucket->per_minute() != per_minute) {
    bucket->set_limit(per_minute, now);
  }
}

}  // namespace

std::string_view name_of(LimitRefusal::Limit limit) {
  switch (limit) {
    case LimitRefusal::Limit::requests:
      return "requests_per_minute";
    case LimitRefusal::Limit::tokens:
      return "tokens_per_minute";
    case LimitRefusal::Limit::concurrency:
      return "concurrency";
  }
  return "";
}

std::optional<LimitRefusal> Limits::admit(const Key& key, std::int64_t tokens, Instant now) {
  ACE_CHECK(tokens >= 0, "a count of tokens is not negative");
  const std::lock_guard lock(mutex_);
  Use& use = uses_.try_emplace(key.id).first->second;
  adjust(use.requests, key.rpm, now);
  adjust(use.tokens, key.tpm, now);
  if (key.concurrency > 0 && use.running >= key.concurrency)
    return LimitRefusal{LimitRefusal::Limit::concurrency, kSecond};
  if (use.requests)
    if (const Duration wait = *use.requests->wait(1, now); wait > Duration{0})
      return LimitRefusal{LimitRefusal::Limit::requests, wait};
  if (use.tokens)
    if (const Duration wait = *use.tokens->wait(std::min(tokens, use.tokens->per_minute()), now); wait > Duration{0})
      return LimitRefusal{LimitRefusal::Limit::tokens, wait};
  if (use.requests) use.requests->take(1, now);
  if (use.tokens) use.tokens->take(tokens, now);
  ++use.running;
  return std::nullopt;
}

void Limits::finish(std::string_view id, std::int64_t foreseen, std::int64_t used, Instant now) {
  ACE_CHECK(foreseen >= 0 && used >= 0, "a count of tokens is not negative");
  const std::lock_guard lock(mutex_);
  const auto found = uses_.find(id);
  ACE_CHECK(found != uses_.end() && found->second.running > 0, "what ends was admitted");
  Use& use = found->second;
  --use.running;
  if (!use.tokens) return;
  if (used > foreseen) use.tokens->take(used - foreseen, now);
  if (used < foreseen) use.tokens->give_back(foreseen - used, now);
}

Limits::Left Limits::left(const Key& key, Instant now) const {
  const std::lock_guard lock(mutex_);
  Left left;
  if (key.rpm > 0) left.requests = key.rpm;
  if (key.tpm > 0) left.tokens = key.tpm;
  const auto found = uses_.find(key.id);
  if (found == uses_.end()) return left;
  left.running = found->second.running;
  if (left.requests && found->second.requests) left.requests = found->second.requests->left(now);
  if (left.tokens && found->second.tokens) left.tokens = found->second.tokens->left(now);
  return left;
}

void Limits::forget_idle(Instant now) {
  const std::lock_guard lock(mutex_);
  const auto rests = [&](const std::optional<RateBucket>& bucket) {
    return !bucket || bucket->left(now) == bucket->per_minute();
  };
  std::erase_if(uses_, [&](const auto& entry) {
    const Use& use = entry.second;
    return use.running == 0 && rests(use.requests) && rests(use.tokens);
  });
}

std::size_t Limits::remembered() const {
  const std::lock_guard lock(mutex_);
  return uses_.size();
}

}  // namespace ace::gateway
