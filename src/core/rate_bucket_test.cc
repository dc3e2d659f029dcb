#include "core/rate_bucket.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/testing.h"

namespace ace {
namespace {

constexpr Instant kStart = instant(1'800'000'000'000'000'000);

TEST(RateBucket, says_to_the_nanosecond_when_the_next_fits) {
  RateBucket bucket(60);
  bucket.take(60, kStart);
  EXPECT_EQ(bucket.left(kStart), 0);
  EXPECT_EQ(bucket.wait(1, kStart), kSecond);  // 60 a minute leak one a second
  EXPECT_EQ(bucket.wait(1, kStart + kSecond - Duration{1}), Duration{1});
  EXPECT_EQ(bucket.wait(1, kStart + kSecond), Duration{0});
  EXPECT_EQ(bucket.wait(0, kStart), Duration{0});
  EXPECT_EQ(bucket.wait(61, kStart), std::nullopt) << "never fits";
}

TEST(RateBucket, a_use_larger_than_foreseen_delays_the_next) {
  RateBucket bucket(60);
  bucket.take(90, kStart);
  EXPECT_EQ(bucket.wait(1, kStart), 31 * kSecond);
  bucket.give_back(90, kStart);
  EXPECT_EQ(bucket.left(kStart), 60);
}

TEST(RateBucket, time_that_goes_back_gives_nothing) {
  RateBucket bucket(60);
  bucket.take(60, kStart);
  EXPECT_EQ(bucket.left(kStart - kHour), 0);
  EXPECT_EQ(bucket.wait(1, kStart - kSecond), 2 * kSecond);
}

TEST(RateBucket, a_changed_limit_keeps_what_was_used) {
  RateBucket bucket(60);
  bucket.take(40, kStart);
  bucket.set_limit(100, kStart);
  EXPECT_EQ(bucket.left(kStart), 60);
  bucket.set_limit(30, kStart);
  EXPECT_EQ(bucket.left(kStart), 0);
}

TEST(RateBucket, lets_no_more_through_in_any_span_than_a_minutes_worth_and_what_leaks_meanwhile) {
  for_each_seed(300, [](Rng& rng) {
    const std::int64_t rate = rng.between(1, rng.chance(0.5) ? 20 : 3'000'000);
    RateBucket bucket(rate);
    Instant now = kStart;
    std::vector<std::pair<Instant, std::int64_t>> passed;
    for (int i = 0; i < 60; ++i) {
      now += Duration{rng.between(0, 20'000'000'000)};
      const std::int64_t amount = rng.between(0, rate);
      const std::optional<Duration> wait = bucket.wait(amount, now);
      ASSERT_TRUE(wait);
      if (*wait > Duration{0}) {
        ASSERT_GT(bucket.wait(amount, now + *wait - Duration{1}), Duration{0}) << "not before";
        ASSERT_EQ(bucket.wait(amount, now + *wait), Duration{0}) << "but then";
        continue;
      }
      bucket.take(amount, now);
      passed.emplace_back(now, amount);
    }
    for (std::size_t from = 0; from < passed.size(); ++from) {
      int128 sum = 0;
      for (std::size_t to = from; to < passed.size(); ++to) {
        sum += passed[to].second;
        const int128 span = nanos(passed[to].first) - nanos(passed[from].first);
        ASSERT_LE(sum * nanos(kMinute), (nanos(kMinute) + span) * rate);
      }
    }
  });
}

}  // namespace
}  // namespace ace
