#include "ledger/fixed_cost.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "ledger/ledger_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;
using Kind = event::FixedCost::Kind;

Usd amount(const std::vector<event::FixedCost>& costs, Kind kind) {
  Usd sum{};
  for (const event::FixedCost& cost : costs)
    if (cost.kind == kind) sum += cost.amount;
  return sum;
}

TEST(FixedCost, of_a_rental_is_each_begun_step_at_the_price_of_its_start) {
  for_each_seed(100, [](Rng& rng) {
    Fleet fleet = small_fleet();
    Rental rental;
    rental.increment = rng.chance(0.5) ? Duration{rng.between(1, 7000) * nanos(kSecond)} : kHour;
    for (int h = 0; h < 6; ++h) rental.hourly_series.push_back({rng.between(0, 9'999'999'999)});
    rental.series_first_hour = 1;
    fleet.destinations[kRent.value].rental = rental;
    const World w(std::move(fleet));
    const Instant from = instant(rng.between(0, 3 * nanos(kHour))),
                  to = from + Duration{rng.between(1, nanos(6 * kHour))};
    const std::vector<UnitLife> units(rng.below(4) + 1, UnitLife{from});
    Usd by_hand{};
    for (Instant step = from; step < to; step += rental.increment)
      by_hand.nano += static_cast<std::int64_t>(
          divide_half_away(int128{rental.at(step).nano} * nanos(rental.increment), nanos(kHour)));
    EXPECT_EQ(amount(fixed_cost(w.snapshot, kRent, units, from, to), Kind::rental),
              Usd{by_hand.nano * static_cast<std::int64_t>(units.size())});
  });
}

TEST(FixedCost, of_units_is_the_sum_of_what_each_costs_alone) {
  for_each_seed(100, [](Rng& rng) {
    Fleet fleet = small_fleet();
    fleet.destinations[kGpu.value].serving.front().measured->watts_idle = 700;
    const World w(std::move(fleet));
    std::vector<UnitLife> units;
    for (int u = 0; u < 6; ++u)  // few lives, so that neighbours are often alike
      units.push_back({instant(static_cast<std::int64_t>(rng.below(2)) * nanos(kHour)),
                       rng.chance(0.5) ? Instant::max() : instant(nanos(2 * kHour))});
    const Instant to = instant(nanos(3 * kHour));
    Usd sum{};
    for (const UnitLife& unit : units)
      sum += amount(fixed_cost(w.snapshot, kGpu, {&unit, 1}, Instant{}, to), Kind::idle_power);
    EXPECT_GT(sum, Usd{});
    EXPECT_EQ(amount(fixed_cost(w.snapshot, kGpu, units, Instant{}, to), Kind::idle_power), sum);
  });
}

TEST(GpuBookings, of_stretches_that_touch_follow_one_another_to_the_millisecond) {
  for_each_seed(100, [](Rng& rng) {
    Destination d;
    d.name = "pool";
    d.gpus_per_unit = 2;
    const std::vector<UnitLife> units(3);
    Bookings bookings;
    const Instant first = instant(rng.between(0, 9'999'999));
    Instant from = first;
    for (int i = 0; i < 20; ++i) {
      const Instant to = from + Duration{rng.between(0, 3'000'000)};
      for (const event::GpuBooking& b : gpu_bookings(d, units, from, to)) ASSERT_TRUE(bookings.add(b));
      from = to;
    }
    const std::int64_t ms = nanos(from) / 1'000'000 - nanos(first) / 1'000'000;
    EXPECT_EQ(bookings.by_use()[0], GpuMillis{6 * ms}) << "three units of two";
  });
}

TEST(FixedCost, is_there_wherever_something_is_paid_used_or_not) {
  const struct {
    const char* why;
    void (*change)(Fleet&);
    bool want;
  } cases[] = {
      {"all at the margin", [](Fleet&) {}, false},
      {"amortization", [](Fleet& f) { f.destinations[kGpu.value].amortization_hourly = {1}; }, true},
      {"a commitment", [](Fleet& f) { f.destinations[kPtu.value].commitment_hourly = {1'000'000}; }, true},
      {"power of units that run",
       [](Fleet& f) { f.destinations[kGpu.value].serving.front().measured->watts_idle = 700; }, true},
      {"rent", [](Fleet& f) { f.destinations[kRent.value].rental.emplace().hourly = {5'000'000'000}; }, true},
      {"rent of none",
       [](Fleet& f) {
         f.destinations[kRent.value].rental.emplace().hourly = {5'000'000'000};
         f.destinations[kRent.value].units.units = 0;
       },
       false},
      {"hosts", [](Fleet& f) { f.policies.gateway_hosts_hourly = Usd{1'000'000}; }, true},
  };
  for (const auto& c : cases) {
    Fleet fleet = small_fleet();
    c.change(fleet);
    EXPECT_EQ(has_fixed_cost(World(std::move(fleet)).snapshot, instant(nanos(kDay))), c.want) << c.why;
  }
}

constexpr std::int64_t kFirstHour = 500'000;
constexpr Instant kHourStart = instant(kFirstHour * nanos(kHour));
constexpr Instant kHalfPast = kHourStart + kHour / 2;

Usd cents(std::int64_t n) { return {n * 10'000'000}; }

// 1 kW while idle, at a PUE of 1.5: 1.5 kWh an hour, for 0.10 USD in the first hour and 0.30 in the second. From half
// past to half past that is 0.75 x 0.10 + 0.75 x 0.30 = 0.30 for a unit that was there before and stays, 0.075 for one
// that goes with the first hour.
TEST(FixedCost, of_idle_power_is_that_of_each_hour_and_of_the_stretch_alone) {
  Fleet fleet = small_fleet();
  fleet.electricity.hourly = {{100'000'000}, {300'000'000}};
  fleet.electricity.first_hour = kFirstHour;
  fleet.electricity.pue = 1.5;
  for (const DestinationId d : {kGpu, kRent})
    for (Serving& serving : fleet.destinations[d.value].serving) serving.measured->watts_idle = 1000;
  const World w(fleet);
  const UnitLife units[] = {{kHourStart - kDay, kHourStart + kDay}, {kHourStart, kHourStart + kHour}};
  const auto costs = fixed_cost(w.snapshot, kGpu, units, kHalfPast, kHalfPast + kHour);
  EXPECT_EQ(amount(costs, Kind::idle_power), Usd{375'000'000});
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs[0].units, 2);
  EXPECT_TRUE(fixed_cost(w.snapshot, kRent, units, kHalfPast, kHalfPast + kHour).empty())
      << "who rents pays no power beside the rent";
  EXPECT_TRUE(fixed_cost(w.snapshot, kGpu, units, kHalfPast + 2 * kDay, kHalfPast + 3 * kDay).empty());
}

// Half-hours at 1 and 2 USD an hour: 0.50 and 1.00.
TEST(FixedCost, of_a_rental_counts_begun_increments_at_the_price_of_their_start) {
  Fleet fleet = small_fleet();
  Rental rental;
  rental.hourly_series = {cents(100), cents(200)};
  rental.series_first_hour = kFirstHour;
  rental.increment = kHour / 2;
  fleet.destinations[kRent.value].rental = rental;
  const World w(fleet);
  const struct {
    UnitLife unit;
    Usd rent;
  } cases[] = {
      {{kHalfPast, kHalfPast + kHour}, cents(150)},
      {{kHalfPast, kHalfPast + kHour + Duration{1}}, cents(250)},
      {{kHalfPast, kHalfPast + Duration{1}}, cents(50)},
      {{kHourStart - kDay, kHalfPast}, cents(50)},  // of the stretch that is asked about
  };
  for (const auto& c : cases) {
    const auto costs = fixed_cost(w.snapshot, kRent, std::span(&c.unit, 1), kHourStart, kHourStart + kDay);
    EXPECT_EQ(amount(costs, Kind::rental), c.rent);
  }
}

TEST(FixedCost, of_what_is_owned_is_of_all_units_that_the_file_has) {
  Fleet fleet = small_fleet();
  Destination& gpu = fleet.destinations[kGpu.value];
  gpu.amortization_hourly = cents(100);
  gpu.units.units = 2;
  gpu.units.reactive.emplace().units_max = 3;
  fleet.destinations[kPtu.value].commitment_hourly = cents(400);
  const World w(fleet);
  const auto owned = fixed_cost(w.snapshot, kGpu, {}, kHourStart, kHalfPast);
  EXPECT_EQ(amount(owned, Kind::amortization), cents(150)) << "3 units for half an hour, though none runs";
  const auto reserved = fixed_cost(w.snapshot, kPtu, {}, kHourStart, kHalfPast);
  EXPECT_EQ(amount(reserved, Kind::commitment), cents(200));
}

TEST(FixedCost, of_the_hosts_is_of_both_kinds_of_them) {
  Fleet fleet = small_fleet();
  EXPECT_FALSE(hosts_cost(fleet, kHourStart, kHalfPast));
  fleet.policies.cache_hosts_hourly = cents(50);
  fleet.policies.gateway_hosts_hourly = cents(20);
  EXPECT_EQ(hosts_cost(fleet, kHourStart, kHourStart + 2 * kHour)->amount, cents(140));
}

}  // namespace
}  // namespace ace
