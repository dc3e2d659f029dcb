#include "gateway/answer_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/testing.h"

namespace ace::gateway {
namespace {

constexpr Instant kNow = instant(1'800'000'000'000'000'000);

CacheKey key_of(std::uint64_t n) {
  CacheKey key{};
  for (std::size_t i = 0; i < 8; ++i) key[i] = static_cast<std::uint8_t>(n >> (8 * i));
  return key;
}
CachedAnswer answer_of(std::string body) { return {RequestId{1, 2}, "application/json", std::move(body)}; }

/// Asks, and keeps the answer as the gateway does. @return whether it was there
bool ask(AnswerCache& cache, std::uint64_t n, Instant now, std::size_t bytes = 100) {
  const AnswerCache::Lookup found = cache.find(key_of(n), now);
  if (!found.answer && found.keep) cache.put(key_of(n), answer_of(std::string(bytes, 'x')), now);
  return found.answer != nullptr;
}

TEST(AnswerCache, keeps_the_answer_to_a_question_that_comes_back) {
  AnswerCache cache({});
  EXPECT_FALSE(ask(cache, 1, kNow));
  EXPECT_FALSE(ask(cache, 1, kNow)) << "once is not enough to keep it";
  EXPECT_TRUE(ask(cache, 1, kNow));
  EXPECT_FALSE(ask(cache, 2, kNow));
  const AnswerCache::Stats stats = cache.stats();
  EXPECT_EQ(stats.hits, 1U);
  EXPECT_EQ(stats.misses, 3U);
  EXPECT_EQ(stats.answers, 1U);
}

TEST(AnswerCache, gives_no_answer_past_its_time) {
  AnswerCache cache({.ttl = kMinute});
  (void)ask(cache, 1, kNow), (void)ask(cache, 1, kNow);
  EXPECT_TRUE(ask(cache, 1, kNow + kMinute - Duration{1}));
  EXPECT_FALSE(ask(cache, 1, kNow + kMinute));
  EXPECT_TRUE(ask(cache, 1, kNow + kMinute)) << "made anew";
}

TEST(AnswerCache, a_sweep_of_new_questions_drives_nothing_out) {
  AnswerCache cache({.bytes = 5'000});
  for (int i = 0; i < 2; ++i)
    for (std::uint64_t n = 0; n < 5; ++n) (void)ask(cache, n, kNow);
  for (std::uint64_t n = 100; n < 10'000; ++n) EXPECT_FALSE(ask(cache, n, kNow + kSecond));
  for (std::uint64_t n = 0; n < 5; ++n) EXPECT_TRUE(ask(cache, n, kNow + kSecond)) << n;
}

TEST(AnswerCache, drops_first_what_was_asked_for_the_second_time_the_longest_ago) {
  const std::size_t each = answer_of(std::string(100, 'x')).bytes() + 256;
  AnswerCache cache({.bytes = 2 * each});
  // 1 is asked at 0, 1, 2 and 9 s, 2 at 3, 4 and 5 s: the last but one time of 1 is 2 s, of 2 it is 4 s.
  for (const int second : {0, 1, 2}) (void)ask(cache, 1, kNow + second * kSecond);
  for (const int second : {3, 4, 5}) (void)ask(cache, 2, kNow + second * kSecond);
  (void)ask(cache, 1, kNow + 9 * kSecond);
  for (const int second : {10, 11}) (void)ask(cache, 3, kNow + second * kSecond);
  EXPECT_FALSE(cache.find(key_of(1), kNow + 12 * kSecond).answer) << "though it was asked for after 2";
  EXPECT_TRUE(cache.find(key_of(2), kNow + 12 * kSecond).answer);
  EXPECT_TRUE(cache.find(key_of(3), kNow + 12 * kSecond).answer);
}

TEST(AnswerCache, drops_nothing_for_a_question_whose_last_but_one_time_is_longer_ago) {
  AnswerCache cache({.bytes = answer_of(std::string(100, 'x')).bytes() + 256});
  (void)ask(cache, 1, kNow);
  for (const int second : {1, 2, 3}) (void)ask(cache, 2, kNow + second * kSecond);
  EXPECT_FALSE(ask(cache, 1, kNow + 9 * kSecond));
  EXPECT_TRUE(cache.find(key_of(2), kNow + 10 * kSecond).answer) << "asked for at 2 and 3 s, the other at 0 and 9 s";
}

TEST(AnswerCache, never_holds_more_than_its_bytes_and_its_questions) {
  for_each_seed(100, [](Rng& rng) {
    const AnswerCache::Options options{.bytes = 4'000, .answer_bytes = 1'500, .ttl = kMinute, .questions = 8};
    AnswerCache cache(options);
    Instant now = kNow;
    for (int i = 0; i < 300; ++i) {
      now += Duration{rng.between(0, 5'000'000'000)};
      (void)ask(cache, rng.below(30), now, rng.below(2'000));
      const AnswerCache::Stats stats = cache.stats();
      ASSERT_LE(stats.bytes, options.bytes);
      ASSERT_LE(stats.questions, options.questions);
      ASSERT_EQ(stats.answers == 0, stats.bytes == 0);
      ASSERT_EQ(stats.hits + stats.misses, static_cast<std::uint64_t>(i + 1));
    }
  });
}

TEST(AnswerCache, holds_an_answer_of_just_its_bound_and_one_to_each_question) {
  const CachedAnswer largest = answer_of(std::string(100, 'x'));
  AnswerCache cache({.answer_bytes = largest.bytes()});
  (void)cache.find(key_of(1), kNow);
  EXPECT_FALSE(cache.put(key_of(1), answer_of(std::string(101, 'x')), kNow));
  EXPECT_TRUE(cache.put(key_of(1), largest, kNow));
  const AnswerCache::Stats once = cache.stats();
  EXPECT_TRUE(cache.put(key_of(1), largest, kNow + kSecond)) << "two asked at once";
  EXPECT_EQ(cache.stats().bytes, once.bytes);
  EXPECT_EQ(cache.stats().answers, 1U);
}

TEST(AnswerCache, an_answer_that_is_being_sent_outlives_its_place) {
  AnswerCache cache({});
  (void)ask(cache, 1, kNow), (void)ask(cache, 1, kNow);
  const AnswerCache::Answer held = cache.find(key_of(1), kNow).answer;
  cache.clear();
  EXPECT_FALSE(cache.find(key_of(1), kNow).answer);
  EXPECT_EQ(held->body, std::string(100, 'x'));
}

TEST(AnswerCache, gives_each_thread_the_answer_to_its_own_question) {
  AnswerCache cache({.bytes = 20'000});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Rng rng(t, "thread");
      for (int i = 0; i < 5'000; ++i) {
        const std::uint64_t n = rng.below(60);
        const AnswerCache::Lookup found = cache.find(key_of(n), kNow);
        if (found.answer && found.answer->body != std::to_string(n)) ++wrong;
        if (found.keep) cache.put(key_of(n), answer_of(std::to_string(n)), kNow);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(cache.stats().hits, 0U);
}

}  // namespace
}  // namespace ace::gateway
