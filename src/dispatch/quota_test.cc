/// What providers say that they have left, beside what we counted ourselves.
#include <gtest/gtest.h>

#include "core/testing.h"
#include "dispatch/learn_testing.h"

namespace ace {
namespace {

using learn::at;

RateWindows windows(RateLimit limit, std::int64_t whole, std::int64_t left, Duration reset) {
  RateWindows all;
  all[static_cast<std::size_t>(limit)] = {whole, left, reset};
  return all;
}

struct Api {
  explicit Api(std::optional<std::int64_t> rpm = {}, std::optional<std::int64_t> tpm = {}) {
    Destination& d = learn::add_api(*fleet, "api", 1'000'000'000);
    d.rpm = rpm;
    d.tpm = tpm;
    d.unlimited = !rpm && !tpm;
    snapshot.emplace(*fleet);
    belief.emplace(*snapshot);
    offer = learn::offer_of(*snapshot, "api");
  }
  Claim send(double seconds, std::int64_t prompt = 60, double output = 40) {
    return learn::send(*belief, at(seconds), offer, learn::request(prompt, output));
  }
  double use(double seconds, Resource r) {
    return belief->live(at(seconds)).use[static_cast<std::size_t>(r)][offer.value];
  }
  Verdict decided(double seconds, std::int64_t prompt) {
    const Request request = learn::request(prompt, 0);
    Scratch scratch(*snapshot);
    return decide(*snapshot, belief->live(at(seconds)), request, at(seconds), scratch).verdict;
  }
  std::unique_ptr<Fleet> fleet = learn::models(1);
  std::optional<Snapshot> snapshot;
  std::optional<Belief> belief;
  OfferId offer;
};

TEST(Quota, is_what_the_provider_says_is_left_where_nobody_declared_one) {
  Api api;
  EXPECT_EQ(api.decided(0, 1'000'000), Verdict::dispatched) << "nobody knows of a limit";
  const Claim claim = api.send(0);
  api.belief->told(at(1), claim, windows(RateLimit::tokens, 1000, 100, kMinute));
  EXPECT_DOUBLE_EQ(api.use(1, Resource::tokens), 0.9);
  EXPECT_EQ(api.decided(1, 100), Verdict::dispatched);
  EXPECT_EQ(api.decided(1, 101), Verdict::no_capacity) << "it would be the 429";
  EXPECT_DOUBLE_EQ(api.use(31, Resource::tokens), 0.45) << "half of the 900 that were gone have come back";
  EXPECT_EQ(api.decided(31, 500), Verdict::dispatched);
  EXPECT_EQ(api.use(61.5, Resource::tokens), 0.0);
  EXPECT_EQ(api.decided(61.5, 1'000'000), Verdict::dispatched) << "what it said has run out";
}

TEST(Quota, that_was_told_shrinks_by_what_is_sent_after_it) {
  Api api;
  const Claim claim = api.send(0);
  api.belief->told(at(2), claim, windows(RateLimit::requests, 10, 3, kMinute));
  EXPECT_DOUBLE_EQ(api.use(2, Resource::requests), 0.7);
  api.send(2);
  api.send(2);
  EXPECT_DOUBLE_EQ(api.use(2, Resource::requests), 0.9);
  EXPECT_EQ(api.decided(2, 1), Verdict::dispatched);
  api.send(2);
  EXPECT_EQ(api.decided(2, 1), Verdict::no_capacity);
}

TEST(Quota, of_an_answer_that_was_overtaken_says_nothing) {
  Api api;
  const Claim first = api.send(0), second = api.send(1);
  api.belief->told(at(2), second, windows(RateLimit::requests, 100, 10, kMinute));
  api.belief->told(at(2), first, windows(RateLimit::requests, 100, 90, kMinute));
  EXPECT_DOUBLE_EQ(api.use(2, Resource::requests), 0.9);
}

TEST(Quota, without_a_reset_is_believed_for_a_moment_and_one_of_a_day_for_an_hour) {
  Api api;
  const Claim claim = api.send(0);
  api.belief->told(at(0), claim, windows(RateLimit::requests, 10, 0, Duration{0}));
  EXPECT_EQ(api.decided(0.5, 1), Verdict::no_capacity);
  EXPECT_EQ(api.use(10.5, Resource::requests), 0.0);
  api.belief->told(at(100), api.send(100), windows(RateLimit::requests, 10, 0, kDay));
  EXPECT_EQ(api.decided(101, 1), Verdict::no_capacity);
  EXPECT_EQ(api.use(3702, Resource::requests), 0.0);
}

TEST(Quota, never_looks_emptier_than_our_own_counts_make_it) {
  for_each_seed(200, [](Rng& rng) {
    Api heard(20, 10'000), deaf(20, 10'000);
    double now = 0.0;
    for (int i = 0; i < 40; ++i) {
      now += 3.0 * rng.uniform();
      const Claim claim = heard.send(now);
      deaf.send(now);
      if (rng.chance(0.5)) {
        const std::int64_t limit = rng.between(1, 40'000);
        heard.belief->told(at(now), claim,
                           windows(rng.chance(0.5) ? RateLimit::tokens : RateLimit::requests, limit,
                                   rng.between(0, limit), Duration{rng.between(0, 90) * kSecond}));
      }
      for (const Resource r : {Resource::tokens, Resource::requests}) EXPECT_GE(heard.use(now, r), deaf.use(now, r));
    }
  });
}

TEST(Quota, is_none_of_a_pool_of_our_own) {
  auto fleet = learn::models(1);
  learn::add_pool(*fleet, "pool", learn::slots_only(4));
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  const OfferId pool = learn::offer_of(snapshot, "pool");
  const Claim claim = learn::send(belief, at(0), pool, learn::request(10, 10));
  belief.told(at(0), claim, windows(RateLimit::tokens, 10, 0, kMinute));
  EXPECT_EQ(belief.live(at(1)).use[static_cast<std::size_t>(Resource::tokens)][pool.value], 0.0);
}

}  // namespace
}  // namespace ace
