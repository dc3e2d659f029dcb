#pragma once
/// What each key may use: requests and tokens a minute, and answers at a time.
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/rate_bucket.h"
#include "core/time.h"
#include "gateway/keys.h"

namespace ace::gateway {

/// A request that is refused for a limit of its key.
struct LimitRefusal {
  enum class Limit : std::uint8_t { requests, tokens, concurrency } limit = Limit::requests;
  Duration retry_after{0};  ///< until it would have been let through, as things stand; a guess for concurrency
};
std::string_view name_of(LimitRefusal::Limit limit);

/// For the whole process, from any thread. What a key used stays when its limits change, as long as its id stays.
class Limits {
 public:
  /// Counts a request in: one of rpm, `tokens` of tpm, one of concurrency, all or nothing. A request with more tokens
  /// than tpm allows in a minute is let through when nothing else was used, and delays what comes after it.
  /// @param tokens  foreseen: prompt, and the most the answer may have; not negative
  std::optional<LimitRefusal> admit(const Key& key, std::int64_t tokens, Instant now);
  /// The end of a request that was let in. @param foreseen  as admitted  @param used  what it came to; not negative
  void finish(std::string_view id, std::int64_t foreseen, std::int64_t used, Instant now);

  struct Left {
    std::optional<std::int64_t> requests, tokens;  ///< null: no limit
    std::int64_t running = 0;
  };
  [[nodiscard]] Left left(const Key& key, Instant now) const;

  /// Forgets keys that are at rest and have nothing used: their state is that of a key never seen.
  void forget_idle(Instant now);
  [[nodiscard]] std::size_t remembered() const;

 private:
  struct Use {
    std::optional<RateBucket> requests, tokens;
    std::int64_t running = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Use, std::less<>> uses_;  ///< by id; of keys with limits, and of those with requests under way
};

}  // namespace ace::gateway
