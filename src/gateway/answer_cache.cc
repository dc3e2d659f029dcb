#include "gateway/answer_cache.h"

#include <utility>

#include "core/check.h"

namespace ace::gateway {
namespace {

constexpr std::size_t kKeeping = 256;  ///< bytes of our own for each answer

std::size_t cost_of(const CachedAnswer& answer) { return answer.bytes() + kKeeping; }

}  // namespace

/// Moves a question to where the time it was asked last puts it.
void AnswerCache::note(const CacheKey& key, Asked& asked, Instant now) {
  std::map<Rank, CacheKey>& among = asked.answer ? answers_ : questions_;
  among.erase(rank_of(asked));
  asked.before = asked.last;
  asked.last = now;
  asked.order = ++order_;
  among.emplace(rank_of(asked), key);
}

void AnswerCache::drop_answer(const CacheKey& key, Asked& asked) {
  answers_.erase(rank_of(asked));
  stats_.bytes -= cost_of(*asked.answer);
  asked.answer.reset();
  questions_.emplace(rank_of(asked), key);
}

/// Forgets the questions beyond the bound: first those whose last but one time is the longest ago; of those asked once,
/// the one asked the longest ago.
void AnswerCache::forget_old() {
  while (questions_.size() > options_.questions) {
    const auto oldest = questions_.begin();
    asked_.erase(oldest->second);
    questions_.erase(oldest);
  }
}

AnswerCache::Lookup AnswerCache::find(const CacheKey& key, Instant now) {
  const std::lock_guard lock(mutex_);
  Asked& asked = asked_.try_emplace(key).first->second;
  const bool seen_before = asked.last != Instant::min();
  note(key, asked, now);
  if (asked.answer && now - asked.made >= options_.ttl) {
    ++stats_.expired;
    drop_answer(key, asked);
  }
  if (asked.answer) {
    ++stats_.hits;
    return {asked.answer, false};
  }
  ++stats_.misses;
  forget_old();
  return {nullptr, seen_before && asked_.contains(key)};
}

bool AnswerCache::put(const CacheKey& key, CachedAnswer answer, Instant now) {
  const std::size_t cost = cost_of(answer);
  if (answer.bytes() > options_.answer_bytes || cost > options_.bytes) return false;
  auto kept = std::make_shared<const CachedAnswer>(std::move(answer));
  const std::lock_guard lock(mutex_);
  const auto found = asked_.find(key);
  if (found == asked_.end()) return false;  // forgotten meanwhile
  Asked& asked = found->second;
  if (asked.answer) drop_answer(key, asked);
  const Rank rank = rank_of(asked);
  while (stats_.bytes + cost > options_.bytes) {
    const auto first = answers_.begin();
    ACE_CHECK(first != answers_.end(), "bytes are counted for answers alone");
    if (first->first > rank) {  // everything that is kept is worth more
      forget_old();
      return false;
    }
    const CacheKey victim = first->second;
    drop_answer(victim, asked_.at(victim));
    ++stats_.evicted;
  }
  questions_.erase(rank);
  asked.answer = std::move(kept);
  asked.made = now;
  answers_.emplace(rank, key);
  stats_.bytes += cost;
  ++stats_.kept;
  forget_old();
  return true;
}

void AnswerCache::clear() {
  const std::lock_guard lock(mutex_);
  asked_.clear();
  answers_.clear();
  questions_.clear();
  stats_.bytes = 0;
}

AnswerCache::Stats AnswerCache::stats() const {
  const std::lock_guard lock(mutex_);
  Stats out = stats_;
  out.answers = answers_.size();
  out.questions = questions_.size();
  return out;
}

}  // namespace ace::gateway
