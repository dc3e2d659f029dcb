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

}  // namespace
}  // namespace ace
