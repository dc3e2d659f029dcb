#include "gateway/limits.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/testing.h"

namespace ace::gateway {
namespace {

using Limit = LimitRefusal::Limit;
constexpr Instant kNow = instant(1'800'000'000'000'000'000);

Key limited(std::int64_t rpm, std::int64_t tpm, std::int64_t concurrency) {
  Key key;
  key.id = "k";
  key.rpm = rpm;
  key.tpm = tpm;
  key.concurrency = concurrency;
  return key;
}

TEST(Limits, refuse_by_the_first_that_is_reached_and_say_how_long) {
  Limits limits;
  EXPECT_FALSE(limits.admit(limited(2, 1000, 2), 400, kNow));
  const auto tokens = limits.admit(limited(2, 1000, 2), 700, kNow);  // 100 too many, of 1000 a minute: 6 s
  ASSERT_TRUE(tokens);
  EXPECT_EQ(tokens->limit, Limit::tokens);
  EXPECT_EQ(tokens->retry_after, 6 * kSecond);
  EXPECT_FALSE(limits.admit(limited(2, 1000, 2), 600, kNow)) << "what was refused took nothing";
  EXPECT_EQ(limits.admit(limited(2, 1000, 2), 0, kNow)->limit, Limit::concurrency);
  limits.finish("k", 400, 400, kNow);
  const auto requests = limits.admit(limited(2, 1000, 2), 0, kNow);
  ASSERT_TRUE(requests);
  EXPECT_EQ(requests->limit, Limit::requests);
  EXPECT_EQ(requests->retry_after, 30 * kSecond);
}

TEST(Limits, count_what_was_used_in_the_end) {
  Limits limits;
  const Key key = limited(0, 1000, 0);
  ASSERT_FALSE(limits.admit(key, 1000, kNow));
  limits.finish("k", 1000, 100, kNow);
  EXPECT_EQ(limits.left(key, kNow).tokens, 900);
  ASSERT_FALSE(limits.admit(key, 900, kNow));
  limits.finish("k", 900, 1500, kNow);  // 100 + 1500 of 1000
  EXPECT_EQ(limits.admit(key, 0, kNow)->retry_after, 36 * kSecond);
}

TEST(Limits, let_a_request_through_that_is_larger_than_a_minutes_worth_when_nothing_else_was_used) {
  Limits limits;
  const Key key = limited(0, 1000, 0);
  EXPECT_FALSE(limits.admit(key, 3000, kNow));
  const auto next = limits.admit(key, 1, kNow);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->retry_after, 120 * kSecond + Duration{60'000'000});  // 2001 too many at 1000 a minute
}

TEST(Limits, follow_a_change_and_forget_who_is_at_rest) {
  Limits limits;
  ASSERT_FALSE(limits.admit(limited(10, 0, 0), 5, kNow));
  EXPECT_EQ(limits.left(limited(10, 0, 0), kNow).requests, 9);
  ASSERT_TRUE(limits.admit(limited(1, 0, 0), 5, kNow)) << "one was used";
  limits.forget_idle(kNow + kHour);
  EXPECT_EQ(limits.remembered(), 1U) << "it still runs";
  limits.finish("k", 5, 5, kNow);
  limits.forget_idle(kNow);
  EXPECT_EQ(limits.remembered(), 1U) << "its minute is not over";
  limits.forget_idle(kNow + kMinute);
  EXPECT_EQ(limits.remembered(), 0U);
  EXPECT_EQ(limits.left(limited(10, 0, 0), kNow).requests, 10);
}

TEST(Limits, hold_to_the_last_request_however_many_threads_ask_at_once) {
  for (int run = 0; run < 20; ++run) {
    Limits limits;
    std::atomic<int> admitted = 0, go = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&] {
        while (go.load() == 0) std::this_thread::yield();
        for (int i = 0; i < 125; ++i)
          if (!limits.admit(limited(10, 0, 0), 1, kNow)) ++admitted;
      });
    go = 1;
    for (std::thread& t : threads) t.join();
    ASSERT_EQ(admitted, 10) << "1,000 asked, 10 fit";
  }
}

TEST(Limits, hold_for_each_key_whatever_the_others_do) {
  for_each_seed(100, [](Rng& rng) {
    const auto run = [&](bool others) {
      Limits limits;
      Rng own = rng.split("own"), other = rng.split("others");
      std::string said;
      for (int i = 0; i < 50; ++i) {
        const Instant now = kNow + i * kSecond;
        Key noise = limited(1, 1, 1);
        noise.id = "other";
        if (others && other.chance(0.7)) (void)limits.admit(noise, other.between(0, 5), now);
        const std::int64_t tokens = own.between(0, 400);
        const auto refused = limits.admit(limited(20, 2000, 3), tokens, now);
        said += refused ? std::to_string(nanos(refused->retry_after)) + "," : "in,";
        if (!refused && own.chance(0.8)) limits.finish("k", tokens, own.between(0, 500), now);
      }
      return said;
    };
    ASSERT_EQ(run(false), run(true));
  });
}

}  // namespace
}  // namespace ace::gateway
