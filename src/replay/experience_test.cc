#include "replay/experience.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "replay/replay_testing.h"

namespace ace {
namespace {

using replay_testing::made;
using replay_testing::Made;
using replay_testing::MemorySource;

std::unique_ptr<Fleet> world() {
  auto fleet = replay_testing::api_fleet();
  fleet->destinations[0].latency.error_rate = 0.1;
  fleet->destinations.push_back(replay_testing::owned_pool(replay_testing::simple_profile()));
  fleet->destinations[1].amortization_hourly = Usd{1'000'000'000};
  return fleet;
}

/// What the settled requests of a run say, and what its events say.
struct Both {
  Experiences settled;
  Realised heard;
};

TEST(Experience, of_a_recorded_run_is_what_its_events_say) {
  for_each_seed(5, [](Rng& rng) {
    const auto fleet = world();
    const Snapshot snapshot(*fleet);
    std::vector<Made> requests;
    double at = 0.0;
    for (int i = 0; i < 1'500; ++i) {
      requests.push_back(made(at += rng.exponential(0.1), static_cast<std::int32_t>(rng.between(10, 4'000)),
                              static_cast<std::int32_t>(rng.between(1, 200))));
      requests.back().arrival.cache_hit = rng.below(20) == 0;
    }
    MemorySource source(std::move(requests), {"m"});
    Both both{{},
              Realised({.snapshot = [&](std::uint64_t) -> Result<const Snapshot*> { return &snapshot; },
                        .from = Instant::min(),
                        .to = Instant::max(),
                        .only = std::nullopt})};
    RunOptions options;
    options.each = [&](const Settled& settled) { both.settled.add(snapshot, settled); };
    options.record = [&](const event::Record& record) {
      return both.heard.hear(*event::decode(*event::encode(record)));
    };
    const Result<RunResult> run_ = run(snapshot, source, options);
    ASSERT_TRUE(run_);
    both.settled.add_fixed(run_->statement.fixed);
    const Experiences& seen = both.heard.seen();
    ASSERT_EQ(seen.parts().size(), both.settled.parts().size());
    for (const auto& [name, experience] : both.settled.parts()) {
      const Experience& other = seen.parts().at(name);
      EXPECT_EQ(
          std::tuple(other.requests, other.served, other.cache_hits, other.slo_met, other.spilled, other.unpriced),
          std::tuple(experience.requests, experience.served, experience.cache_hits, experience.slo_met,
                     experience.spilled, experience.unpriced));
      EXPECT_EQ(other.cost, experience.cost);
      EXPECT_EQ(other.ttft_us.sum(), experience.ttft_us.sum());
      EXPECT_EQ(other.tpot_us.sum(), experience.tpot_us.sum());
    }
    EXPECT_EQ(seen.total().fixed, both.settled.total().fixed);
    EXPECT_GT(seen.total().spilled + seen.total().cache_hits, 0U);
    EXPECT_EQ(both.heard.decided() + seen.total().cache_hits, 1'500U);
  });
}

TEST(Experience, of_what_was_only_seen_costs_what_the_log_said_or_what_its_price_says) {
  const auto fleet = replay_testing::api_fleet();  // 1 USD per million tokens
  const Snapshot snapshot(*fleet);
  Realised realised({.snapshot = [&](std::uint64_t) -> Result<const Snapshot*> { return &snapshot; },
                     .from = Instant::min(),
                     .to = Instant::max(),
                     .only = std::nullopt});
  const auto hear = [&](std::uint64_t n, OfferId offer, std::int64_t observed) {
    const RequestId id{1, n};
    event::Admitted admitted;
    admitted.id = id;
    admitted.requested = ModelId{0};
    admitted.slo = SloId{0};
    event::Attempted attempted;
    attempted.id = id;
    attempted.offer = attempted.billed_as = offer;
    attempted.answered = true;
    attempted.billed = Usage(Tokens{100}, Tokens{0}, Tokens{20});
    event::Completed completed;
    completed.id = id;
    completed.offer = offer;
    completed.usage = attempted.billed;
    completed.observed_cost_nano = observed;
    for (const event::Event& event : {event::Event(admitted), event::Event(attempted), event::Event(completed)}) {
      event::Record record;
      record.event = event;
      ASSERT_TRUE(realised.hear(record));
    }
  };
  hear(1, OfferId{0}, 5'000);
  hear(2, OfferId{0}, -1);  // 120 tokens at 1,000 nano-USD each
  hear(3, OfferId{}, 7'000);
  hear(4, OfferId{}, -1);
  EXPECT_EQ(realised.seen().total().cost, Usd{5'000 + 120'000 + 7'000});
  EXPECT_EQ(realised.seen().total().unpriced, 1U);
  EXPECT_EQ(realised.seen().parts().at({"m", "api"}).served, 2U);
  EXPECT_EQ(realised.seen().parts().at({"m", ""}).served, 2U);
  EXPECT_EQ(realised.decided(), 0U);
}

TEST(Experience, with_an_index_outside_its_snapshot_is_corrupt) {
  const auto fleet = replay_testing::api_fleet();
  const Snapshot snapshot(*fleet);
  Realised realised({.snapshot = [&](std::uint64_t) -> Result<const Snapshot*> { return &snapshot; },
                     .from = Instant::min(),
                     .to = Instant::max(),
                     .only = std::nullopt});
  event::Record record;
  event::Admitted admitted;
  admitted.id = {1, 1};
  admitted.requested = ModelId{9};
  record.event = admitted;
  ASSERT_TRUE(realised.hear(record));
  event::Completed completed;
  completed.id = {1, 1};
  record.event = completed;
  EXPECT_EQ(realised.hear(record).error().code(), Errc::corrupt);
}

}  // namespace
}  // namespace ace
