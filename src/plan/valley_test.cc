#include "plan/valley.h"

#include <algorithm>
#include <functional>
#include <map>

#include "core/testing.h"

namespace ace {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;

Instant hour(std::int64_t h) { return instant(h * nanos(kHour)); }
Usd dollars(std::int64_t d) { return {d * 1'000'000'000}; }

/// @param hours  units free in each hour from 0 on
Trough trough(const std::vector<std::int64_t>& hours) {
  Trough t;
  for (const std::int64_t units : hours) t.room.push_back(units * kHourMs);
  return t;
}

DeferrableJob job(std::int64_t unit_hours, std::int64_t earliest, std::int64_t deadline, std::int64_t units_max = 1) {
  DeferrableJob j;
  j.name = "j";
  j.work = unit_hours * kHourMs;
  j.earliest = hour(earliest);
  j.deadline = hour(deadline);
  j.units_max = units_max;
  return j;
}

TEST(Valley, work_goes_where_it_costs_least_and_is_bought_only_for_the_rest) {
  Trough t = trough({2, 2, 2});
  t.price = {dollars(3), dollars(1), dollars(2)};
  t.bought = dollars(10);
  ValleyPlanner planner(t);
  // 7 unit-hours, all within 3 hours of 2 free units: 2 at 1 USD, 2 at 2, 2 at 3, one bought at 10 in the last hour.
  ASSERT_TRUE(planner.take(std::vector{job(7, 0, 3, 7)}));
  const ValleyPlan plan = planner.plan();
  EXPECT_EQ(plan.load, (std::vector<std::int64_t>{2 * kHourMs, 2 * kHourMs, 2 * kHourMs}));
  EXPECT_EQ(plan.bought, (std::vector<std::int64_t>{0, 0, kHourMs}));
  EXPECT_EQ(plan.cost, dollars(2 + 4 + 6 + 10));
  EXPECT_EQ(plan.unplaced[0], 0);
}

TEST(Valley, a_job_runs_in_whole_steps_of_its_window_and_in_no_room_that_is_not_there) {
  // It may start at half past zero and is due at half past three: hours 1 and 2 are all that it has.
  for (const bool preemptible : {true, false}) {
    ValleyPlanner planner(trough({1, 1, 1, 1}));
    DeferrableJob between = job(2, 0, 3);
    between.earliest += 30 * kMinute, between.deadline += 30 * kMinute;
    between.preemptible = preemptible;
    ASSERT_TRUE(planner.admit(between));
    EXPECT_EQ(planner.plan().load, (std::vector<std::int64_t>{0, kHourMs, kHourMs, 0}));
    between.work = 3 * kHourMs;
    EXPECT_FALSE(ValleyPlanner(trough({1, 1, 1, 1})).admit(between));
  }
  // Half a millisecond of a unit is no room.
  EXPECT_EQ(trough_of({"free", hour(0), kHour, {1.0 + 0.5 / kHourMs, 0.5 / kHourMs, kGap}})->room,
            (std::vector<std::int64_t>{kHourMs, 0, 0}));
}

TEST(Valley, an_infeasible_job_is_refused_with_the_time_from_which_it_is_not) {
  ValleyPlanner planner(trough({1, 1, 0, 1, 1}));
  ASSERT_TRUE(planner.admit(job(2, 0, 2)));
  const Result<std::size_t> refused = planner.admit(job(2, 0, 3));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::conflict);
  EXPECT_NE(refused.error().what().find("earliest that it can be done is 1970-01-01T05:00:00Z"), std::string::npos)
      << refused.error().what();
  EXPECT_TRUE(planner.admit(job(2, 0, 5)));
  const Result<std::size_t> never = planner.admit(job(1, 0, 5));
  ASSERT_FALSE(never);
  EXPECT_NE(never.error().what().find("nor by the end of the forecast"), std::string::npos);
  EXPECT_EQ(planner.jobs().size(), 2U);
}

TEST(Valley, a_job_that_cannot_pause_gets_hours_in_a_row_and_others_make_way) {
  ValleyPlanner planner(trough({2, 1, 2, 2}));
  ASSERT_TRUE(planner.admit(job(3, 0, 4, 2)));
  DeferrableJob block = job(4, 0, 4, 2);  // two units for two hours: only 2 and 3 have them
  block.units_min = 2;
  block.preemptible = false;
  ASSERT_TRUE(planner.admit(block));
  const ValleyPlan plan = planner.plan();
  EXPECT_EQ(plan.load, (std::vector<std::int64_t>{2 * kHourMs, kHourMs, 2 * kHourMs, 2 * kHourMs}));
  const std::span<const Slot> of_block = plan.of(1);
  EXPECT_EQ(std::vector<Slot>(of_block.begin(), of_block.end()),
            (std::vector<Slot>{{1, 2, 2 * kHourMs}, {1, 3, 2 * kHourMs}}));
}

TEST(Valley, a_block_that_stands_in_the_way_of_an_earlier_deadline_moves) {
  ValleyPlanner planner(trough({1, 1, 1}));
  DeferrableJob late = job(1, 0, 3), early = job(1, 0, 1);
  late.preemptible = early.preemptible = false;
  ASSERT_TRUE(planner.admit(late));  // takes hour 0
  EXPECT_TRUE(planner.admit(early));
  EXPECT_EQ(planner.plan().slots, (std::vector<Slot>{{0, 1, kHourMs}, {1, 0, kHourMs}}));
}

TEST(Valley, a_pause_costs_a_restart) {
  DeferrableJob j = job(2, 0, 4);
  j.restart = 30 * kMinute;
  // Hours 0, 2, 3 are free: 1 h, then half an hour is lost, so 2 h are done only at the end of hour 3.
  ValleyPlanner planner(trough({1, 0, 1, 1}));
  ASSERT_TRUE(planner.admit(j));
  const ValleyPlan plan = planner.plan();
  EXPECT_TRUE(plan.slots == (std::vector<Slot>{{0, 2, kHourMs}, {0, 3, kHourMs}}));  // in a row it costs nothing
  ValleyPlanner gaps(trough({1, 0, 1, 0}));
  EXPECT_FALSE(gaps.admit(j));
}

TEST(Valley, bounds_of_a_job_are_checked) {
  ValleyPlanner planner(trough({1}));
  DeferrableJob none = job(0, 0, 1), backwards = job(1, 1, 1), narrow = job(1, 0, 1, 0), slow = job(1, 0, 1);
  slow.restart = 2 * kHour;
  for (const DeferrableJob& j : {none, backwards, narrow, slow}) {
    const Result<std::size_t> refused = planner.admit(j);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Errc::bad_input) << refused.error().what();
  }
}

TEST(Valley, a_forecast_is_room_and_a_gap_is_none) {
  const Result<Trough> t = trough_of({"pool", hour(1), 30 * kMinute, {1.5, kGap, 0.0}});
  ASSERT_TRUE(t);
  EXPECT_EQ(t->room, (std::vector<std::int64_t>{kHourMs * 3 / 4, 0, 0}));
  EXPECT_FALSE(trough_of({"pool", hour(1), kHour, {-1.0}}));
  EXPECT_FALSE(trough_of({"pool", hour(1), kHour, {1e9}}));
  EXPECT_FALSE(trough_of({"pool", hour(1), Duration{1}, {1.0}}));
}

TEST(Valley, what_can_be_given_away_is_told_by_the_hour) {
  Trough t = *trough_of({"pool", hour(0), 30 * kMinute, {2.0, 4.0, 1.0}});
  ValleyPlanner planner(t);
  ASSERT_TRUE(planner.admit(job(1, 0, 1, 2)));
  const std::vector<DonatableHour> hours = donatable(t, planner.plan());
  ASSERT_EQ(hours.size(), 2U);
  EXPECT_DOUBLE_EQ(hours[0].free_unit_hours, 3.0);
  EXPECT_DOUBLE_EQ(hours[0].left_unit_hours(), 2.0);
  EXPECT_DOUBLE_EQ(hours[1].left_unit_hours(), 0.5);
}

DeferrableJob random_job(Rng& rng, std::int64_t now, std::int64_t steps) {
  const std::int64_t first = rng.between(now, steps - 1), last = rng.between(first + 1, steps);
  DeferrableJob j = job(1, first, last, rng.between(1, 3));
  j.work = rng.between(1, 4 * kHourMs);
  if (rng.chance(0.4)) {
    j.preemptible = rng.chance(0.5);
    j.units_min = rng.between(1, j.units_max);
    j.restart = rng.between(0, 1) * 20 * kMinute;
  }
  return j;
}

std::vector<std::int64_t> random_room(Rng& rng, std::int64_t steps) {
  std::vector<std::int64_t> hours;
  for (std::int64_t s = 0; s < steps; ++s) hours.push_back(rng.between(0, 4));
  return hours;
}

void expect_within_bounds(const Trough& t, const ValleyPlanner& planner, const ValleyPlan& plan) {
  std::vector<std::int64_t> load(t.room.size());
  std::map<std::size_t, std::vector<Slot>> by_job;
  for (const Slot& slot : plan.slots) {
    const DeferrableJob& j = planner.jobs()[slot.job];
    EXPECT_GE(t.at(slot.step), j.earliest);
    EXPECT_LE(t.at(slot.step + 1), j.deadline);
    EXPECT_LE(slot.work, j.units_max * kHourMs);
    if (!j.divisible()) {
      EXPECT_GE(slot.work, j.units_min * kHourMs);
    }
    load[slot.step] += slot.work;
    by_job[slot.job].push_back(slot);
  }
  for (std::size_t s = 0; s < load.size(); ++s) {
    EXPECT_EQ(load[s], plan.load[s] + plan.bought[s]);
    EXPECT_LE(plan.load[s], t.room[s]);
  }
  for (const auto& [number, slots] : by_job) {
    if (planner.jobs()[number].preemptible) continue;
    for (std::size_t i = 1; i < slots.size(); ++i) {
      EXPECT_EQ(slots[i].step, slots[i - 1].step + 1);
      EXPECT_EQ(slots[i].work, slots[0].work);
    }
  }
}

/// Goes through all steps, with `move` making each new forecast of the rest. @return unit-milliseconds bought
std::int64_t live_through(Rng& rng, std::int64_t steps,
                          const std::function<std::vector<std::int64_t>(std::int64_t)>& move) {
  std::int64_t bought = 0;
  ValleyPlanner planner{Trough{}};
  for (std::int64_t now = 0; now < steps; ++now) {
    const std::vector<std::int64_t> rest = move(now);
    Trough t = trough(rest);
    t.start = hour(now);
    t.bought = dollars(5);
    planner.forecast(t);
    for (int i = 0; i < 3; ++i)
      if (rng.chance(0.6)) (void)planner.admit(random_job(rng, now, steps)).has_value();
    const ValleyPlan plan = planner.plan();
    for (std::size_t j = 0; j < plan.unplaced.size(); ++j)
      EXPECT_EQ(plan.unplaced[j], 0) << "job " << j << " at " << now;
    expect_within_bounds(t, planner, plan);
    bought += plan.bought[0];
    planner.worked();
    for (const DeferrableJob& j : planner.jobs())
      if (j.deadline <= hour(now + 1)) {
        EXPECT_EQ(j.work, 0) << "missed its deadline at " << now;
      }
  }
  return bought;
}

/// The least cost of the most work, by cuts: what the k cheapest tiers can take together, for each k, over all subsets
/// of steps. @param tiers  (price, step, room) by ascending price, of hours from 0
struct PricedRoom {
  std::int64_t dollars;
  std::size_t step;
  std::int64_t room;
};
Usd least_cost(const std::vector<PricedRoom>& tiers, const std::vector<DeferrableJob>& jobs, std::size_t steps) {
  std::vector<std::int64_t> room(steps);
  std::vector<bool> open(steps);
  std::int64_t before = 0, dollars = 0;
  for (const PricedRoom& tier : tiers) {
    room[tier.step] += tier.room;
    open[tier.step] = true;
    std::int64_t least = INT64_MAX;
    for (std::uint64_t cut = 0; cut < (std::uint64_t{1} << steps); ++cut) {
      std::int64_t sum = 0;
      for (std::size_t s = 0; s < steps; ++s)
        if ((cut >> s & 1) != 0) sum += room[s];
      for (const DeferrableJob& j : jobs) {
        std::int64_t outside = 0;
        for (std::size_t s = 0; s < steps; ++s)
          if ((cut >> s & 1) == 0 && open[s] && j.earliest <= hour(static_cast<std::int64_t>(s)) &&
              hour(static_cast<std::int64_t>(s) + 1) <= j.deadline)
            outside += j.units_max;
        sum += std::min(j.work / kHourMs, outside);
      }
      least = std::min(least, sum);
    }
    dollars += (least - before) * tier.dollars;
    before = least;
  }
  return Usd{dollars * 1'000'000'000};
}

TEST(Valley, no_plan_of_divisible_jobs_costs_less) {
  for_each_seed(500, [](Rng& rng) {
    const std::int64_t steps = rng.between(1, 6), bought = rng.between(0, 6);
    Trough t = trough(random_room(rng, steps));
    t.bought = dollars(bought);
    std::vector<PricedRoom> tiers;
    for (std::size_t s = 0; s < t.room.size(); ++s) {
      const std::int64_t price = rng.between(0, 5);
      t.price.push_back(dollars(price));
      tiers.push_back({price, s, t.room[s] / kHourMs});
      tiers.push_back({bought, s, 1000});
    }
    std::stable_sort(tiers.begin(), tiers.end(), [](const auto& a, const auto& b) { return a.dollars < b.dollars; });
    std::vector<DeferrableJob> jobs;
    for (std::int64_t n = rng.between(1, 6); n > 0; --n) {
      const std::int64_t first = rng.between(0, steps - 1), last = rng.between(first + 1, steps);
      jobs.push_back(job(rng.between(1, 8), first, last, rng.between(1, 4)));
    }
    ValleyPlanner together(t);
    ASSERT_TRUE(together.take(jobs));
    EXPECT_EQ(together.plan().cost, least_cost(tiers, jobs, t.room.size()));
    ValleyPlanner one_by_one(t);
    std::vector<DeferrableJob> admitted;
    for (const DeferrableJob& j : jobs)
      if (one_by_one.admit(j)) admitted.push_back(j);
    EXPECT_EQ(one_by_one.plan().cost, least_cost(tiers, admitted, t.room.size()));
  });
}

TEST(Valley, whatever_the_forecast_does_no_admitted_job_misses_its_deadline) {
  for_each_seed(600, [](Rng& rng) {
    const std::int64_t steps = rng.between(2, 10);
    live_through(rng, steps, [&](std::int64_t now) { return random_room(rng, steps - now); });
  });
}

TEST(Valley, if_jobs_get_the_room_they_were_promised_nothing_is_bought) {
  for_each_seed(600, [](Rng& rng) {
    const std::int64_t steps = rng.between(2, 10);
    const std::vector<std::int64_t> room = random_room(rng, steps);
    ValleyPlanner planner{Trough{}};
    for (std::int64_t now = 0; now < steps; ++now) {
      Trough t = trough({room.begin() + now, room.end()});
      t.start = hour(now);
      t.bought = dollars(5);
      planner.forecast(t);
      for (int i = 0; i < 3; ++i) {
        (void)planner.admit(random_job(rng, now, steps)).has_value();
      }
      for (const std::int64_t b : planner.plan().bought) EXPECT_EQ(b, 0);
      planner.worked();
    }
    for (const DeferrableJob& j : planner.jobs()) EXPECT_EQ(j.work, 0);
  });
}

}  // namespace
}  // namespace ace
