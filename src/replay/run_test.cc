#include "replay/run.h"

#include <gtest/gtest.h>

#include "core/hash.h"
#include "replay/replay_testing.h"

namespace ace {
namespace {

using replay_testing::made;
using replay_testing::Made;
using replay_testing::MemorySource;

/// Two models that share nothing: two islands, each with an API and a pool.
std::unique_ptr<Fleet> two_islands() {
  auto fleet = replay_testing::api_fleet();
  Fleet& f = *fleet;
  f.models.push_back(f.models[0]);
  f.models[1].name = "n";
  f.destinations.push_back(replay_testing::owned_pool(replay_testing::simple_profile()));
  f.destinations[1].name = "own-m";
  f.destinations[1].amortization_hourly = Usd{1'000'000'000};
  Destination api = f.destinations[0];
  api.name = "papi";
  api.latency.error_rate = 0.05;
  api.serving[0].model = ModelId{1};
  f.destinations.push_back(api);
  f.models[1].baseline->destination = DestinationId{2};
  Destination spot = replay_testing::owned_pool(replay_testing::simple_profile(), 2);
  spot.name = "spot-n";
  spot.tier = Tier::spot;
  spot.serving[0].model = ModelId{1};
  spot.rental.emplace().hourly = Usd{500'000'000};
  spot.rental->hazard_per_hour = 4.0;
  f.destinations.push_back(spot);
  return fleet;
}

MemorySource mixed(std::size_t count) {
  Rng rng(11, "mixed");
  double at = 0.0;
  std::vector<Made> requests;
  for (std::size_t i = 0; i < count; ++i) {
    at += rng.exponential(0.2);
    Made m =
        made(at, static_cast<std::int32_t>(rng.between(100, 3000)), static_cast<std::int32_t>(rng.between(1, 200)));
    m.arrival.model = static_cast<std::uint32_t>(rng.below(2));
    m.arrival.tenant = static_cast<std::uint32_t>(rng.below(3));
    for (std::int32_t k = 0; k * 512 < m.arrival.prompt; ++k)
      m.blocks.push_back(static_cast<std::uint32_t>(k * 4) + static_cast<std::uint32_t>(rng.below(4)));
    requests.push_back(m);
  }
  return MemorySource(std::move(requests), {"m", "n"}, {"a", "b", "c"});
}

/// Everything of a run that a report says, as text.
std::string text_of(const RunResult& r) {
  const Statement& s = r.statement;
  std::string text;
  const auto say = [&](auto value) { text += std::to_string(value) + " "; };
  for (const Usd amount : {s.c0, s.c1, s.c2, s.c3, s.c4, s.denominator, s.fixed, s.claimed.sum(), s.disallowed.sum(),
                           s.counted.sum(), s.other.counted, s.cheapest.counted, s.avoidable})
    say(amount.nano);
  for (const Usd amount : s.shapley) say(amount.nano);
  for (const std::uint64_t n : {s.requests, s.served, s.slo_met, s.spilled, s.retried, r.evictions, r.unit_changes})
    say(n);
  say(s.goodput);
  for (const Cell& c : s.cells) {
    say(c.hour);
    say(c.tenant);
    say(c.model.value);
    say(c.actual.nano);
  }
  for (const UsageLine& u : s.usage) {
    say(u.destination.value);
    say(u.requests);
    say(u.total().nano);
  }
  for (const double share : r.used_share) say(share);
  for (const KneePoint& knee : r.knees) {
    say(knee.prior);
    say(knee.fitted);
  }
  for (const SeriesBucket& b : r.series.buckets()) {
    say(b.served);
    for (const std::int64_t cost : b.cost_nano) say(cost);
  }
  say(nanos(r.last));
  return text;
}

std::string replayed(unsigned threads, std::uint64_t seed) {
  const auto fleet = two_islands();
  const Snapshot snapshot(*fleet);
  MemorySource source = mixed(6000);
  RunOptions options;
  options.threads = threads;
  options.seed = seed;
  options.compare_status_quo = true;
  Result<RunResult> done = run(snapshot, source, options);
  EXPECT_TRUE(done) << (done ? "" : done.error().what());
  if (!done) return "";
  EXPECT_EQ(done->islands, 2U);
  EXPECT_EQ(done->replayed, 6000U);
  return text_of(*done);
}

TEST(Run, does_not_depend_on_the_number_of_threads) {
  const std::string one = replayed(1, 1);
  EXPECT_FALSE(one.empty());
  EXPECT_EQ(one, replayed(2, 1));
}

TEST(Run, gives_the_same_for_the_same_seed_and_another_for_another) {
  EXPECT_EQ(replayed(1, 5), replayed(1, 5));
  EXPECT_NE(replayed(1, 5), replayed(1, 6));  // latencies and evictions are drawn
}

// Rounds of 12 requests at once, every 2 s for 10 minutes; each has 100 prompt and 100 output tokens and is over after
// a second. A rented replica holds 8, its knee is believed at 0.63; "api", the default, asks 1 USD per million tokens
// and "low" half of it.
//   ours        5 on the replica, the most under the knee; 7 at "low":     7 x 200 x 0.5 =   700 millionths of a dollar
//   status quo  7 on the replica, the most below its cap; 5 at "api":      5 x 200 x 1   = 1,000
// so a round saves 300 and 300 rounds save 0.09 USD. A second replica is asked for above 1.05 of the knee. Ours never
// gets there (5/8 / 0.63 = 0.99); the status quo alone would (7/8 / 0.63 = 1.39), spend nothing from then on, and the
// rent of its second replica would be in no fixed cost: a saving of 0.09 USD would read as a loss of 0.15.
TEST(Run, gives_the_status_quo_the_units_whose_fixed_cost_stands_on_both_sides) {
  auto fleet = replay_testing::api_fleet();
  Fleet& f = *fleet;
  f.prices.rows.push_back(replay_testing::price_row("low/m", 500'000'000, 500'000'000, 500'000'000));
  Destination low = f.destinations[0];
  low.name = "low";
  low.declared = 2;
  low.serving[0].price = PriceId{1};
  f.destinations.push_back(low);
  Destination pool = replay_testing::owned_pool(replay_testing::simple_profile());
  pool.tier = Tier::on_demand;
  pool.declared = 1;
  pool.rental.emplace().hourly = Usd{3'600'000'000};
  pool.units.reactive = ReactivePolicy{.up_at = 1.05,
                                       .down_at = 0.0,
                                       .start_delay = kMinute,
                                       .min_up = kMinute,
                                       .min_down = kMinute,
                                       .units_min = 1,
                                       .units_max = 2};
  f.destinations.push_back(pool);
  const Snapshot snapshot(f);
  MemorySource source =
      MemorySource::of(3600, [](std::size_t i) { return made(1.5 + 2.0 * static_cast<double>(i / 12), 100, 100); });
  RunOptions options;
  options.compare_status_quo = true;
  options.baseline = BaselineKind::status_quo;
  options.belief.learn_knee = false;
  options.belief.knee_prior_scale = 0.7;
  const Result<RunResult> done = run(snapshot, source, options);
  ASSERT_TRUE(done) << done.error().what();
  EXPECT_EQ(done->unit_changes, 1U) << "the one that runs from the start";
  EXPECT_EQ(done->statement.other.baseline.nano, 300 * 1'000'000);
  EXPECT_EQ(done->statement.c4.nano, 300 * 700'000);
  EXPECT_EQ(done->statement.other.claimed.nano, 300 * 300'000);
}

// Two requests of 100 + 100 tokens at 1 USD/Mtok, each logged at its price, and an image for 0.04 USD.
TEST(Run, leaves_out_what_no_token_explains_with_what_the_log_says_it_cost) {
  const auto fleet = replay_testing::api_fleet();
  const Snapshot snapshot(*fleet);
  MemorySource source = MemorySource::of(3, [](std::size_t i) {
    const std::int32_t tokens = i == 1 ? 0 : 100;
    Made m = made(static_cast<double>(i), tokens, tokens);
    m.arrival.cost_nano = i == 1 ? 40'000'000 : 200'000;
    return m;
  });
  RunOptions options;
  options.compare_status_quo = true;
  options.baseline = BaselineKind::status_quo;
  const Result<RunResult> done = run(snapshot, source, options);
  ASSERT_TRUE(done) << done.error().what();
  EXPECT_EQ(done->replayed, 2U);
  ASSERT_EQ(done->unreplayed.size(), 1U);
  EXPECT_EQ(done->unreplayed[0].requests, 1U);
  EXPECT_EQ(done->unreplayed[0].logged, Usd{40'000'000});
  EXPECT_EQ(done->statement.other.baseline, Usd{400'000});
  EXPECT_EQ(done->statement.other.claimed, Usd{});
}

TEST(Run, counts_answers_of_a_response_cache_on_both_sides_alike) {
  const auto fleet = replay_testing::api_fleet();
  const Snapshot snapshot(*fleet);
  MemorySource source = MemorySource::of(10, [](std::size_t i) {
    Made m = made(static_cast<double>(i), 100, 10);
    m.arrival.cache_hit = i % 2 == 0;
    return m;
  });
  RunOptions options;
  options.compare_status_quo = true;
  const Result<RunResult> done = run(snapshot, source, options);
  ASSERT_TRUE(done) << done.error().what();
  EXPECT_EQ(done->statement.served, 10U);
  EXPECT_EQ(done->statement.slo_met, 10U);
  EXPECT_EQ(done->status_quo_served, 10U);
  EXPECT_EQ(done->status_quo_slo_met, 10U);
}

TEST(Run, refuses_rows_that_go_back_in_time) {
  class Backwards : public MemorySource {
   public:
    using MemorySource::MemorySource;
    Result<std::size_t> next(std::span<Arrival> batch) override {
      const Result<std::size_t> n = MemorySource::next(batch);
      if (n && *n == 2) std::swap(batch[0], batch[1]);
      return n;
    }
  };
  const auto fleet = replay_testing::api_fleet();
  const Snapshot snapshot(*fleet);
  Backwards source({made(0.0, 10, 10), made(1.0, 10, 10)});
  const Result<RunResult> done = run(snapshot, source, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), Errc::bad_input);
}

}  // namespace
}  // namespace ace
