#pragma once
/// A rate limit in integers, on an instant that is handed in.
#include <cstdint>
#include <optional>

#include "core/int128.h"
#include "core/time.h"

namespace ace {

/// A leaky bucket: fills with what is taken, leaks evenly, holds one minute's worth. Over any span of time T it lets
/// through at most (1 + T / 1 min) x per_minute. Nothing is rounded: the level is in units of one nanosecond's leak.
class RateBucket {
 public:
  /// @param per_minute  positive
  explicit RateBucket(std::int64_t per_minute);

  /// How long until `amount` fits: zero if it does now; null if it never will, being more than a minute's worth.
  /// @param amount  not negative  @param now  a time before an earlier one counts as that one
  [[nodiscard]] std::optional<Duration> wait(std::int64_t amount, Instant now) const;
  /// Counts it in, whether it fits or not: a use that turned out larger than was foreseen delays what comes after it.
  void take(std::int64_t amount, Instant now);
  /// Counts out what was taken and not used after all.
  void give_back(std::int64_t amount, Instant now);
  /// What would fit now.
  [[nodiscard]] std::int64_t left(Instant now) const;
  [[nodiscard]] std::int64_t per_minute() const { return per_minute_; }
  /// The same bucket with another limit: what was used stays used.
  void set_limit(std::int64_t per_minute, Instant now);

 private:
  [[nodiscard]] int128 level(Instant now) const;
  void set_level(int128 level, Instant now);
  std::int64_t per_minute_;
  int128 level_ = 0;  ///< amount x nanoseconds of a minute
  Instant at_{};
};

}  // namespace ace
