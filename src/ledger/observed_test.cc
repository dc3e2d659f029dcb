/// Requests of somebody's log: what it says they cost is what they cost, wherever they ran.
#include <gtest/gtest.h>

#include "core/testing.h"
#include "ledger/spine_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;
using Source = event::FleetChanged::Source;

/// As `ace ingest` writes it: no decision, the logged cost with the end.
std::vector<event::Record> ingested(Events e, std::int64_t cost_nano) {
  e.completed.observed_cost_nano = cost_nano;
  std::vector<event::Record> records = records_of(e, 1);
  std::erase_if(records, [](const event::Record& r) { return std::holds_alternative<event::Decided>(r.event); });
  return records;
}
Events nowhere(Events e) {
  for (event::Attempted& a : e.attempts) a.offer = a.billed_as = OfferId{};
  e.completed.offer = OfferId{};
  return e;
}

struct Booked {
  Statement statement;
  std::vector<Leg> legs;
  Fleet fleet;
};
Booked booked(const World& w, const std::vector<event::Record>& records, Source source = Source::observed) {
  Fleets fleets;
  std::vector<event::Record> log = {fleets.changed(w, 1, source)};
  log.insert(log.end(), records.begin(), records.end());
  const SpineLedger ledger = folded(fleets, log);
  const FoldedBooks books = closed(ledger, grade_of(source));
  EXPECT_EQ(ledger.balances().sum(), Usd{});
  EXPECT_EQ(books.statement.claimed.sum(), books.statement.c0 - books.statement.c4);
  std::vector<Leg> owed;
  for (const Leg& leg : ledger.balances().all())
    if (leg.account.kind != Account::Kind::spent) owed.push_back(leg);
  return {books.statement, owed, books.fleet};
}

// 1,000 prompt and 100 output tokens: 14,000 millionths at the default (api), 11,200 at alt, 200 of energy at gpu. The
// log says 9,000.
TEST(Observed, what_a_log_says_is_what_it_cost_and_the_price_where_it_ran) {
  const World w;
  const struct {
    const char* why;
    Events e;
    std::int64_t cost, c0, c3, c4;
    std::optional<std::int64_t> by_prices;
    Account::Kind owed;
  } cases[] = {
      {"an API of the fleet", Events(w, kAlt), 9'000, 14'000, 9'000, 9'000, 11'200, Account::Kind::destination},
      {"nobody knows where", nowhere(Events(w, kAlt)), 9'000, 14'000, 9'000, 9'000, {}, Account::Kind::elsewhere},
      {"a pool of our own", Events(w, kGpu), 9'000, 14'000, 11'200, 9'000, 200, Account::Kind::destination},
      {"a cache", Events(w, kAlt).hit(micro(1)), 5, 14'000, 5, 5, 1, Account::Kind::look_ups},
      {"not served, and billed",
       nowhere(Events(w, kAlt).failed(kAlt, kLarge, text(10, 0, 0)).refused()),
       7,
       0,
       0,
       7,
       {},
       Account::Kind::elsewhere},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.why);
    const Booked b = booked(w, ingested(c.e, c.cost * 1000));
    const Statement& s = b.statement;
    EXPECT_EQ(s.grade, Grade::observed);
    EXPECT_EQ(std::tuple(s.c0, s.c3, s.c4), std::tuple(micro(c.c0), micro(c.c3), micro(c.c4)));
    ASSERT_EQ(b.legs.size(), 1U);
    EXPECT_EQ(b.legs[0].account.kind, c.owed);
    EXPECT_EQ(b.legs[0].amount, -micro(c.c4));
    ASSERT_EQ(s.usage.size(), 1U);
    if (c.by_prices && c.owed != Account::Kind::look_ups) {
      EXPECT_EQ(s.usage[0].logged_requests, 1U);
      EXPECT_EQ(s.usage[0].logged, micro(c.c4));
      EXPECT_EQ(s.usage[0].by_prices, micro(*c.by_prices));
    }
    if (!c.by_prices) {
      EXPECT_EQ(s.usage[0].logged_requests, 0U);
    }
  }
}

TEST(Observed, a_row_without_a_cost_costs_what_the_prices_say_and_nothing_where_nobody_knows) {
  const World w;
  const Statement priced = booked(w, ingested(Events(w, kAlt), -1)).statement;
  EXPECT_EQ(std::tuple(priced.c0, priced.c4), std::tuple(micro(14'000), micro(11'200)));
  EXPECT_EQ(priced.usage[0].logged_requests, 0U);
  const Statement unknown = booked(w, ingested(nowhere(Events(w, kAlt)), -1)).statement;
  EXPECT_EQ(std::tuple(unknown.c0, unknown.c4), std::tuple(Usd{}, Usd{}));
  EXPECT_EQ(unknown.requests_by_reason[static_cast<std::size_t>(Reason::unpriced)], 1U);
  EXPECT_EQ(unknown.denominator, Usd{}) << "no saving is claimed of it";
}

/// Only a log's own requests: what ACE served costs what its destinations bill, whatever a replayed log said.
TEST(Observed, the_cost_of_another_log_is_no_cost_of_ours) {
  const World w;
  for (const Source source : {Source::live, Source::simulated, Source::shadow})
    EXPECT_EQ(booked(w, ingested(Events(w, kAlt), 9'000'000), source).statement.c4, micro(11'200));
}

TEST(Observed, books_have_a_grade_of_their_own_between_measured_and_modelled) {
  const World w;
  Fleets fleets;
  std::vector<event::Record> log;
  std::uint64_t n = 0;
  for (const Source source : {Source::simulated, Source::observed, Source::live}) {
    log.push_back(fleets.changed(w, ++n, source));
    Events e(w, kAlt);
    e.admitted.id = {5, n};
    for (const event::Record& r : records_of(e, n)) log.push_back(r);
  }
  const SpineLedger ledger = folded(fleets, log);
  EXPECT_EQ(ledger.grades(), (std::vector{Grade::measured, Grade::observed, Grade::modelled}));
  EXPECT_EQ(ledger.fleets(), 3U);
  for (const Grade grade : ledger.grades()) EXPECT_EQ(closed(ledger, grade).statement.requests, 1U);
}

TEST(Observed, a_correction_of_what_was_logged_takes_back_exactly_what_was_booked) {
  const World w;
  std::vector<event::Record> records = ingested(nowhere(Events(w, kAlt)), 9'000'000);
  event::Record later = records.back();
  later.ordinal = 1;
  std::get<event::Completed>(later.event).observed_cost_nano = 8'000'000;
  records.push_back(later);
  const Booked b = booked(w, records);
  EXPECT_EQ(b.statement.c4, micro(8'000));
  ASSERT_EQ(b.legs.size(), 1U);
  EXPECT_EQ(b.legs[0].amount, -micro(8'000));
}

TEST(Observed, the_levers_of_every_log_sum_to_its_saving_and_shapley_too) {
  const World w;
  for_each_seed(40, [&](Rng& rng) {
    Fleets fleets;
    std::vector<event::Record> log = {fleets.changed(w, 1, Source::observed)};
    for (int i = 0; i < 40; ++i) {
      Events e = any_spine_events(w, rng);
      if (rng.chance(0.4)) e = nowhere(e);
      for (const event::Record& r : ingested(e, rng.chance(0.8) ? rng.between(0, 50'000'000) : -1)) log.push_back(r);
    }
    const SpineLedger ledger = folded(fleets, log);
    EXPECT_EQ(ledger.balances().sum(), Usd{});
    const FoldedBooks books = closed(ledger, Grade::observed);
    const Statement& s = books.statement;
    EXPECT_EQ(s.claimed.sum(), s.c0 - s.c4);
    Usd shapley = s.claimed.unattributed, charged{};
    for (const Usd lever : s.shapley) shapley += lever;
    EXPECT_EQ(shapley, s.c0 - s.c4);
    for (const UsageLine& line : s.usage) charged += line.total();
    for (const Adjustment& a : s.adjustments) charged += a.amount;
    EXPECT_EQ(charged, s.c4 + s.fixed);
    Usd logged{}, booked_there{};
    const LoggedCosts costs = logged_costs(s, books.fleet);
    for (const Billed& b : costs.logged) logged += *b.cost;
    for (const UsageLine& line : s.usage) booked_there += line.logged;
    EXPECT_EQ(logged, booked_there);
  });
}

TEST(Observed, differences_to_the_prices_are_named_by_provider_model_and_day) {
  const World w;
  std::vector<event::Record> records;
  const auto add = [&](Events e, std::int64_t cost) {
    e.admitted.id = {6, records.size()};
    for (const event::Record& r : ingested(e, cost)) records.push_back(r);
  };
  add(Events(w, kAlt), 11'200'000);                // as listed
  add(Events(w, kApi).at(30), 13'000'000);         // a discount of 1,000 on the second day
  add(Events(w, kApi, kSmall).at(30), 1'400'000);  // 1000 x 1 + 100 x 4, as listed
  add(nowhere(Events(w, kApi)), 1'000'000);        // of which no price is known
  const Booked b = booked(w, records);
  const LoggedCosts costs = logged_costs(b.statement, b.fleet);
  const std::vector<Reconciled> lines = reconcile(costs.by_prices, costs.logged, b.statement.from, b.statement.to);
  std::string said;
  for (const Reconciled& line : lines)
    said += line.ours.provider + "/" + line.ours.model + " " + std::string(name_of(line.state)) + " " +
            to_decimal(*line.ours.cost - *line.theirs.cost) + "\n";
  EXPECT_EQ(said, "other/large equal 0.00\nvendor/large differs 0.001\nvendor/small equal 0.00\n");
}

}  // namespace
}  // namespace ace
