#include "core/rate_bucket.h"

#include <algorithm>

#include "core/check.h"

namespace ace {
namespace {

constexpr int128 kUnit = nanos(kMinute);  ///< of the level, for an amount of one

}  // namespace

RateBucket::RateBucket(std::int64_t per_minute) : per_minute_(per_minute) {
  ACE_CHECK(per_minute > 0, "a rate is positive; no limit is no bucket");
}

int128 RateBucket::level(Instant now) const {
  if (now <= at_) return level_;
  return std::max<int128>(0, level_ - int128{nanos(now) - nanos(at_)} * per_minute_);
}

void RateBucket::set_level(int128 level, Instant now) {
  level_ = level;
  at_ = std::max(at_, now);
}

std::optional<Duration> RateBucket::wait(std::int64_t amount, Instant now) const {
  ACE_CHECK(amount >= 0, "an amount is not negative");
  if (amount > per_minute_) return std::nullopt;
  const int128 above = level(now) + (int128{amount} - per_minute_) * kUnit;
  if (above <= 0) return Duration{0};
  const int128 wait = (above + per_minute_ - 1) / per_minute_ + std::max<std::int64_t>(0, nanos(at_) - nanos(now));
  return wait > nanos(Duration::max()) ? Duration::max() : Duration{static_cast<std::int64_t>(wait)};
}

void RateBucket::take(std::int64_t amount, Instant now) {
  ACE_CHECK(amount >= 0, "an amount is not negative");
  set_level(level(now) + int128{amount} * kUnit, now);
}

void RateBucket::give_back(std::int64_t amount, Instant now) {
  ACE_CHECK(amount >= 0, "an amount is not negative");
  set_level(std::max<int128>(0, level(now) - int128{amount} * kUnit), now);
}

std::int64_t RateBucket::left(Instant now) const {
  const int128 room = int128{per_minute_} * kUnit - level(now);
  return room <= 0 ? 0 : static_cast<std::int64_t>(room / kUnit);
}

void RateBucket::set_limit(std::int64_t per_minute, Instant now) {
  ACE_CHECK(per_minute > 0, "a rate is positive; no limit is no bucket");
  set_level(level(now), now);
  per_minute_ = per_minute;
}

}  // namespace ace
