#include "verify/fixed.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "ledger/ledger.h"
#include "ledger/ledger_testing.h"

namespace ace::verify {
namespace {

using namespace ledger_testing;

constexpr std::int64_t kFirstHour = 500'000;
constexpr Duration kMs{1'000'000};

/// An owned pool and a rented one, units of two GPUs, power and rent of another price each hour.
Fleet pools() {
  Fleet fleet = small_fleet();
  for (const DestinationId d : {kGpu, kRent}) {
    fleet.destinations[d.value].gpus_per_unit = fleet.destinations[d.value].tp = 2;
    for (Serving& serving : fleet.destinations[d.value].serving) serving.measured->watts_idle = 1'000'000;
  }
  Rental rental;
  rental.increment = kSecond;
  for (int hour = 0; hour < 4; ++hour) {
    rental.hourly_series.push_back(Usd{(2 + hour % 2) * 1'000'000'000'000});
    fleet.electricity.hourly.push_back({(hour % 2 == 0 ? -50 : 300) * 1'000'000});
  }
  rental.series_first_hour = fleet.electricity.first_hour = kFirstHour;
  fleet.destinations[kRent.value].rental = rental;
  return fleet;
}

/// What a run books of lives to the nanosecond: their milliseconds, for each GPU, and then what they cost.
std::vector<event::Record> booked(const World& w, DestinationId where, const std::vector<UnitLife>& lives, Instant from,
                                  Instant to) {
  std::vector<event::Record> records;
  const auto say = [&](event::Event event) {
    event::Record& record = records.emplace_back();
    record.snapshot = 1;
    record.event = std::move(event);
  };
  for (std::size_t u = 0; u < lives.size(); ++u)
    for (int gpu = 0; gpu < 2; ++gpu)
      say(event::GpuBooking{
          event::GpuBooking::Use::served,
          w.fleet->destinations[where.value].name + "/" + std::to_string(u) + "/" + std::to_string(gpu),
          nanos(std::max(lives[u].requested, from)) / nanos(kMs), nanos(std::min(lives[u].released, to)) / nanos(kMs)});
  for (const event::FixedCost& cost : fixed_cost(w.snapshot, where, lives, from, to)) say(cost);
  return records;
}

/// @return of the first record that does not follow what was expected, or nothing
std::string wrong_in(const World& w, const std::vector<event::Record>& records) {
  FixedCosts fixed;
  for (const event::Record& record : records)
    if (const auto mismatch = fixed.hear(w.snapshot, record)) return mismatch->expected + " / " + mismatch->got;
  return {};
}

TEST(FixedCosts, of_units_that_begin_and_end_between_milliseconds_are_found) {
  const World w(pools());
  for_each_seed(200, [&](Rng& rng) {
    const auto moment = [&](std::int64_t first_s, std::int64_t last_s) {
      return instant(kFirstHour * nanos(kHour) + rng.between(first_s * nanos(kSecond), last_s * nanos(kSecond)));
    };
    const Instant from = moment(0, 3'600), to = moment(9'000, 10'800);
    std::vector<UnitLife> lives;
    for (std::uint64_t i = 0, n = 1 + rng.below(5); i < n; ++i)
      lives.push_back({rng.chance(0.2) ? from - kHour : moment(3'600, 5'400),
                       rng.chance(0.2) ? Instant::max() : moment(5'401, 9'000)});
    for (const DestinationId where : {kGpu, kRent}) {
      const std::vector<event::Record> records = booked(w, where, lives, from, to);
      ASSERT_EQ(wrong_in(w, records), "");
      event::Record late = records.back();
      std::get<event::FixedCost>(late.event).to = from - Duration{1};
      std::vector<event::Record> forged = records;
      forged.back() = late;
      ASSERT_NE(wrong_in(w, forged), "") << "it ends before it begins";
    }
  });
}

/// A run that was recorded again, further, and a process that was interrupted say one life in pieces.
TEST(FixedCosts, of_a_life_that_was_told_in_pieces_are_those_of_one) {
  const World w(pools());
  const Instant from = instant(kFirstHour * nanos(kHour)), to = from + kHour;
  const Instant begin = from + kMinute, middle = begin + kMinute, end = middle + kMinute;
  std::vector<event::Record> records = booked(w, kRent, {{begin, middle}}, from, to);
  records.pop_back();
  const std::vector<event::Record> rest = booked(w, kRent, {{middle, end}}, from, to);
  records.insert(records.end(), rest.begin(), rest.end() - 1);
  records.push_back(booked(w, kRent, {{begin, end}}, from, to).back());
  EXPECT_EQ(wrong_in(w, records), "");
}

TEST(FixedCosts, of_a_rented_pool_need_a_booking_of_each_unit_that_ran) {
  const World w(pools());
  const Instant from = instant(kFirstHour * nanos(kHour)), to = from + kHour;
  for (const DestinationId where : {kGpu, kRent})
    for (const std::int64_t ran : {1, 2}) {
      std::vector<event::Record> records = booked(w, where, {{from, to}}, from, to);
      event::Record running;
      running.snapshot = 1;
      running.event = event::UnitsChanged{from, where, 0, ran, "schedule"};
      records.insert(records.begin(), running);
      EXPECT_EQ(wrong_in(w, records).empty(), ran == 1) << w.fleet->destinations[where.value].name;
    }
}

}  // namespace
}  // namespace ace::verify
