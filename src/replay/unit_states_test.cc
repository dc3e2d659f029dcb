#include "replay/unit_states.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "dispatch/learn_testing.h"

namespace ace {
namespace {

/// Monday 2026-06-01, midnight UTC.
const Instant kMonday = instant(1'780'272'000'000'000'000);

struct World {
  std::unique_ptr<Fleet> fleet = learn::models(1);
  std::unique_ptr<Snapshot> snapshot;
  std::unique_ptr<UnitStates> units;

  Destination& pool(Tier tier, std::int64_t count = 1) {
    Destination& d = learn::add_pool(*fleet, "pool", learn::slots_only(8), {0}, count);
    d.tier = tier;
    if (tier != Tier::owned) d.rental.emplace().hourly = Usd{3'600'000'000};
    return d;
  }
  void start(Instant t = kMonday) {
    snapshot = std::make_unique<Snapshot>(*fleet);
    units = std::make_unique<UnitStates>(*snapshot, Rng(1, "test"));
    units->start(t);
  }
  /// Every step up to `to`, at this load: "60 s: 1 -> 2 reactive". What is switched off is empty at once.
  std::string walk(Instant from, Instant to, double load = 0.5) {
    std::string all;
    while (units->next() <= to) {
      const Instant now = units->next();
      for (const UnitStates::Step& s : units->tick(now, {load})) {
        all += (all.empty() ? "" : ", ") + std::to_string((now - from) / kSecond) + "s " + std::to_string(s.before) +
               ">" + std::to_string(s.running);
        for (std::int64_t off = s.before - s.running - s.condemned; off > 0; --off)
          units->drained(now, s.destination, 0);
        if (s.condemned > 0) all += " condemned " + std::to_string(s.condemned);
        if (s.gone > 0) all += " gone " + std::to_string(s.gone);
        all += std::string(" ") + s.cause;
      }
    }
    return all;
  }
  [[nodiscard]] Usd cost(event::FixedCost::Kind kind, Instant from, Instant to) const {
    Usd sum{};
    for (const event::FixedCost& c : units->fixed_cost(from, to))
      if (c.kind == kind) sum += c.amount;
    return sum;
  }
};

TEST(UnitStates, follow_their_schedule_by_weekday_and_minute) {
  World w;
  Destination& d = w.pool(Tier::owned, 1);
  d.units.schedule = {{.days = 0b0000001, .from_minute = 60, .to_minute = 120, .units = 3}};  // Mondays, 1 to 2
  w.start();
  EXPECT_EQ(w.walk(kMonday, kMonday + 8 * kDay),
            "3600s 1>3 schedule, 7200s 3>1 schedule, 608400s 1>3 schedule, 612000s 3>1 schedule");
}

TEST(UnitStates, rise_and_fall_with_the_load_within_the_bounds_of_the_reactive_policy) {
  World w;
  Destination& d = w.pool(Tier::on_demand, 1);
  d.units.reactive = ReactivePolicy{.up_at = 0.8,
                                    .down_at = 0.3,
                                    .start_delay = 90 * kSecond,
                                    .min_up = 10 * kMinute,
                                    .min_down = 5 * kMinute,
                                    .units_min = 1,
                                    .units_max = 3};
  w.start();
  // Asked for at 60 and 120 s, 90 s to start; the third is the most.
  EXPECT_EQ(w.walk(kMonday, kMonday + 4 * kMinute, 0.9), "150s 1>2 reactive, 210s 2>3 reactive");
  EXPECT_EQ(w.walk(kMonday, kMonday + 6 * kMinute, 0.5), "") << "between the two thresholds nothing moves";
  // The youngest was asked for at 120 s and stays for ten minutes; the one before it may go a minute later; one stays.
  EXPECT_EQ(w.walk(kMonday, kMonday + 20 * kMinute, 0.1), "720s 3>2 reactive, 780s 2>1 reactive");
  // The last went down at 780 s, so none may start before 1,080 s; 90 s later it runs.
  World again = std::move(w);
  EXPECT_EQ(again.walk(kMonday, kMonday + 25 * kMinute, 0.9), "1350s 1>2 reactive, 1410s 2>3 reactive");
}

TEST(UnitStates, do_not_start_again_before_min_down_is_over) {
  World w;
  w.pool(Tier::on_demand, 2).units.reactive = ReactivePolicy{
      .start_delay = Duration{0}, .min_up = Duration{0}, .min_down = 5 * kMinute, .units_min = 1, .units_max = 2};
  w.start();
  EXPECT_EQ(w.walk(kMonday, kMonday + kMinute, 0.1), "60s 2>1 reactive");
  EXPECT_EQ(w.walk(kMonday, kMonday + 10 * kMinute, 0.9), "360s 1>2 reactive");
}

TEST(UnitStates, are_taken_by_the_market_with_notice_and_come_back_when_it_offers_them_again) {
  World w;
  Destination& d = w.pool(Tier::spot, 2);
  d.rental->notice = 90 * kSecond;
  d.rental->availability = {kMonday, 5 * kMinute, {2.0, 0.0, 1.0, 2.0}};
  w.start();
  EXPECT_EQ(w.walk(kMonday, kMonday + 20 * kMinute),
            "300s 2>0 condemned 2 eviction, 390s 0>0 gone 2 eviction, 600s 0>1 schedule, 900s 1>2 schedule");
}

TEST(UnitStates, start_with_no_more_than_the_market_offers) {
  World w;
  w.pool(Tier::spot, 4).rental->availability = {kMonday, kHour, {1.0}};
  w.start();
  EXPECT_EQ(w.units->running(DestinationId{0}), 1);
}

TEST(UnitStates, are_lost_at_once_where_there_is_no_notice) {
  World w;
  Destination& d = w.pool(Tier::spot, 1);
  d.rental->notice = Duration{0};
  d.rental->availability = {kMonday, kMinute, {1.0, 0.0}};
  w.start();
  EXPECT_EQ(w.walk(kMonday, kMonday + 5 * kMinute), "60s 1>0 condemned 1 eviction, 60s 0>0 gone 1 eviction");
}

TEST(UnitStates, are_taken_as_often_as_the_hazard_says_and_replaced_a_minute_later) {
  World w;
  w.pool(Tier::spot, 10).rental->hazard_per_hour = 0.5;
  w.start();
  std::int64_t taken = 0, least = 10;
  for (Instant t = w.units->next(); t <= kMonday + 100 * kHour; t = w.units->next())
    for (const UnitStates::Step& s : w.units->tick(t, {0.5})) {
      taken += s.condemned;
      least = std::min(least, s.running);
    }
  // 10 units x 100 h x 0.5 = 500, with a standard deviation of 22.
  EXPECT_NEAR(static_cast<double>(taken), 500.0, 90.0);
  EXPECT_LT(least, 10);
  EXPECT_EQ(w.units->running(DestinationId{0}), 10);
}

TEST(UnitStates, cost_rent_from_request_to_release_in_whole_increments) {
  World w;
  Destination& d = w.pool(Tier::on_demand, 0);
  d.rental->hourly = Usd{12'000'000'000};
  d.rental->increment = 15 * kMinute;
  d.units.schedule = {{.days = 0x7f, .from_minute = 60, .to_minute = 81, .units = 2}};
  w.start();
  w.walk(kMonday, kMonday + 3 * kHour);
  // Two units for 21 minutes: two increments of 15 minutes each, 4 x 3 USD.
  EXPECT_EQ(w.cost(event::FixedCost::Kind::rental, kMonday, kMonday + 3 * kHour).nano, 12'000'000'000);
}

TEST(UnitStates, cost_the_rent_of_the_hour_in_which_an_increment_begins) {
  World w;
  Destination& d = w.pool(Tier::spot, 1);
  d.rental->increment = kHour;
  d.rental->hourly_series = {Usd{1'000'000'000}, Usd{2'000'000'000}, Usd{4'000'000'000}};
  d.rental->series_first_hour = hour_of(kMonday);
  w.start();
  // Hours 0, 1 and the one that has begun, 2: 1 + 2 + 4.
  EXPECT_EQ(w.cost(event::FixedCost::Kind::rental, kMonday, kMonday + 2 * kHour + kMinute).nano, 7'000'000'000);
}

// A unit at 3.60 USD an hour, billed by the second, is switched off after 60 s and empty after 150 s. Then, until the
// hour is over, nothing runs: 0.15 USD.
TEST(UnitStates, cost_rent_until_what_they_had_has_ended) {
  World w;
  Destination& d = w.pool(Tier::on_demand, 0);
  d.rental->increment = kSecond;
  d.units.schedule = {{.days = 0x7f, .from_minute = 0, .to_minute = 1, .units = 1}};
  w.start();
  EXPECT_EQ(w.units->tick(kMonday + kMinute, {0.5}).size(), 1U);
  EXPECT_EQ(w.cost(event::FixedCost::Kind::rental, kMonday, kMonday + 100 * kSecond).nano, 100'000'000) << "drains";
  w.units->drained(kMonday + 150 * kSecond, DestinationId{0}, 0);
  EXPECT_EQ(w.cost(event::FixedCost::Kind::rental, kMonday, kMonday + kHour).nano, 150'000'000);
  const auto booked = w.units->bookings(kMonday, kMonday + kHour);
  ASSERT_EQ(booked.size(), 1U);
  EXPECT_EQ(booked[0].booking.end_ms - booked[0].booking.start_ms, 150'000) << "GPU time likewise";
}

TEST(UnitStates, come_back_without_starting_again_while_they_drain) {
  World w;
  Destination& d = w.pool(Tier::on_demand, 2);
  d.rental->increment = kMinute;
  d.units.reactive = ReactivePolicy{.up_at = 0.8,
                                    .down_at = 0.3,
                                    .start_delay = 5 * kMinute,
                                    .min_up = Duration{0},
                                    .min_down = Duration{0},
                                    .units_min = 1,
                                    .units_max = 2};
  w.start();
  EXPECT_EQ(w.units->tick(kMonday + kMinute, {0.1}).size(), 1U);
  const std::vector<UnitStates::Step> back = w.units->tick(kMonday + 2 * kMinute, {0.9});
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].running, 2);
  // Two units over three minutes, at 0.06 USD a minute: it was never released.
  EXPECT_EQ(w.cost(event::FixedCost::Kind::rental, kMonday, kMonday + 3 * kMinute).nano, 360'000'000);
}

TEST(UnitStates, pay_for_an_evicted_unit_to_the_end_of_its_notice) {
  World w;
  Destination& d = w.pool(Tier::spot, 1);
  d.rental->increment = kSecond;
  d.rental->notice = 2 * kMinute;
  d.rental->availability = {kMonday, kMinute, {1.0, 0.0}};
  w.start();
  w.walk(kMonday, kMonday + kHour);
  // 60 s and 120 s of notice at 3.60 USD an hour: 0.18 USD.
  EXPECT_EQ(w.cost(event::FixedCost::Kind::rental, kMonday, kMonday + kHour).nano, 180'000'000);
}

TEST(UnitStates, cost_amortization_of_all_that_is_owned_and_idle_power_of_what_runs) {
  World w;
  Destination& d = w.pool(Tier::owned, 1);
  d.amortization_hourly = Usd{2'000'000'000};
  d.serving[0].measured->watts_idle = 500.0;
  d.units.schedule = {{.days = 0x7f, .from_minute = 60, .to_minute = 120, .units = 4}};
  w.fleet->electricity.flat = {100'000'000};  // 0.10 USD/kWh
  w.fleet->electricity.pue = 1.2;
  w.start();
  w.walk(kMonday, kMonday + 3 * kHour);
  // Four units are owned for three hours whether they run or not: 4 x 3 x 2 USD.
  EXPECT_EQ(w.cost(event::FixedCost::Kind::amortization, kMonday, kMonday + 3 * kHour).nano, 24'000'000'000);
  // One unit runs 3 h and three 1 h: 6 h x 0.5 kW x 1.2 x 0.10 USD = 0.36 USD.
  EXPECT_EQ(w.cost(event::FixedCost::Kind::idle_power, kMonday, kMonday + 3 * kHour).nano, 360'000'000);
}

TEST(UnitStates, cost_the_fee_of_a_commitment_and_of_the_hosts_by_the_nanosecond) {
  World w;
  learn::add(*w.fleet, "ptu", Tier::reserved).commitment_hourly = Usd{50'000'000'000};
  learn::serve(w.fleet->destinations[0], 0).ptu = PtuTerms{.units = 50, .tokens_per_minute_per_unit = 2500};
  w.fleet->policies.gateway_hosts_hourly = Usd{100'000'000};
  w.start();
  // 90 minutes: 75 USD and 0.15 USD.
  EXPECT_EQ(w.cost(event::FixedCost::Kind::commitment, kMonday, kMonday + 90 * kMinute).nano, 75'000'000'000);
  EXPECT_EQ(w.cost(event::FixedCost::Kind::hosts, kMonday, kMonday + 90 * kMinute).nano, 150'000'000);
}

TEST(UnitStates, book_a_gpu_millisecond_at_most_once_whatever_happens) {
  for_each_seed(100, [](Rng& rng) {
    World w;
    Destination& d = w.pool(Tier::spot, rng.between(0, 4));
    d.gpus_per_unit = 2;
    d.rental->hazard_per_hour = 10.0 * rng.uniform();
    d.rental->notice = kSecond * rng.between(0, 200);
    if (rng.chance(0.5))
      d.units.reactive = ReactivePolicy{.start_delay = kMinute, .min_up = kMinute, .min_down = kMinute, .units_max = 4};
    else
      d.units.schedule = {{.days = 0x7f, .from_minute = 5, .to_minute = 25, .units = 3}};
    w.start();
    const Instant end = kMonday + kHour;
    while (w.units->next() <= end) w.units->tick(w.units->next(), {rng.uniform()});
    std::map<std::string, std::int64_t> until;
    std::int64_t booked = 0;
    for (const auto& [destination, booking] : w.units->bookings(kMonday, end)) {
      EXPECT_GE(booking.start_ms, until[booking.device]);
      EXPECT_GT(booking.end_ms, booking.start_ms);
      EXPECT_LE(booking.end_ms, nanos(end) / 1'000'000);
      until[booking.device] = booking.end_ms;
      booked += booking.end_ms - booking.start_ms;
    }
    EXPECT_LE(booked, 2 * 10 * 3'600'000);
  });
}

}  // namespace
}  // namespace ace
