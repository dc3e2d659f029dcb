/// Books of a period: what falls into it, and that nothing is lost or counted twice between two of them.
#include <gtest/gtest.h>

#include "core/testing.h"
#include "ledger/spine_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

Period days(std::int64_t from, std::int64_t to) { return {instant(from * nanos(kDay)), instant(to * nanos(kDay))}; }

FoldedBooks of(const SpineLedger& ledger, const Period& period, SettlementPolicy settlement = {}) {
  ClosingPolicies policies;
  policies.period = period;
  policies.settlement = settlement;
  Result<FoldedBooks> books = ledger.close(Grade::modelled, policies);
  ACE_CHECK(books.has_value(), "a made log closes");
  return *std::move(books);
}

std::string bill(const FoldedBooks& books) {
  const SymbolNames names(books.tenants, books.teams, books.projects);
  const std::vector<By> by = {By::hour, By::tenant, By::team, By::model, By::destination};
  return chargeback_csv(chargeback(books.statement, by, names), by, books.fleet, names);
}

Usd total(const Statement& s) {
  Usd sum{};
  for (const UsageLine& line : s.usage) sum += line.total();
  for (const Adjustment& row : s.adjustments) sum += row.amount;
  return sum;
}

event::Record fixed(std::uint64_t n, std::int64_t from_hour, std::int64_t to_hour, Usd amount) {
  return record_of({8, n}, 1,
                   event::FixedCost{event::FixedCost::Kind::amortization, kGpu, instant(from_hour * nanos(kHour)),
                                    instant(to_hour * nanos(kHour)), 1, amount, 300'000});
}

/// any_log() has requests from hour 0 to hour 30.
TEST(SpinePeriod, statements_of_days_in_a_row_sum_to_that_of_all) {
  const World w;
  for_each_seed(25, [&](Rng& rng) {
    Fleets fleets;
    std::vector<event::Record> log = preamble(fleets, w);
    const std::vector<event::Record> requests = any_log(w, rng, 1, 120);
    log.insert(log.end(), requests.begin(), requests.end() - 3);
    log.push_back(record_of({7, 1}, 0, event::Lifecycle{event::Lifecycle::What::started, instant(0), 0}));
    log.insert(log.end(), requests.end() - 3, requests.end());
    log.push_back(fixed(1, 5, 31, Usd{rng.between(1, 1'000'000'000)}));
    log.push_back(
        record_of({8, 2}, 1, event::GpuBooking{event::GpuBooking::Use::served, "gpu0", 80'000'000, 90'000'000}));
    const SpineLedger ledger = folded(fleets, log);
    for (const SettlementPolicy policy :
         {SettlementPolicy::pooled, SettlementPolicy::clearing, SettlementPolicy::as_dispatched}) {
      const FoldedBooks all = of(ledger, {}, policy);
      Statement sum;
      FoldedFacts facts;
      Usd charged{};
      for (const Period& period : {Period{Instant::min(), instant(nanos(kDay))}, days(1, 2), days(2, 40'000)}) {
        const FoldedBooks part = of(ledger, period, policy);
        const Statement& s = part.statement;
        EXPECT_EQ(total(s), s.c4 + s.fixed);
        charged += total(s);
        sum.requests += s.requests;
        sum.served += s.served;
        sum.slo_met += s.slo_met;
        sum.c0 += s.c0;
        sum.c3 += s.c3;
        sum.c4 += s.c4;
        sum.fixed += s.fixed;
        sum.denominator += s.denominator;
        sum.claimed += s.claimed;
        sum.disallowed += s.disallowed;
        sum.counted += s.counted;
        sum.goodput += s.goodput;
        for (std::size_t i = 0; i < kReasons; ++i) sum.disallowed_by_reason[i] += s.disallowed_by_reason[i];
        for (std::size_t i = 0; i < kUses; ++i) sum.gpu_time[i] += s.gpu_time[i];
        sum.cells.insert(sum.cells.end(), s.cells.begin(), s.cells.end());
        facts += part.facts;
      }
      const Statement& s = all.statement;
      EXPECT_EQ(charged, total(s));
      EXPECT_EQ(sum.requests, s.requests);
      EXPECT_EQ(sum.served, s.served);
      EXPECT_EQ(sum.slo_met, s.slo_met);
      EXPECT_EQ(sum.c0, s.c0);
      EXPECT_EQ(sum.c3, s.c3);
      EXPECT_EQ(sum.c4, s.c4);
      EXPECT_EQ(sum.fixed, s.fixed);
      EXPECT_EQ(sum.denominator, s.denominator);
      EXPECT_EQ(sum.claimed, s.claimed);
      EXPECT_EQ(sum.disallowed, s.disallowed);
      EXPECT_EQ(sum.counted, s.counted);
      EXPECT_EQ(sum.goodput, s.goodput);
      EXPECT_EQ(sum.disallowed_by_reason, s.disallowed_by_reason);
      EXPECT_EQ(sum.gpu_time, s.gpu_time);
      EXPECT_EQ(sum.cells, s.cells);
      EXPECT_EQ(facts, all.facts);
    }
  });
}

/// A request belongs to the day it was admitted on, whenever it ends.
TEST(SpinePeriod, holds_requests_by_their_admission) {
  const World w;
  Fleets fleets;
  std::vector<event::Record> log = preamble(fleets, w);
  Events e(w, kAlt);
  e.at(23, 3599);
  e.completed.at = instant(nanos(kDay) + nanos(kHour));
  e.admitted.id = {5, 5};
  for (const event::Record& r : records_of(e, 1)) log.push_back(r);
  const SpineLedger ledger = folded(fleets, log);
  const Statement first = of(ledger, days(0, 1)).statement, second = of(ledger, days(1, 2)).statement;
  EXPECT_EQ(first.requests, 1U);
  EXPECT_EQ(first.to, instant(nanos(kDay))) << "the window ends with the period";
  EXPECT_EQ(second.requests, 0U);
  EXPECT_EQ(second.c4, Usd{});
}

/// A bill that was sent can be printed again: later traffic, fixed cost, fleets and targets are nothing to it.
TEST(SpinePeriod, that_is_over_keeps_its_bytes) {
  const World w;
  Fleet stricter = small_fleet();
  stricter.slo_classes[kChat.value].target = 0.999;
  stricter.destinations[kGpu.value].region = "elsewhere";
  const World later(stricter);
  for_each_seed(10, [&](Rng& rng) {
    Fleets fleets;
    std::vector<event::Record> log = preamble(fleets, w);
    for (const event::Record& r : any_log(w, rng, 1, 60)) log.push_back(r);
    log.push_back(fixed(1, 0, 31, Usd{1'000'000}));
    SpineLedger ledger = folded(fleets, log);
    const Period day = days(0, 1);
    const FoldedBooks before = of(ledger, day);
    std::vector<event::Record> more = {fleets.changed(later, 2), fixed(2, 31, 50, Usd{700})};
    for (int i = 0; i < 40; ++i) {
      Events e = any_spine_events(later, rng);
      e.at(rng.between(24, 50));
      for (const event::Record& r : records_of(e, 2)) more.push_back(r);
    }
    for (const event::Record& r : more) ASSERT_TRUE(ledger.add(ledger.next(), r));
    const FoldedBooks after = of(ledger, day);
    EXPECT_EQ(bill(after), bill(before));
    expect_equal(after.statement, before.statement);
    EXPECT_EQ(after.fleet.destinations, before.fleet.destinations);
    EXPECT_GT(of(ledger, {}).statement.requests, before.statement.requests);
  });
}

/// A fleet that costs 1 USD an hour, requests at 1 h and 49 h, and its cost recorded until 12 h alone. Of the 48 h and
/// a second between, 11 h are recorded; the second day has neither a request nor a stretch, and lacks all of its cost.
TEST(SpinePeriod, lacks_what_is_not_recorded_of_its_own_time) {
  Fleet f = small_fleet();
  f.policies.gateway_hosts_hourly = Usd{1'000'000'000};
  const World w(f);
  Fleets fleets;
  std::vector<event::Record> log = preamble(fleets, w);
  for (const std::int64_t hour : {1, 49}) {
    Events e(w, kAlt);
    e.at(hour);
    e.admitted.id = {5, static_cast<std::uint64_t>(hour)};
    for (const event::Record& r : records_of(e, 1)) log.push_back(r);
  }
  log.push_back(record_of({8, 1}, 1,
                          event::FixedCost{event::FixedCost::Kind::hosts, DestinationId{}, instant(0),
                                           instant(12 * nanos(kHour)), 1, Usd{12'000'000'000}}));
  const SpineLedger ledger = folded(fleets, log);
  const Duration first = 23 * kHour, second = kDay, third = kHour + kSecond;
  const struct {
    const char* why;
    Period period;
    Duration due, missing;
  } cases[] = {
      {"all time", {}, first + second + third, first + second + third - 11 * kHour},
      {"cut in what is recorded and what is not", days(0, 1), first, 12 * kHour},
      {"nothing in it, yet due", days(1, 2), second, second},
      {"its end", days(2, 3), third, third},
      {"before", days(-2, -1), {}, {}},
      {"after", days(7, 9), {}, {}},
  };
  for (const auto& c : cases) {
    const FoldedBooks books = of(ledger, c.period);
    EXPECT_EQ(books.fixed_due, c.due) << c.why;
    EXPECT_EQ(books.fixed_missing, c.missing) << c.why;
  }
}

/// A live gateway says its cost again, further, every few minutes: 24 USD of the first 26 hours as it was said then,
/// and what came out dearer later is the later days'. All together is what was said last.
TEST(SpinePeriod, keeps_the_fixed_cost_that_was_said_of_it_while_its_stretch_grows) {
  const World w;
  Fleets fleets;
  SpineLedger ledger = folded(fleets, preamble(fleets, w));
  std::uint64_t n = 0;
  const auto says = [&](std::int64_t hours, std::int64_t usd) {
    ASSERT_TRUE(ledger.add(ledger.next(), fixed(++n, 0, hours, Usd{usd * 1'000'000'000})));
  };
  for (const std::int64_t hours : {1, 2, 10, 20, 23}) says(hours, hours);
  says(26, 29);  // 23 until 23 h, and 6 over the 3 h after it: 2 of them before midnight
  const Usd first{25'000'000'000};
  EXPECT_EQ(of(ledger, days(0, 1)).statement.fixed, first);
  for (const std::int64_t hours : {30, 40, 47}) says(hours, 29);
  says(72, 129);  // 100 over 25 h, of which 24 are of the third day
  const Result<SpineLedger> restored = SpineLedger::restored(ledger.state(), fleets.options());
  ASSERT_TRUE(restored);
  for (const SpineLedger* const each : std::initializer_list<const SpineLedger*>{&ledger, &*restored}) {
    EXPECT_EQ(of(*each, days(0, 1)).statement.fixed, first);
    EXPECT_EQ(of(*each, days(1, 2)).statement.fixed, Usd{8'000'000'000});
    EXPECT_EQ(of(*each, days(2, 3)).statement.fixed, Usd{96'000'000'000});
    EXPECT_EQ(of(*each, {}).statement.fixed, Usd{129'000'000'000});
  }
}

/// On the day on which it began; its end, of number 1, is not a second one.
TEST(SpinePeriod, counts_what_was_handed_on_unread_once) {
  const World w;
  Fleets fleets;
  std::vector<event::Record> log = preamble(fleets, w);
  const auto passed = [&](std::uint64_t n, Instant at, std::uint32_t ordinal) {
    event::Passed e;
    e.id = {4, n};
    e.at = at;
    e.tenant = 1;
    e.destination = kApi;
    log.push_back(record_of(e.id, 1, e, ordinal));
  };
  passed(1, instant(nanos(kDay) - 1), 0);
  passed(1, instant(nanos(kDay) + 1), 1);
  passed(2, instant(nanos(kDay)), 0);
  passed(3, instant(nanos(kDay)), 0);
  const SpineLedger ledger = folded(fleets, log);
  EXPECT_EQ(of(ledger, days(0, 1)).facts.passed, 1U);
  EXPECT_EQ(of(ledger, days(1, 2)).facts.passed, 2U);
  EXPECT_EQ(of(ledger, days(2, 3)).facts.passed, 0U);
  EXPECT_EQ(of(ledger, {}).facts.passed, 3U);
}

TEST(SpinePeriod, lets_what_ifs_stand_side_by_side_where_they_do_not_meet) {
  const World w, other;
  Fleets fleets;
  using Source = event::FleetChanged::Source;
  std::vector<event::Record> log = {fleets.changed(w, 1, Source::simulated)};
  const auto request = [&](const World& world, std::uint64_t n, std::int64_t hour, std::uint64_t snapshot) {
    Events e(world, kAlt);
    e.at(hour);
    e.admitted.id = {6, n};
    for (const event::Record& r : records_of(e, snapshot)) log.push_back(r);
  };
  request(w, 1, 1, 1);
  request(w, 2, 26, 1);
  log.push_back(fleets.changed(other, 2, Source::simulated));
  request(other, 3, 1, 2);
  request(other, 4, 2, 2);
  const SpineLedger ledger = folded(fleets, log);
  ClosingPolicies policies;
  EXPECT_FALSE(ledger.close(Grade::modelled, policies));
  policies.period = days(0, 1);
  policies.snapshot = 2;
  EXPECT_EQ(ledger.close(Grade::modelled, policies)->statement.requests, 2U);
  policies.period = days(1, 2);
  EXPECT_EQ(ledger.close(Grade::modelled, policies)->statement.requests, 0U) << "nothing of it, and no error";
  policies.snapshot.reset();
  EXPECT_EQ(ledger.close(Grade::modelled, policies)->statement.requests, 1U);
}

}  // namespace
}  // namespace ace
