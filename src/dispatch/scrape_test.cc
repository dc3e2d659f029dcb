/// What engines say of themselves, beside what we know of our own claims.
#include <gtest/gtest.h>

#include "core/testing.h"
#include "dispatch/learn_testing.h"
#include "dispatch/occupancy.h"

namespace ace {
namespace {

using learn::at;

constexpr DestinationId kPool{0};

struct Pool {
  Pool() {
    ServerProfile engine;
    engine.prefill_tokens_per_s = 10'000;
    engine.step_base_s = 0.02;
    engine.batch_max = 50;
    engine.kv_tokens_max = 100'000;
    engine.prefill_chunk = 1000;
    engine.measured = true;
    learn::add_pool(*fleet, "pool", engine, {0}, 2);
    snapshot.emplace(*fleet);
    belief.emplace(*snapshot);
    offer = learn::offer_of(*snapshot, "pool");
  }
  double use(double seconds, Resource r) {
    return belief->live(at(seconds)).use[static_cast<std::size_t>(r)][offer.value];
  }
  Claim send(double seconds) { return learn::send(*belief, at(seconds), offer, learn::request(1500, 500)); }

  std::unique_ptr<Fleet> fleet = learn::models(1);
  std::optional<Snapshot> snapshot;
  std::optional<Belief> belief;
  OfferId offer;
};

TEST(Scrape, adds_what_runs_besides_our_own) {
  Pool pool;
  for (int i = 0; i < 5; ++i) pool.send(0);
  pool.belief->scraped(at(1), kPool, {.running = 25, .waiting = 0, .kv_share = 0.3});
  // 25 of 2 x 50 slots, of which 5 are ours; 30% of the KV, of which we hold 5 x 2,000 of 200,000 = 5%.
  EXPECT_DOUBLE_EQ(pool.use(1, Resource::slots), 0.25);
  EXPECT_DOUBLE_EQ(pool.use(1, Resource::kv), 0.3);
  pool.send(2);  // what comes after the look counts on top
  EXPECT_DOUBLE_EQ(pool.use(2, Resource::slots), 0.26);
  EXPECT_DOUBLE_EQ(pool.use(2, Resource::kv), 0.31);
}

TEST(Scrape, takes_waiting_requests_for_an_engine_that_can_do_no_more) {
  Pool pool;
  // 20 run and 10 wait: whatever we believe of 100 slots, 20 are all it has. 30 / 20 = 1.5.
  pool.belief->scraped(at(1), kPool, {.running = 20, .waiting = 10, .kv_share = 0.2});
  EXPECT_DOUBLE_EQ(pool.use(1, Resource::slots), 1.5);
  // One that is between two steps says nothing.
  pool.belief->scraped(at(2), kPool, {.running = 20, .waiting = 1, .kv_share = 0.2});
  EXPECT_DOUBLE_EQ(pool.use(2, Resource::slots), 0.21);
}

TEST(Scrape, counts_until_it_is_stale) {
  Pool pool;
  pool.send(0);
  pool.belief->scraped(at(1), kPool, {.running = 50, .waiting = 20, .kv_share = 0.9});
  EXPECT_GT(pool.use(10.9, Resource::slots), 1.0);
  EXPECT_DOUBLE_EQ(pool.use(11.1, Resource::slots), 0.01);
  EXPECT_DOUBLE_EQ(pool.use(11.1, Resource::kv), 0.01);
}

TEST(Scrape, never_lets_a_pool_look_emptier_than_our_claims_make_it) {
  for_each_seed(300, [](Rng& rng) {
    Pool looked, blind;
    std::vector<std::pair<Claim, Claim>> claims;
    for (int i = 0; i < 40; ++i) {
      const double now = 0.2 * i;
      if (claims.empty() || rng.chance(0.6)) {
        claims.emplace_back(looked.send(now), blind.send(now));
      } else {
        const auto [a, b] = claims.back();
        claims.pop_back();
        looked.belief->completed(at(now), a, learn::answer(100), true);
        blind.belief->completed(at(now), b, learn::answer(100), true);
      }
      if (rng.chance(0.5)) {
        looked.belief->scraped(at(now), kPool,
                               {.running = static_cast<std::int64_t>(rng.below(80)) - 5,
                                .waiting = static_cast<std::int64_t>(rng.below(20)) - 5,
                                .kv_share = static_cast<double>(rng.below(300)) / 100.0 - 1.0});
      }
      for (const Resource r : {Resource::slots, Resource::kv}) EXPECT_GE(looked.use(now, r), blind.use(now, r));
    }
  });
}

TEST(Scrape, of_what_has_no_engines_means_nothing) {
  auto fleet = learn::models(1);
  learn::add_api(*fleet, "api", 1'000'000'000);
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  belief.scraped(at(0), DestinationId{0}, {.running = 1000, .waiting = 1000, .kv_share = 1.0});
  const OfferId api = learn::offer_of(snapshot, "api");
  for (const auto& column : belief.live(at(0)).use) EXPECT_EQ(column[api.value], 0.0);
}

}  // namespace
}  // namespace ace
