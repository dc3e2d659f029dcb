#include "ledger/job.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "ledger/bookings.h"

namespace ace {
namespace {

using Use = event::GpuBooking::Use;

constexpr Instant kStart = instant(1'700'000'000'000'000'000);
std::int64_t ms(std::int64_t hours) { return nanos(kStart) / 1'000'000 + hours * 3'600'000; }

/// Owned H100s (60 to 700 W, PUE 1.25, $0.20/kWh); on demand 8 for $16/h and 4 for $12/h; spot 8 for $8/h of which one
/// in ten is lost within an hour.
Fleet fleet() {
  Fleet f;
  f.electricity.flat = UsdPerKwh{200'000'000};
  f.electricity.pue = 1.25;
  f.providers.resize(1);
  const auto add = [&](const char* name, Tier tier, std::int64_t gpus, std::int64_t hourly) -> Destination& {
    Destination& d = f.destinations.emplace_back();
    d.name = name;
    d.tier = tier;
    d.provider = ProviderId{0};
    d.accelerator = "h100-80g";
    d.gpus_per_unit = gpus;
    if (tier != Tier::owned) d.rental.emplace().hourly = Usd{hourly * 1'000'000'000};
    return d;
  };
  add("own", Tier::owned, 8, 0);
  add("rent-4", Tier::on_demand, 4, 12);
  add("rent-8", Tier::on_demand, 8, 16);
  add("spot", Tier::spot, 8, 8).rental->hazard_per_hour = 0.1;
  return f;
}

/// 10 GPU-hours on two GPUs, to be done within 24 hours.
GpuJob job() {
  GpuJob j;
  j.row = 1;
  j.submitted = kStart;
  j.deadline = kStart + 24 * kHour;
  j.accelerator = "h100-80g";
  j.work = GpuMillis{36'000'000};
  j.gpus = 2;
  return j;
}

std::vector<JobStretch> in_the_valley(std::int64_t hours) {
  return {{DestinationId{0}, {Use::valley, "own/0/0", ms(1), ms(1 + hours)}},
          {DestinationId{0}, {Use::valley, "own/0/1", ms(1), ms(1 + hours)}}};
}

TEST(Job, is_worth_what_its_gpus_would_have_cost_to_rent) {
  const Fleet f = fleet();
  const Snapshot snapshot(f);
  const Result<SettledJob> settled = settle(snapshot, job(), in_the_valley(5), kStart + 6 * kHour);
  ASSERT_TRUE(settled);
  // On demand $2 a GPU-hour is cheaper than $3: 10 x 2 = $20.
  EXPECT_EQ(settled->chain.c[0], Usd{20'000'000'000});
  EXPECT_EQ(settled->chain.c[2], Usd{20'000'000'000});
  // Spot $1 a GPU-hour, in segments of an hour: r = -ln 0.9 = 0.1053605, (e^r - 1) / r = (1 / 0.9 - 1) / 0.1053605 =
  // 1.0545799; in millionths 1.054580.
  EXPECT_EQ(settled->chain.c[3], Usd{10'545'800'000});
  // 10 h x 640 W x 1.25 = 8 kWh, $1.60.
  const Accelerator& gpu = *find_accelerator("h100-80g");
  const double dollars = 10.0 * (gpu.watts_max - gpu.watts_idle) * 1.25 / 1000.0 * 0.20;
  EXPECT_NEAR(static_cast<double>(settled->chain.c[4].nano), dollars * 1e9, 1.0);
  EXPECT_EQ(settled->chain.lever[0], Usd{});
  EXPECT_EQ(settled->chain.lever[1], Usd{});
  EXPECT_EQ(settled->chain.lever[2], Usd{20'000'000'000 - 10'545'800'000});
  EXPECT_EQ(settled->chain.lever[3], settled->chain.c[3] - settled->chain.c[4]);
  EXPECT_EQ(settled->counted(), settled->claimed());
  EXPECT_EQ(settled->booked, GpuMillis{36'000'000});
}

TEST(Job, that_is_late_or_unfinished_or_cannot_be_rented_saves_nothing) {
  Fleet f = fleet();
  const Snapshot snapshot(f);
  const Result<SettledJob> late = settle(snapshot, job(), in_the_valley(5), kStart + 25 * kHour);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->withheld, Reason::slo_request);
  EXPECT_GT(late->claimed(), Usd{});
  EXPECT_EQ(late->counted(), Usd{});
  const Result<SettledJob> unfinished = settle(snapshot, job(), in_the_valley(3), {});
  ASSERT_TRUE(unfinished);
  EXPECT_EQ(unfinished->chain.c[0], Usd{});
  EXPECT_LT(unfinished->counted(), Usd{}) << "what it burnt is lost";
  for (Destination& d : f.destinations)
    if (d.tier == Tier::on_demand) d.accelerator = "a100-80g";
  const Snapshot without(f);
  const Result<SettledJob> unpriced = settle(without, job(), in_the_valley(5), kStart + 6 * kHour);
  ASSERT_TRUE(unpriced);
  EXPECT_EQ(unpriced->excluded, Reason::no_baseline);
  EXPECT_EQ(unpriced->claimed(), Usd{});
}

TEST(Job, has_no_arbitrage_where_no_spot_is_to_be_had) {
  Fleet f = fleet();
  f.destinations[3].rental->availability = {kStart, kHour, {0.0, 4.0}};
  const Snapshot snapshot(f);
  Result<SettledJob> settled = settle(snapshot, job(), in_the_valley(5), kStart + 6 * kHour);
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->chain.c[3], settled->chain.c[2]) << "it was sold out when the job was submitted";
}

TEST(Job, refuses_stretches_that_are_not_its_own) {
  const Fleet f = fleet();
  const Snapshot snapshot(f);
  const struct {
    const char* why;
    JobStretch stretch;
  } cases[] = {
      {"served is the requests'", {DestinationId{0}, {Use::served, "own/0/0", ms(1), ms(6)}}},
      {"empty", {DestinationId{0}, {Use::valley, "own/0/0", ms(1), ms(1)}}},
      {"before it was submitted", {DestinationId{0}, {Use::valley, "own/0/0", ms(-1), ms(6)}}},
  };
  for (const auto& c : cases) EXPECT_FALSE(settle(snapshot, job(), std::span(&c.stretch, 1), {})) << c.why;
  EXPECT_FALSE(settle(snapshot, job(), in_the_valley(4), kStart + 6 * kHour))
      << "8 of 10 GPU-hours are no finished job";
  GpuJob other = job();
  other.accelerator = "a100-80g";
  EXPECT_FALSE(settle(snapshot, other, in_the_valley(5), kStart + 6 * kHour)) << "another GPU class";
}

TEST(Job, levers_sum_exactly_and_failing_never_removes_a_loss) {
  for_each_seed(300, [](Rng& rng) {
    Fleet f = fleet();
    for (Destination& d : f.destinations)
      if (d.rental) {
        d.rental->hourly = Usd{rng.between(0, 40'000'000'000)};
        d.rental->hazard_per_hour = rng.uniform() * 0.5;
      }
    f.electricity.flat = UsdPerKwh{rng.between(0, 5'000'000'000)};
    const Snapshot snapshot(f);
    GpuJob j = job();
    j.work = GpuMillis{rng.between(1, 36'000'000)};
    std::optional<Instant> finished;
    if (rng.chance(0.8)) finished = kStart + kHour * rng.between(6, 40);
    const Result<SettledJob> settled = settle(snapshot, j, in_the_valley(5), finished);
    ASSERT_TRUE(settled);
    Usd levers{};
    for (const Usd lever : settled->chain.lever) levers += lever;
    EXPECT_EQ(levers, settled->chain.c[0] - settled->chain.c[4]);
    EXPECT_LE(settled->counted(), std::max(settled->claimed(), Usd{}));
    if (settled->claimed() < Usd{}) {
      EXPECT_EQ(settled->counted(), settled->claimed());
    }
  });
}

TEST(Job, expects_more_redo_where_more_is_lost) {
  EXPECT_EQ(expected_redo(0.0, kHour), 1.0);
  double before = 1.0;
  for (const double hazard : {0.01, 0.1, 0.5, 0.9, 0.99}) {
    const double redo = expected_redo(hazard, kHour);
    EXPECT_GT(redo, before);
    EXPECT_GT(expected_redo(hazard, 2 * kHour), redo);
    before = redo;
  }
  EXPECT_NEAR(expected_redo(0.5, kHour), 1.0 / 0.693147, 1e-5);  // (2 - 1) / ln 2
}

}  // namespace
}  // namespace ace
