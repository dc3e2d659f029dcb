/// What is paid whether it is used or not, while desks, worlds, modes and the spine come and go.
#include <set>

#include <gtest/gtest.h>

#include "core/testing.h"
#include "gateway/desk.h"
#include "gateway/desk_testing.h"

namespace ace::gateway {
namespace {

using Kind = event::FixedCost::Kind;

constexpr std::int64_t kGpus = 2 * 2 + 2;

/// Booked over all grades.
struct Folded {
  GpuMillis gpu_ms{0};
  Usd amortization{};
  FoldedFacts facts;
};
Folded folded(const MemorySpine& spine) {
  Folded all;
  const SpineLedger ledger = spine.folded();
  for (const Grade grade : ledger.grades()) {
    const FoldedBooks books = ledger.close(grade, {}).value();
    for (const GpuMillis ms : books.statement.gpu_time) all.gpu_ms = all.gpu_ms + ms;
    for (const FixedLine& line : books.statement.fixed_lines)
      if (line.kind == Kind::amortization) all.amortization += line.used + line.idle;
    all.facts.bookings_refused += books.facts.bookings_refused;
    all.facts.fixed_refused += books.facts.fixed_refused;
  }
  return all;
}

std::int64_t ms_of(Instant at) { return nanos(at) / 1'000'000; }

/// Everything between the two was recorded, but for at most `gap`.
void expect_whole(const MemorySpine& spine, Instant from, Instant to, Duration gap = Duration{0}) {
  const Folded all = folded(spine);
  const std::int64_t ms = ms_of(to) - ms_of(from), missing = kGpus * ms - all.gpu_ms.value;
  EXPECT_GE(missing, 0);
  EXPECT_LE(missing, kGpus * (nanos(gap) / 1'000'000 + (nanos(gap) > 0 ? 1 : 0)));
  // Two units at 3 USD an hour; a stretch is rounded once, and one within a millisecond, 1,667 nano-USD, is left out.
  const double want = 6e9 * to_seconds(to - from) / 3600.0;
  EXPECT_NEAR(static_cast<double>(all.amortization.nano), want, 100 * 1667.0 + 6e9 * to_seconds(gap) / 3600.0);
  EXPECT_EQ(all.facts, FoldedFacts{}) << "nothing is said twice";
  EXPECT_EQ(spine.verified(), "");
}

TEST(StandingCostOfADesk, is_recorded_every_ten_minutes_and_when_it_stops) {
  DeskWorld w(DeskWorld::acting(), nullptr, paid_fleet());
  const Instant start = w.now;
  const auto said = [&] { return w.spine.all<event::FixedCost>().size(); };
  w.desk.accrue(w.now);
  for (int minute = 1; minute < 10; ++minute) {
    w.pass(kMinute);
    w.desk.accrue(w.now);
  }
  EXPECT_EQ(said(), 0U);
  w.pass(kMinute);
  w.desk.accrue(w.now);
  EXPECT_EQ(said(), 5U) << "one of each kind";
  w.desk.accrue(w.now);
  w.pass(kSecond);
  w.desk.accrue(w.now);
  EXPECT_EQ(said(), 5U);
  w.desk.accrue(w.now, Duration{0});
  EXPECT_EQ(said(), 10U);
  w.desk.accrue(w.now, Duration{0});
  EXPECT_EQ(said(), 10U) << "no time has passed";
  expect_whole(w.spine, start, w.now);
  EXPECT_EQ(w.spine.folded().grades(), std::vector<Grade>{Grade::measured});
}

TEST(StandingCostOfADesk, stands_with_what_ace_decides_only_where_it_decides_alone) {
  for (const Mode mode : {Mode::observe, Mode::shadow, Mode::canary, Mode::act}) {
    DeskOptions options;
    options.mode = mode;
    options.canary_ppm = 500'000;
    DeskWorld w(options, nullptr, paid_fleet());
    w.desk.accrue(w.now);
    w.pass(kHour);
    w.desk.accrue(w.now);
    EXPECT_EQ(w.spine.folded().grades(), std::vector<Grade>{mode == Mode::act ? Grade::measured : Grade::modelled})
        << name_of(mode);
  }
}

TEST(StandingCostOfADesk, of_a_fleet_without_any_leaves_the_spine_alone) {
  Fleet fleet = ledger_testing::small_fleet();
  for (Destination& d : fleet.destinations) d.units.units = 0;
  DeskWorld w(DeskWorld::acting(), nullptr, std::move(fleet));
  w.desk.accrue(w.now);
  w.pass(kHour);
  w.desk.change(w.now, std::make_shared<World>(w.world->fleet));
  EXPECT_EQ(w.spine.records.size(), 1U) << "the fleet that is in force now";
  w.pass(kHour);
  w.desk.accrue(w.now, Duration{0});
  EXPECT_EQ(w.spine.records.size(), 1U);
}

TEST(StandingCostOfADesk, goes_on_without_a_hole_or_a_word_twice_over_worlds_modes_and_losses_of_the_spine) {
  for_each_seed(60, [](Rng& rng) {
    const bool losses = rng.chance(0.5);
    DeskWorld w(rng.chance(0.5) ? DeskWorld::acting() : DeskWorld::observing(), nullptr, paid_fleet());
    std::vector<std::shared_ptr<World>> worlds = {w.world};
    w.pass(Duration{rng.between(0, 999'999)});
    const Instant start = w.now;
    w.desk.accrue(w.now);
    Duration down{0};
    for (int step = 0; step < 80; ++step) {
      const Duration pass{rng.between(0, nanos(rng.chance(0.3) ? Duration{2'000'000} : 5 * kMinute))};
      w.pass(pass);
      if (w.spine.failing) down += pass;
      switch (rng.below(losses ? 6 : 4)) {
        case 0:
          w.desk.accrue(w.now);
          break;
        case 1:
          worlds.push_back(w.world = std::make_shared<World>(paid_fleet()));
          w.desk.change(w.now, w.world);
          break;
        case 2:
          (void)w.desk.set_mode(w.now, {.mode = rng.chance(0.5) ? Mode::act : Mode::observe}, true);
          break;
        case 3:
          if (auto admitted = w.desk.admit(w.now, w.arriving());
              std::holds_alternative<std::unique_ptr<Flight>>(admitted))
            (void)w.desk.aborted(w.now, *std::get<std::unique_ptr<Flight>>(admitted), {});
          break;
        default:
          w.spine.failing = !w.spine.failing;
      }
    }
    w.spine.failing = false;
    w.pass(kSecond);
    w.desk.accrue(w.now, Duration{0});
    // Worlds that came and went while the spine was down, it never heard of; it is tried again ten times a second.
    if (nanos(down) > 0) down += 10 * kSecond;
    expect_whole(w.spine, start, w.now, down);
  });
}

TEST(StandingCostOfADesk, of_the_time_while_the_spine_was_down_is_recorded_once_it_is_back) {
  for (const bool noticed : {false, true}) {
    DeskWorld w(DeskWorld::acting(), nullptr, paid_fleet());
    const Instant start = w.now;
    w.desk.accrue(w.now);
    w.pass(15 * kMinute);
    w.desk.accrue(w.now);
    w.spine.failing = true;
    w.pass(20 * kMinute);
    if (noticed) {
      EXPECT_TRUE(std::holds_alternative<Desk::Refusal>(w.desk.admit(w.now, w.arriving())));
    }
    w.desk.accrue(w.now);
    EXPECT_EQ(w.desk.view().spine_down, noticed);
    w.spine.failing = false;
    w.pass(5 * kMinute);
    w.desk.accrue(w.now, Duration{0});
    EXPECT_EQ(w.spine.all<event::Gap>().size(), noticed ? 1U : 0U);
    expect_whole(w.spine, start, w.now);
  }
}

TEST(StandingCostOfADesk, that_dies_lacks_only_what_passed_since_it_said_it_last) {
  DeskWorld w(DeskWorld::acting(), nullptr, paid_fleet());
  const Instant start = w.now;
  w.desk.accrue(w.now);
  w.pass(20 * kMinute);
  w.desk.accrue(w.now);
  w.pass(5 * kMinute);
  // It dies here, and another process goes on ten minutes later.
  w.pass(10 * kMinute);
  event::Record started;
  started.id = {1, 1};
  started.event = event::Lifecycle{event::Lifecycle::What::started, w.now, {}};
  ASSERT_TRUE(w.spine.append(started));
  DeskOptions options = DeskWorld::acting();
  options.seed = 2;
  Desk next(w.world, options, w.spine, nullptr);
  next.accrue(w.now);
  w.pass(30 * kMinute);
  next.accrue(w.now, Duration{0});
  EXPECT_EQ(w.spine.all<event::FleetChanged>().size(), 1U) << "the same fleet, under the same number";
  expect_whole(w.spine, start, w.now, 15 * kMinute);
  EXPECT_EQ(folded(w.spine).gpu_ms, GpuMillis{kGpus * 50 * 60'000});
  EXPECT_EQ(folded(w.spine).amortization, Usd{5'000'000'000}) << "50 minutes of two units at 3 USD an hour";
}

TEST(StandingCostOfADesk, is_derived_by_a_reader_who_names_an_amount_that_does_not_follow) {
  DeskWorld w(DeskWorld::acting(), nullptr, paid_fleet());
  w.desk.accrue(w.now);
  w.pass(kHour);
  w.desk.accrue(w.now);
  std::set<Kind> kinds;
  for (std::size_t i = 0; i < w.spine.records.size(); ++i) {
    MemorySpine forged = w.spine;
    auto* const cost = std::get_if<event::FixedCost>(&forged.records[i].event);
    if (cost == nullptr) continue;
    kinds.insert(cost->kind);
    cost->amount += Usd{1};
    EXPECT_NE(forged.verified(), "") << event::name_of(cost->kind);
  }
  EXPECT_EQ(kinds.size(), 5U);
}

TEST(StandingCostOfADesk, makes_a_report_fully_loaded_only_where_it_is_recorded) {
  DeskWorld w(DeskWorld::acting(), nullptr, paid_fleet());
  w.desk.accrue(w.now);
  (void)w.serve(w.arriving());
  w.pass(kMinute);
  (void)w.serve(w.arriving());
  const auto books = [&] { return w.spine.folded().close(Grade::measured, {}).value(); };
  EXPECT_EQ(books().fixed_due, kMinute + kSecond) << "from the first arrival to the last end";
  EXPECT_EQ(books().fixed_missing, books().fixed_due) << "the process said nothing so far";
  w.desk.accrue(w.now, Duration{0});
  EXPECT_EQ(books().fixed_missing, Duration{0});
  EXPECT_TRUE(books().fully_loaded());
  (void)w.serve(w.arriving());
  EXPECT_EQ(books().fixed_missing, Duration{kSecond} / 2);
  EXPECT_FALSE(books().fully_loaded()) << "half a second of a minute is more than a thousandth";
}

}  // namespace
}  // namespace ace::gateway
