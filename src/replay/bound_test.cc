#include "replay/bound.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "replay/replay_testing.h"

namespace ace {
namespace {

using replay_testing::api_fleet;
using replay_testing::made;
using replay_testing::Made;
using replay_testing::MemorySource;

struct Bounded {
  RunResult run;
  BoundResult bound;
};

Bounded bounded(const Fleet& fleet, MemorySource& source, Dispatching dispatching = Dispatching::merit_order,
                std::uint64_t passes = 12) {
  const Snapshot snapshot(fleet);
  EXPECT_TRUE(source.rewind());
  RunOptions options;
  options.dispatching = dispatching;

  options.shapley = false;
  options.facts = true;
  options.plant.block_tokens = source.block_tokens();
  Result<RunResult> done = run(snapshot, source, options);
  EXPECT_TRUE(done) << (done ? "" : done.error().what());
  Bounded b;
  if (!done) return b;
  BoundOptions bounds;
  bounds.block_bits = 1 << 12;
  bounds.passes = passes;
  Result<BoundResult> least = bound(snapshot, source, *done, bounds);
  EXPECT_TRUE(least) << (least ? "" : least.error().what());
  b.run = std::move(*done);
  if (least) b.bound = *least;
  return b;
}

TEST(Bound, is_the_cheapest_place_where_nothing_is_scarce) {
  auto fleet = api_fleet();
  Destination cheap = fleet->destinations[0];
  cheap.name = "half";
  cheap.serving[0].price = PriceId{1};
  fleet->prices.rows.push_back(replay_testing::price_row("half/m", 500'000'000, 500'000'000, 500'000'000));
  fleet->destinations.push_back(cheap);
  MemorySource source = MemorySource::of(10, [](std::size_t i) { return made(static_cast<double>(i), 900, 100); });
  const Bounded b = bounded(*fleet, source);
  // 10 x 1,000 tokens at $0.50 per million = $0.005; all-PAYG at the default is twice that.
  EXPECT_EQ(b.bound.dispatch_bound.nano, 5'000'000);
  EXPECT_EQ(b.bound.plan_bound.nano, 5'000'000);
  EXPECT_EQ(b.run.facts.actual.nano, 5'000'000);
  EXPECT_EQ(b.bound.dispatch_share.value(), 1.0);
}

// A free API: the least cost is nothing, and not a billionth of a dollar less.
TEST(Bound, is_not_below_nothing_where_no_price_is) {
  const auto fleet = api_fleet(0);
  MemorySource source = MemorySource::of(10, [](std::size_t i) { return made(static_cast<double>(i), 900, 100); });
  const Bounded b = bounded(*fleet, source);
  EXPECT_EQ(b.bound.dispatch_bound.nano, 0);
  EXPECT_EQ(b.bound.plan_bound.nano, 0);
}

// Ten requests of 1,000 tokens: 0.01 USD at the standard price, half of it where only what can wait is served. Chat may
// not go there, so its bound is the standard price; a batch job's is half.
TEST(Bound, has_batch_prices_for_what_may_wait_alone) {
  auto fleet = api_fleet();
  Destination batch = fleet->destinations[0];
  batch.name = "batch";
  batch.service = ServiceTier::batch;
  batch.serving[0].price = PriceId{1};
  fleet->prices.rows.push_back(replay_testing::price_row("batch/m", 500'000'000, 500'000'000, 500'000'000));
  fleet->destinations.push_back(batch);
  for (const bool waits : {false, true}) {
    MemorySource source = MemorySource::of(10, [&](std::size_t i) {
      Made m = made(static_cast<double>(i), 900, 100);
      m.arrival.batch = waits;
      return m;
    });
    const Bounded b = bounded(*fleet, source);
    EXPECT_EQ(b.bound.dispatch_bound.nano, waits ? 5'000'000 : 10'000'000);
    EXPECT_EQ(b.run.facts.actual.nano, waits ? 5'000'000 : 10'000'000);
  }
}

TEST(Bound, lets_a_full_reserved_block_take_what_it_can_hold_and_no_more) {
  auto fleet = api_fleet();
  Destination block = fleet->destinations[0];
  block.name = "block";
  block.tier = Tier::reserved;
  block.unlimited = false;
  block.serving[0].price = std::nullopt;
  block.serving[0].gsu = GsuTerms{.units = 1,
                                  .tokens_per_second_per_unit = 100.0,
                                  .output_ratio = 1.0,
                                  .cached_weight = 1.0,
                                  .units_increment = 1,
                                  .window = 10 * kSecond};
  fleet->destinations.push_back(block);
  // 40 requests of 1,000 tokens within 0.4 s, all answered within some 2 s: one stretch of the meter, in which it
  // admits 100/s x the run + the window's 1,000 + one request = 2,000 and some tokens, 2.2 requests or so for nothing.
  // The others cost 1,000 x $1 per million = $0.001 each.
  MemorySource source = MemorySource::of(40, [](std::size_t i) { return made(0.01 * static_cast<double>(i), 999, 1); });
  const Bounded b = bounded(*fleet, source);
  const double free = (100.0 * to_seconds(b.run.last - b.run.first) + 2000.0) / 1000.0;
  EXPECT_NEAR(static_cast<double>(b.bound.dispatch_bound.nano), (40.0 - free) * 1e6, 30.0);
  EXPECT_GE(b.run.facts.actual, b.bound.dispatch_bound);
}

TEST(Bound, gives_an_engine_its_replica_seconds) {
  auto fleet = api_fleet();
  ServerProfile p = replay_testing::simple_profile();
  p.watts_idle = p.watts_busy = 0.0;
  fleet->destinations.push_back(replay_testing::owned_pool(p));
  // A request takes 10,000 / 10,000 = 1 s of prompt work; its base share is 299 x 0.010 / 8 = 0.37 s, so prompts bind.
  // 400 come within 4 s; what the API does not take keeps the pool busy for most of the run.
  MemorySource source =
      MemorySource::of(400, [](std::size_t i) { return made(0.01 * static_cast<double>(i), 10'000, 300); });
  const Bounded b = bounded(*fleet, source, Dispatching::merit_order, 30);
  const double per_request = 10'300 * 1e-6 * 1e9;  // at the API, nano-USD
  const double seconds = to_seconds(b.run.last - b.run.first);
  // As many are free as the run has seconds, of one replica; the multipliers are within 5% of all by then.
  EXPECT_NEAR(static_cast<double>(b.bound.dispatch_bound.nano), per_request * (400.0 - seconds), per_request * 20.0);
  EXPECT_LE(b.bound.dispatch_bound, b.run.facts.actual);
}

TEST(Bound, of_a_plan_holds_nothing_that_does_not_pay) {
  auto fleet = api_fleet();
  ServerProfile p = replay_testing::simple_profile();
  p.watts_idle = p.watts_busy = 0.0;
  Destination pool = replay_testing::owned_pool(p);
  pool.amortization_hourly = Usd{3'600'000'000'000};  // $3,600 an hour, $1 a second
  fleet->destinations.push_back(pool);
  MemorySource source = MemorySource::of(20, [](std::size_t i) { return made(static_cast<double>(i), 900, 100); });
  const Bounded b = bounded(*fleet, source);
  // 20 x 1,000 tokens at the API cost $0.02; the pool costs a dollar every second.
  EXPECT_NEAR(static_cast<double>(b.bound.plan_bound.nano), 20'000'000, 20.0);
  EXPECT_LE(b.bound.plan_bound.nano, 20'000'000);
  EXPECT_LE(b.bound.dispatch_bound.nano, 1);  // it is there: all of it is free at the margin
  EXPECT_GT(b.run.statement.fixed.nano, 18'000'000'000);
}

TEST(Bound, counts_every_block_seen_before_as_cached) {
  auto fleet = api_fleet();
  fleet->prices.rows[0] = replay_testing::price_row("api/m", 1'000'000'000, 100'000'000, 1'000'000'000);
  fleet->providers[0].cache = {.min_prefix = Tokens{1}, .block = Tokens{1}, .ttl = kSecond, .enabled = true};
  // Two equal prompts an hour apart: the provider has forgotten, the bound has not.
  // 1,024 prompt + 76 output at $1: $0.0011; then 1,024 at $0.10 + 76 at $1 = $0.0001784.
  MemorySource source({made(0.0, 1024, 76, {1, 2}), made(3600.0, 1024, 76, {1, 2})});
  const Bounded b = bounded(*fleet, source);
  EXPECT_EQ(b.run.facts.actual.nano, 2'200'000);
  EXPECT_NEAR(static_cast<double>(b.bound.dispatch_bound.nano), 1'100'000 + 178'400, 2.0);
}

TEST(Bound, says_when_the_source_can_be_read_only_once) {
  auto fleet = api_fleet();
  const Snapshot snapshot(*fleet);
  MemorySource source({made(0.0, 10, 10)});
  RunOptions options;
  options.facts = true;
  const Result<RunResult> done = run(snapshot, source, options);
  ASSERT_TRUE(done);
  source.once = true;
  const Result<BoundResult> least = bound(snapshot, source, *done, {});
  ASSERT_FALSE(least);
  EXPECT_EQ(least.error().code(), Errc::unavailable);
}

}  // namespace
}  // namespace ace
