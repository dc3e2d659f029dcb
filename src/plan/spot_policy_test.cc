#include "plan/spot_policy.h"

#include "core/testing.h"

namespace ace {
namespace {

constexpr SpotPrices kPrices{{1'000'000'000}, {3'000'000'000}};  // 1 and 3 USD an hour
using Steps = std::vector<std::uint8_t>;

SpotTask hours(std::int64_t work, std::int64_t deadline, Duration changeover = {}, Duration checkpoint = {}) {
  return {work * kHour, deadline * kHour, changeover, checkpoint};
}

TEST(SpotPolicy, greedy_waits_for_spot_until_the_slack_is_gone_and_then_pays) {
  // Two hours of work in six, spot never there: it tries in hour 0, waits, and must start at hour 4.
  const SpotOutcome none = *run_spot(SpotRule::greedy, hours(2, 6), kPrices, Steps(6, 0), kHour);
  EXPECT_TRUE(none.met);
  EXPECT_EQ(none.finished, 6 * kHour);
  EXPECT_EQ(none.cost, Usd{6'000'000'000});
  const SpotOutcome late = *run_spot(SpotRule::greedy, hours(2, 6), kPrices, Steps{0, 0, 1, 1, 1, 1}, kHour);
  // Seen at the end of hour 2, held in hours 3 and 4.
  EXPECT_EQ(late.finished, 5 * kHour);
  EXPECT_EQ(late.cost, Usd{2'000'000'000});
}

TEST(SpotPolicy, uniform_progress_pays_when_it_falls_behind_and_holds_on) {
  const SpotTask task = hours(3, 6, 15 * kMinute);
  const auto mode = [&](Duration now, Duration done, SpotMode held, bool available) {
    return next_mode(SpotRule::uniform_progress, task, {now, done, done, held, available, 15 * kMinute});
  };
  EXPECT_EQ(mode(kHour, kHour / 2, SpotMode::idle, false), SpotMode::idle);  // exactly on the line
  EXPECT_EQ(mode(kHour, kHour / 2 - kMinute, SpotMode::idle, false), SpotMode::on_demand);
  EXPECT_EQ(mode(kHour, kHour / 2 - kMinute, SpotMode::idle, true), SpotMode::spot);
  // On demand until it is where the line is in two changeovers: 45 minutes after 1 h.
  EXPECT_EQ(mode(kHour, 44 * kMinute, SpotMode::on_demand, true), SpotMode::on_demand);
  EXPECT_EQ(mode(kHour, 45 * kMinute, SpotMode::on_demand, true), SpotMode::spot);
}

TEST(SpotPolicy, an_eviction_takes_what_no_checkpoint_holds) {
  // 90 minutes between checkpoints: of 2 h on spot 90 minutes survive.
  const SpotOutcome o =
      *run_spot(SpotRule::greedy, hours(4, 12, {}, 90 * kMinute), kPrices, Steps{1, 1, 0, 1, 1, 1, 1, 1}, kHour);
  EXPECT_EQ(o.evictions, 1);
  EXPECT_EQ(o.lost, 30 * kMinute);
  EXPECT_TRUE(o.met);
  EXPECT_EQ(o.on_spot, 4 * kHour + 30 * kMinute);
}

TEST(SpotPolicy, always_spot_may_never_finish) {
  const SpotOutcome o = *run_spot(SpotRule::spot, hours(2, 4), kPrices, Steps{1, 0, 0, 0}, kHour);
  EXPECT_FALSE(o.met);
  EXPECT_EQ(o.cost, Usd{1'000'000'000});
}

TEST(SpotPolicy, the_optimum_knows_what_comes) {
  // Changeover 30 minutes. 3 h of work by hour 5, spot in hours 1 and 2 only: 1.5 h there for 2 USD; then on demand
  // 0.5 + 1.5 h for 6. Or on demand alone: 3.5 h for 10.5.
  EXPECT_EQ(*spot_optimum(hours(3, 5, 30 * kMinute), kPrices, Steps{0, 1, 1, 0, 0}, kHour), Usd{8'000'000'000});
  EXPECT_EQ(*spot_optimum(hours(3, 5, 30 * kMinute), kPrices, Steps(5, 0), kHour), Usd{10'500'000'000});
}

TEST(SpotPolicy, what_cannot_be_is_said) {
  EXPECT_FALSE(run_spot(SpotRule::greedy, hours(4, 4, kMinute), kPrices, Steps{}, kHour));
  EXPECT_FALSE(run_spot(SpotRule::greedy, hours(0, 4), kPrices, Steps{}, kHour));
  EXPECT_FALSE(run_spot(SpotRule::greedy, hours(1, 9, 2 * kHour), kPrices, Steps{}, kHour));
  EXPECT_FALSE(run_spot(SpotRule::greedy, hours(1, 9), kPrices, Steps{}, Duration{}));
  EXPECT_FALSE(spot_optimum({kHour + Duration{1}, 9 * kHour, {}, {}}, kPrices, Steps{}, kHour));  // by nanoseconds
}

TEST(SpotPolicy, the_optimum_of_a_large_fleet_in_seconds_is_what_it_costs) {
  // Four hours of work and a changeover of 7 s, spot never there: 4 h 7 s on demand at 1,000,000 USD an hour.
  const SpotTask task{4 * kHour, 6 * kHour, 7 * kSecond, {}};
  const SpotPrices prices{{500'000'000'000'000}, {1'000'000'000'000'000}};
  EXPECT_EQ(*spot_optimum(task, prices, Steps(72, 0), 5 * kMinute), Usd{4'001'944'444'444'444});
  EXPECT_EQ(run_spot(SpotRule::on_demand, task, prices, Steps(72, 0), 5 * kMinute)->cost, Usd{4'001'944'444'444'444});
  const SpotPrices too_dear{{1}, {4'000'000'000'000'000'000}};
  EXPECT_EQ(run_spot(SpotRule::on_demand, task, too_dear, Steps(72, 0), 5 * kMinute).error().code(),
            Errc::out_of_range);
  EXPECT_EQ(spot_optimum(task, too_dear, Steps(72, 0), 5 * kMinute).error().code(), Errc::out_of_range);
}

SpotTask random_task(Rng& rng) {
  SpotTask task;
  task.work = rng.between(1, 100) * 10 * kMinute;
  task.changeover = rng.between(0, 6) * 5 * kMinute;
  task.checkpoint = rng.chance(0.5) ? Duration{} : rng.between(1, 20) * 10 * kMinute;
  task.deadline = task.work + task.changeover + rng.between(0, 100) * 10 * kMinute;
  return task;
}

/// Comes and goes in runs.
Steps random_availability(Rng& rng, std::size_t steps) {
  Steps available;
  const double stays = rng.uniform();
  bool there = rng.chance(0.5);
  while (available.size() < steps) {
    if (!rng.chance(stays)) there = rng.chance(0.5);
    available.push_back(there ? 1 : 0);
  }
  return available;
}

TEST(SpotPolicy, no_deadline_is_missed_and_no_rule_beats_the_optimum) {
  for_each_seed(1000, [](Rng& rng) {
    const SpotTask task = random_task(rng);
    const Steps available = random_availability(rng, static_cast<std::size_t>(rng.between(0, 80)));
    const Usd least = *spot_optimum(task, kPrices, available, 30 * kMinute);
    for (const SpotRule rule : kSpotRules) {
      const SpotOutcome o = *run_spot(rule, task, kPrices, available, 30 * kMinute);
      if (rule != SpotRule::spot) {
        EXPECT_TRUE(o.met) << name_of(rule);
      }
      if (o.met) {
        EXPECT_GE(o.cost, least) << name_of(rule);
      }
      if (rule == SpotRule::on_demand) {
        EXPECT_EQ(o.paid, task.work + task.changeover);
      }
    }
  });
}

TEST(SpotPolicy, more_availability_never_raises_the_optimum) {
  for_each_seed(200, [](Rng& rng) {
    const SpotTask task = random_task(rng);
    Steps available = random_availability(rng, 60);
    const Usd before = *spot_optimum(task, kPrices, available, 30 * kMinute);
    for (std::uint8_t& step : available)
      if (rng.chance(0.3)) step = 1;
    EXPECT_LE(*spot_optimum(task, kPrices, available, 30 * kMinute), before);
  });
}

}  // namespace
}  // namespace ace
