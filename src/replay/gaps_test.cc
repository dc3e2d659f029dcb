#include "replay/gaps.h"

#include <gtest/gtest.h>

#include "replay/replay_testing.h"

namespace ace {
namespace {

Instant at(double s) { return instant(0) + from_seconds(s); }

TEST(SpineGaps, hold_what_lies_in_any_of_them) {
  const SpineGaps gaps({{at(50), at(60)}, {at(10), at(20)}, {at(15), at(30)}, {at(40), at(40)}, {at(60), at(70)}});
  const std::vector<SpineGap> want = {{at(10), at(30)}, {at(50), at(70)}};
  EXPECT_EQ(gaps.all(), want);
  const struct {
    double t;
    bool held;
  } cases[] = {{9.9, false}, {10, true}, {29.9, true}, {30, false}, {40, false}, {50, true}, {69, true}, {70, false}};
  for (const auto& c : cases) EXPECT_EQ(gaps.hold(at(c.t)), c.held) << c.t;
  EXPECT_FALSE(SpineGaps().hold(at(0)));
}

TEST(SpineGaps, disallow_what_was_saved_in_them_and_never_a_loss) {
  auto fleet = replay_testing::api_fleet();
  ServerProfile p;
  p.prefill_tokens_per_s = 10'000.0;
  p.step_base_s = 0.01;
  p.kv_tokens_max = 1'000'000;
  p.measured = true;
  fleet->destinations.push_back(replay_testing::owned_pool(p));
  const Snapshot snapshot(*fleet);
  const auto replay = [&](SpineGaps gaps) {
    std::vector<replay_testing::Made> requests;
    for (int i = 0; i < 600; ++i) requests.push_back(replay_testing::made(i, 100, 10));
    replay_testing::MemorySource source(std::move(requests));
    RunOptions options;
    options.gaps = std::move(gaps);
    return run(snapshot, source, options);
  };
  const Result<RunResult> whole = replay({}), torn = replay(SpineGaps({{at(100), at(160)}}));
  ASSERT_TRUE(whole && torn);
  constexpr auto kGap = static_cast<std::size_t>(Reason::gap);
  EXPECT_EQ(whole->statement.requests_by_reason[kGap], 0U);
  EXPECT_EQ(torn->statement.requests_by_reason[kGap], 60U);
  // Each request saves the same: 110 tokens at $1 per million.
  EXPECT_EQ(torn->statement.disallowed_by_reason[kGap], Usd{60 * 110 * 1'000});
  EXPECT_EQ(torn->statement.c0, whole->statement.c0);
  EXPECT_EQ(torn->statement.c4, whole->statement.c4);
}

}  // namespace
}  // namespace ace
