#pragma once
/// Answers that may be given again: bounded in bytes and in age, and kept only where a question comes back.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>

#include "core/ids.h"
#include "core/time.h"
#include "gateway/canonical.h"

namespace ace::gateway {

/// As the client of the first request got it.
struct CachedAnswer {
  RequestId source;          ///< the request that it is the answer to
  std::string content_type;  ///< of a whole body or of a stream of events
  std::string body;
  [[nodiscard]] std::size_t bytes() const { return body.size() + content_type.size() + sizeof *this; }
};

/// LRU-2: what is kept is what was asked for twice within the memory of questions, and what goes first is what was
/// asked for the second time the longest ago; so that a sweep of new questions drives nothing out. Source: O'Neil,
/// O'Neil, Weikum, The LRU-K page replacement algorithm for database disk buffering, SIGMOD 1993.
///
/// For the whole process, from any thread; one short critical section each.
class AnswerCache {
 public:
  struct Options {
    std::size_t bytes = 64U << 20U;        ///< of all answers, with 256 for keeping each
    std::size_t answer_bytes = 1U << 20U;  ///< of one; a larger one is not kept
    Duration ttl = kHour;                  ///< since the answer was made
    std::size_t questions = 65'536;        ///< remembered beside the answers, 128 bytes each
  };
  explicit AnswerCache(const Options& options) : options_(options) {}

  using Answer = std::shared_ptr<const CachedAnswer>;  ///< shared with those who still send it when it is dropped
  struct Lookup {
    Answer answer;      ///< null: none
    bool keep = false;  ///< the question came before: put() its answer once it is there
  };
  /// Counts a question.
  Lookup find(const CacheKey& key, Instant now);
  /// Keeps an answer in the place of one that is there. @return whether it is kept
  bool put(const CacheKey& key, CachedAnswer answer, Instant now);
  void clear();

  struct Stats {
    std::uint64_t hits = 0, misses = 0, kept = 0, evicted = 0, expired = 0;
    std::size_t answers = 0, bytes = 0, questions = 0;
  };
  [[nodiscard]] Stats stats() const;

 private:
  struct Hash {
    std::size_t operator()(const CacheKey& key) const {  // any part of a digest is a hash
      std::uint64_t out = 0;
      for (std::size_t i = 0; i < 8; ++i) out = out << 8U | key[i];
      return out;
    }
  };
  struct Asked {
    Instant last = Instant::min(), before = Instant::min();  ///< the last two times
    std::uint64_t order = 0;                                 ///< of the last time among all, for ties
    Answer answer{};
    Instant made{};
  };
  using Rank = std::tuple<Instant, Instant, std::uint64_t>;
  static Rank rank_of(const Asked& asked) { return {asked.before, asked.last, asked.order}; }
  void note(const CacheKey& key, Asked& asked, Instant now);
  void drop_answer(const CacheKey& key, Asked& asked);
  void forget_old();

  const Options options_;
  mutable std::mutex mutex_;
  std::unordered_map<CacheKey, Asked, Hash> asked_;  ///< looked up only
  std::map<Rank, CacheKey> answers_;                 ///< those with an answer, the first to go first
  std::map<Rank, CacheKey> questions_;               ///< those without
  std::uint64_t order_ = 0;
  Stats stats_;
};

}  // namespace ace::gateway
