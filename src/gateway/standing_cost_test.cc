#include "gateway/standing_cost.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "core/testing.h"
#include "gateway/desk_testing.h"
#include "ledger/spine_testing.h"

namespace ace::gateway {
namespace {

using ledger_testing::kGpu;
using ledger_testing::kRent;
using Kind = event::FixedCost::Kind;

constexpr Instant kStart = instant(1'800'000'000'123'456'789);

Usd rent(const std::vector<event::Event>& events) {
  Usd sum{};
  for (const event::Event& e : events)
    if (const auto* cost = std::get_if<event::FixedCost>(&e); cost != nullptr && cost->kind == Kind::rental)
      sum += cost->amount;
  return sum;
}

TEST(StandingCost, grows_from_its_beginning_so_that_an_increment_never_begins_anew) {
  const auto world = std::make_shared<World>(paid_fleet());
  StandingCost standing(world, kStart);
  // Two units at 2 USD an hour, by the hour.
  const struct {
    Duration after;
    std::int64_t usd;
  } cases[] = {{10 * kMinute, 4}, {20 * kMinute, 4}, {kHour, 4}, {kHour + kSecond, 8}};
  for (const auto& c : cases) {
    EXPECT_EQ(rent(standing.until(kStart + c.after)), Usd{c.usd * 1'000'000'000}) << to_seconds(c.after);
    standing.said(kStart + c.after);
  }
}

TEST(StandingCost, says_bookings_before_what_follows_from_them) {
  const StandingCost standing(std::make_shared<World>(paid_fleet()), kStart);
  const std::vector<event::Event> events = standing.until(kStart + kMinute);
  const auto booking = [](const event::Event& e) { return std::holds_alternative<event::GpuBooking>(e); };
  EXPECT_TRUE(std::is_partitioned(events.begin(), events.end(), booking));
  EXPECT_EQ(std::count_if(events.begin(), events.end(), booking), 2 * 2 + 2) << "two of two GPUs, two of one";
  std::set<Kind> kinds;
  for (const event::Event& e : events)
    if (const auto* cost = std::get_if<event::FixedCost>(&e)) kinds.insert(cost->kind);
  EXPECT_EQ(kinds.size(), 5U) << "amortization, idle power, commitment, rental, hosts";
}

TEST(StandingCost, is_silent_where_no_millisecond_or_nothing_has_passed) {
  StandingCost standing(std::make_shared<World>(paid_fleet()), kStart);
  EXPECT_TRUE(standing.until(kStart).empty());
  EXPECT_TRUE(standing.until(kStart + Duration{100'000}).empty());
  EXPECT_FALSE(standing.until(kStart + std::chrono::milliseconds{1}).empty());
  standing.said(kStart + kMinute);
  EXPECT_TRUE(standing.until(kStart + kMinute).empty());
}

TEST(StandingCost, is_never_any_of_a_fleet_that_pays_by_the_token_alone) {
  EXPECT_TRUE(StandingCost(std::make_shared<World>(paid_fleet()), kStart).any());
  Fleet fleet = ledger_testing::small_fleet();
  for (const DestinationId d : {kGpu, kRent}) fleet.destinations[d.value].units.units = 0;
  const StandingCost standing(std::make_shared<World>(std::move(fleet)), kStart);
  EXPECT_FALSE(standing.any());
  EXPECT_TRUE(standing.until(kStart + kHour).empty());
}

TEST(StandingCost, said_in_any_number_of_turns_folds_to_what_one_stretch_costs) {
  for_each_seed(30, [](Rng& rng) {
    const auto world = std::make_shared<World>(paid_fleet());
    StandingCost standing(world, kStart);
    MemorySpine spine;
    const std::uint64_t number = spine.declare(*world, event::FleetChanged::Source::live, kStart, false).value();
    std::uint64_t ids = 0;
    Instant now = kStart;
    const auto say = [&](MemorySpine& to, const StandingCost& from) {
      for (event::Event& e : from.until(now))
        ASSERT_TRUE(to.append(ledger_testing::record_of({1, ++ids}, number, std::move(e))));
    };
    for (int turn = 0; turn < 12; ++turn) {
      now += Duration{rng.between(0, nanos(40 * kMinute))};
      say(spine, standing);
      standing.said(now);
    }
    MemorySpine whole;
    (void)whole.declare(*world, event::FleetChanged::Source::live, kStart, false).value();
    say(whole, StandingCost(world, kStart));
    EXPECT_EQ(spine.verified(), "");
    const FoldedBooks in_turns = spine.folded().close(Grade::measured, {}).value();
    const FoldedBooks at_once = whole.folded().close(Grade::measured, {}).value();
    EXPECT_GT(at_once.statement.fixed, Usd{});
    EXPECT_EQ(in_turns.statement.fixed_lines, at_once.statement.fixed_lines);
    EXPECT_EQ(in_turns.statement.gpu_time, at_once.statement.gpu_time);
    EXPECT_EQ(in_turns.facts, FoldedFacts{});
  });
}

}  // namespace
}  // namespace ace::gateway
