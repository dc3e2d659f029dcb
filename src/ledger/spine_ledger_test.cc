#include "ledger/spine_ledger.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/testing.h"
#include "ledger/spine_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

void append(std::vector<event::Record>& log, const std::vector<event::Record>& more) {
  log.insert(log.end(), more.begin(), more.end());
}

Statement live(const World& w, const std::vector<Events>& requests) {
  Ledger ledger(w.snapshot, {});
  for (const Events& e : requests) {
    const Settled s = e.settled();
    const Ledger::Receipt receipt = ledger.add(s);
    if (s.completed.observed_cost_nano >= 0) ledger.compare(receipt, Usd{s.completed.observed_cost_nano});
  }
  return ledger.close({spine_tenants(), spine_teams()});
}

event::Record opened(std::uint64_t n) {
  return record_of({7, n}, 0, event::Lifecycle{event::Lifecycle::What::started, instant(0), 0});
}

TEST(SpineLedger, comes_to_what_a_live_ledger_of_the_same_requests_does) {
  const World w;
  for_each_seed(30, [&](Rng& rng) {
    Fleets fleets;
    std::vector<Events> requests;
    std::vector<event::Record> log = preamble(fleets, w);
    append(log, any_log(w, rng, 1, 80, &requests));
    const FoldedBooks books = closed(folded(fleets, log));
    expect_equal(books.statement, live(w, requests));
    EXPECT_EQ(books.tenants, spine_tenants());
    EXPECT_EQ(books.teams, spine_teams());
  });
}

/// Whatever order a recording shell writes the facts of a request in, its Admitted last included.
TEST(SpineLedger, does_not_depend_on_the_order_of_the_facts_of_a_request) {
  const World w;
  for_each_seed(30, [&](Rng& rng) {
    Fleets fleets;
    std::vector<Events> requests;
    std::vector<event::Record> facts = any_log(w, rng, 1, 60, &requests), log = preamble(fleets, w);
    rng.shuffle(std::span(facts));
    append(log, facts);
    const SpineLedger ledger = folded(fleets, log);
    EXPECT_EQ(ledger.strays(), 0U);
    EXPECT_EQ(ledger.pending(), 0U);
    expect_equal(closed(ledger).statement, live(w, requests));
  });
}

TEST(SpineLedger, sums_to_zero_and_levers_to_the_saving_at_every_prefix_and_after_a_crash_there) {
  const World w;
  for_each_seed(6, [&](Rng& rng) {
    Fleets fleets;
    std::vector<Events> requests;
    std::vector<event::Record> log = preamble(fleets, w);
    append(log, any_log(w, rng, 1, 25, &requests));
    for (std::size_t cut = 1; cut <= log.size(); ++cut) {
      const std::vector<event::Record> prefix(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(cut));
      SpineLedger ledger = folded(fleets, prefix);
      const auto holds = [&] {
        const Statement s = closed(ledger).statement;
        EXPECT_EQ(ledger.balances().sum(), Usd{});
        EXPECT_EQ(ledger.balances().sum(Account::Kind::spent) + ledger.balances().sum(Account::Kind::estimated), s.c4);
        EXPECT_EQ(s.claimed.sum(), s.c0 - s.c4);
      };
      holds();
      const std::size_t pending = ledger.pending();
      ASSERT_TRUE(ledger.add(ledger.next(), opened(cut)));
      holds();
      EXPECT_EQ(ledger.pending(), 0U);
      EXPECT_EQ(closed(ledger).facts.estimated, pending);
      EXPECT_EQ(ledger.balances().sum(Account::Kind::held), Usd{});
      // What was on its way to the disk comes after all: nothing shows of the crash.
      for (std::size_t i = cut; i < log.size(); ++i) ASSERT_TRUE(ledger.add(ledger.next(), log[i]));
      holds();
      EXPECT_EQ(closed(ledger).facts.estimated, 0U);
      EXPECT_EQ(ledger.balances().sum(Account::Kind::estimated), Usd{});
      expect_equal(closed(ledger).statement, live(w, requests));
    }
  });
}

// 1,000 prompt tokens at the dearest of api (10, written to a cache 12.5) and alt (8, 10), 500 output at 40:
// 1000 x 12.5 + 500 x 40 = 32,500 held. Decided for alt with 200 predicted: 1000 x 8 + 200 x 32 = 14,400 estimated.
TEST(SpineLedger, holds_the_worst_case_and_posts_an_estimate_after_a_crash) {
  const World w;
  Fleets fleets;
  Events e(w, kAlt);
  e.admitted.id = {5, 5};
  e.admitted.tenant = 2;
  e.admitted.max_output = Tokens{500};
  e.decided.predicted.output_mean = 200.0;
  const std::vector<event::Record> facts = records_of(e, 1);
  std::vector<JournalEntry> entries;
  SpineLedger::Options options = fleets.options();
  options.each = [&](const JournalEntry& entry) { entries.push_back(entry); };
  SpineLedger ledger(std::move(options));
  for (const event::Record& r : preamble(fleets, w)) ASSERT_TRUE(ledger.add(ledger.next(), r));
  ASSERT_TRUE(ledger.add(ledger.next(), facts[0]));
  EXPECT_EQ(ledger.balances().of({Account::Kind::held, 2}), micro(32'500));
  EXPECT_EQ(ledger.balances().of({Account::Kind::reserve, 0}), micro(-32'500));
  ASSERT_TRUE(ledger.add(ledger.next(), facts[1]));
  ASSERT_TRUE(ledger.add(ledger.next(), opened(1)));
  EXPECT_EQ(ledger.balances().of({Account::Kind::held, 2}), Usd{});
  EXPECT_EQ(ledger.balances().of({Account::Kind::estimated, 2}), micro(14'400));
  const Statement lost = closed(ledger).statement;
  EXPECT_EQ(lost.c4, micro(14'400));
  EXPECT_EQ(lost.c0, Usd{}) << "what has no end saves nothing";
  for (std::size_t i = 2; i < facts.size(); ++i) ASSERT_TRUE(ledger.add(ledger.next(), facts[i]));
  EXPECT_EQ(ledger.balances().of({Account::Kind::estimated, 2}), Usd{});
  EXPECT_EQ(ledger.balances().of({Account::Kind::spent, 2}), micro(1000 * 8 + 100 * 32));
  EXPECT_EQ(closed(ledger).facts.corrected, 2U);  // its attempt, then its end
  std::string what;
  for (const JournalEntry& entry : entries) what += std::string(name_of(entry.what)) + " ";
  EXPECT_EQ(what, "reserve estimate correct correct ");
}

// As above, though 5,000 tokens were predicted: no more than the 500 that were held for, 1000 x 8 + 500 x 32 = 24,000.
TEST(SpineLedger, estimates_no_more_than_was_held_and_says_when_a_budget_was_crossed_by_it) {
  const World w;
  using What = event::Lifecycle::What;
  for (const What what : {What::started, What::recovered}) {
    Fleets fleets;
    Events e(w, kAlt);
    e.admitted.id = {5, 5};
    e.admitted.at = e.decided.at = instant(0) + kHour;
    e.admitted.max_output = Tokens{500};
    e.decided.predicted.output_mean = 5'000.0;
    SpineLedger::Options options = fleets.options();
    options.budgets.emplace_back();
    options.budgets[0].name = "all";
    options.budgets[0].window = Budget::Window::total;
    options.budgets[0].limit = micro(20'000);
    SpineLedger ledger(std::move(options));
    const std::vector<event::Record> facts = records_of(e, 1);
    ASSERT_TRUE(ledger.add(0, fleets.changed(w, 1)));
    ASSERT_TRUE(ledger.add(1, facts[0]));
    ASSERT_TRUE(ledger.add(2, facts[1]));
    ASSERT_TRUE(ledger.add(3, record_of({7, 1}, 0, event::Lifecycle{what, instant(0) + kDay, 0})));
    EXPECT_EQ(ledger.pending(), 0U);
    EXPECT_EQ(ledger.balances().of({Account::Kind::estimated, 0}), micro(24'000));
    EXPECT_EQ(ledger.budgets().account(0, instant(0)).crossed, instant(0) + kHour) << "not when the next one started";
  }
}

TEST(SpineLedger, owes_an_attempt_where_it_ran_though_it_was_sent_elsewhere) {
  const World w;
  Fleets fleets;
  Events e(w, kAlt);
  e.admitted.id = {5, 5};
  e.attempts[0].billed_as = w.offer(kApi, kLarge);
  std::vector<event::Record> log = {fleets.changed(w, 1)};
  append(log, records_of(e, 1));
  const SpineLedger ledger = folded(fleets, log);
  std::map<std::string, Usd> owed;
  for (std::uint32_t owner = 0; owner < 8; ++owner) {
    const Usd amount = ledger.balances().of({Account::Kind::destination, owner});
    if (amount != Usd{}) owed[ledger.owner({Account::Kind::destination, owner})] = amount;
  }
  EXPECT_EQ(owed, (std::map<std::string, Usd>{{"api", micro(-(1000 * 10 + 100 * 40))}}));
}

TEST(SpineLedger, folded_in_pieces_has_the_bytes_of_one_folded_at_once) {
  const World w;
  for_each_seed(25, [&](Rng& rng) {
    Fleets fleets;
    std::vector<event::Record> log = preamble(fleets, w);
    append(log, any_log(w, rng, 1, 60));
    log.insert(log.begin() + static_cast<std::ptrdiff_t>(30 + rng.below(log.size() - 30)), opened(1));
    log.push_back(
        record_of({8, 1}, 1, event::FixedCost{event::FixedCost::Kind::rental, kRent, {}, {}, 1, {999}, 5000}));
    log.push_back(record_of({8, 2}, 1, event::GpuBooking{event::GpuBooking::Use::served, "gpu0", 5, 10}));
    log.push_back(record_of({8, 3}, 0, event::Gap{event::Gap::Cause::crash, instant(0), instant(10), 3}));
    SpineLedger pieces(fleets.options());
    for (std::size_t i = 0; i < log.size(); ++i) {
      ASSERT_TRUE(pieces.add(i, log[i]));
      if (!rng.chance(0.1)) continue;
      Result<SpineLedger> again = SpineLedger::restored(pieces.state(), fleets.options());
      ASSERT_TRUE(again) << again.error().what();
      EXPECT_EQ(again->state(), pieces.state());
      pieces = *std::move(again);
    }
    const SpineLedger whole = folded(fleets, log);
    EXPECT_EQ(pieces.state(), whole.state());
    expect_equal(closed(pieces).statement, closed(whole).statement);
  });
}

TEST(SpineLedger, refuses_a_state_that_is_cut_anywhere) {
  const World w;
  Rng rng(3, "spine_ledger_test");
  Fleets fleets;
  std::vector<event::Record> log = preamble(fleets, w);
  append(log, any_log(w, rng, 1, 20));
  const std::string state = folded(fleets, log).state();
  for (std::size_t size = 0; size < state.size(); size += 1 + size / 64)
    EXPECT_FALSE(SpineLedger::restored(state.substr(0, size), fleets.options())) << size;
  EXPECT_FALSE(SpineLedger::restored(state + "x", fleets.options()));
}

/// The same fleet with further destinations, models and classes whose names come first, so that every index moves.
Fleet reordered() {
  Fleet f = small_fleet();
  const auto shift = [](auto& id) { ++id.value; };
  Destination extra = f.destinations[0];
  extra.name = "aaa";
  extra.serving.clear();
  f.destinations.insert(f.destinations.begin(), extra);
  Model model;
  model.name = "aaa-model";
  model.context_max = Tokens{1000};
  f.models.insert(f.models.begin(), model);
  SloClass slo;
  slo.name = "aaa-class";
  slo.ttft = kSecond;
  f.slo_classes.insert(f.slo_classes.begin(), slo);
  shift(f.default_slo);
  for (Model& m : f.models) {
    if (m.baseline) shift(m.baseline->destination);
    for (Equivalent& e : m.equivalents) shift(e.model);
  }
  for (Destination& d : f.destinations)
    for (Serving& s : d.serving) shift(s.model);
  f.destinations[0].serving = {serves(ModelId{0}, PriceId{0})};  // an offer before all others
  return f;
}

TEST(SpineLedger, a_reload_that_only_adds_and_reorders_changes_no_total) {
  const World before, after(reordered());
  for_each_seed(20, [&](Rng& rng) {
    Fleets fleets;
    std::vector<event::Record> one = preamble(fleets, before), two = one;
    two.push_back(fleets.changed(after, 2));
    for (int i = 0; i < 80; ++i) {
      const Events e = any_spine_events(before, rng);
      append(one, records_of(e, 1));
      if (rng.chance(0.5)) {
        append(two, records_of(e, 1));
        continue;
      }
      Events moved = e;
      const auto offer = [&](OfferId id) {
        if (!id.valid()) return id;
        const Offer& was = before.snapshot[id];
        return after.offer({was.destination.value + 1}, {was.model.value + 1});
      };
      ++moved.admitted.requested.value;
      ++moved.admitted.slo.value;
      moved.decided.decision.chosen = offer(e.decided.decision.chosen);
      moved.decided.cheapest_payg = offer(e.decided.cheapest_payg);
      moved.completed.offer = offer(e.completed.offer);
      for (event::Attempted& a : moved.attempts) a.offer = offer(a.offer);
      std::vector<event::Record> facts = records_of(moved, 2);
      // A request may have been admitted just before the reload; what it was admitted under is what it is priced by.
      if (rng.chance(0.3)) facts[0] = records_of(e, 1)[0];
      if (rng.chance(0.3)) std::rotate(facts.begin(), facts.begin() + 1, facts.end());  // and heard of last
      append(two, facts);
    }
    const FoldedBooks a = closed(folded(fleets, one)), b = closed(folded(fleets, two));
    EXPECT_EQ(a.statement.c0, b.statement.c0);
    EXPECT_EQ(a.statement.c4, b.statement.c4);
    EXPECT_EQ(a.statement.claimed, b.statement.claimed);
    EXPECT_EQ(a.statement.counted, b.statement.counted);
    EXPECT_EQ(a.statement.shapley, b.statement.shapley);
    EXPECT_EQ(a.statement.cells.size(), b.statement.cells.size());
    EXPECT_EQ(a.statement.usage.size(), b.statement.usage.size());
    const std::vector<By> by = {By::hour, By::tenant, By::team, By::model, By::destination, By::slo};
    EXPECT_EQ(chargeback_csv(chargeback(a.statement, by, {a.tenants, a.teams}), by, a.fleet, {a.tenants, a.teams}),
              chargeback_csv(chargeback(b.statement, by, {b.tenants, b.teams}), by, b.fleet, {b.tenants, b.teams}));
  });
}

TEST(SpineLedger, grades_by_where_the_events_come_from_and_never_adds_grades_up) {
  const World w;
  Fleets fleets;
  SpineLedger ledger(fleets.options());
  const auto add = [&](const event::Record& r) { ASSERT_TRUE(ledger.add(ledger.next(), r)); };
  add(fleets.changed(w, 1, event::FleetChanged::Source::live));
  add(fleets.changed(w, 2, event::FleetChanged::Source::shadow));
  for (const std::uint64_t snapshot : {1U, 2U, 2U}) {
    Events e(w, kAlt);
    e.admitted.id = {snapshot, ledger.next()};
    for (const event::Record& r : records_of(e, snapshot)) add(r);
  }
  EXPECT_EQ(ledger.grades(), (std::vector<Grade>{Grade::measured, Grade::modelled}));
  EXPECT_EQ(closed(ledger, Grade::measured).statement.requests, 1U);
  EXPECT_EQ(closed(ledger, Grade::measured).statement.grade, Grade::measured);
  EXPECT_EQ(closed(ledger, Grade::modelled).statement.requests, 2U);
  EXPECT_EQ(closed(ledger, Grade::modelled).statement.grade, Grade::modelled);
}

/// Budgets look at the window of the events, not at that of whoever opened the log a year later.
TEST(SpineLedger, has_the_time_of_its_requests_whenever_its_log_was_opened) {
  const World w;
  Fleets fleets;
  std::vector<event::Record> log = {fleets.changed(w, 1)};
  Events e(w, kAlt);
  e.admitted.id = {5, 5};
  e.at(7, 30);
  append(log, records_of(e, 1));
  log.push_back(
      record_of({7, 9}, 0, event::Lifecycle{event::Lifecycle::What::started, instant(nanos(9000 * kHour)), 0}));
  EXPECT_EQ(folded(fleets, log).latest(), e.completed.at);
}

TEST(SpineLedger, allows_no_saving_of_what_was_decided_inside_a_gap) {
  const World w;
  for (const bool gap_first : {true, false}) {
    Fleets fleets;
    std::vector<event::Record> log = {fleets.changed(w, 1)};
    Events e(w, kGpu);
    e.at(5, 30);
    e.decided.at = e.admitted.at;
    const event::Record gap =
        record_of({8, 3}, 0, event::Gap{event::Gap::Cause::disk_full, e.admitted.at, e.admitted.at + kSecond, -1});
    if (gap_first) log.push_back(gap);
    append(log, records_of(e, 1));
    if (!gap_first) log.push_back(gap);
    const Statement s = closed(folded(fleets, log)).statement;
    EXPECT_GT(s.claimed.sum(), Usd{});
    EXPECT_EQ(s.counted.sum(), Usd{});
    EXPECT_EQ(s.requests_by_reason[static_cast<std::size_t>(Reason::gap)], 1U);
  }
}

TEST(SpineLedger, counts_what_was_decided_once_a_gap_was_over) {
  const World w;
  for (const bool admitted_inside : {true, false}) {
    Fleets fleets;
    Events e(w, kGpu);
    e.at(5, 30);
    e.decided.at = e.admitted.at + kMinute;
    const Instant end = admitted_inside ? e.admitted.at + kSecond : e.decided.at;
    std::vector<event::Record> log = {
        fleets.changed(w, 1),
        record_of({8, 3}, 0, event::Gap{event::Gap::Cause::disk_full, e.admitted.at - kSecond, end, -1})};
    append(log, records_of(e, 1));
    const Statement s = closed(folded(fleets, log)).statement;
    EXPECT_GT(s.counted.sum(), Usd{}) << admitted_inside;
    EXPECT_EQ(s.requests_by_reason[static_cast<std::size_t>(Reason::gap)], 0U);
  }
}

TEST(SpineLedger, allows_no_saving_of_what_was_dispatched_without_a_word_on_why) {
  const World w;
  using Source = event::FleetChanged::Source;
  for (const Source source : {Source::live, Source::observed}) {
    Fleets fleets;
    Events e(w, kGpu);
    e.admitted.id = {5, 5};
    std::vector<event::Record> log = {fleets.changed(w, 1, source)}, facts = records_of(e, 1);
    facts.erase(facts.begin() + 1);
    append(log, facts);
    const FoldedBooks books =
        *folded(fleets, log).close(source == Source::live ? Grade::measured : Grade::observed, {});
    EXPECT_EQ(books.statement.requests_by_reason[static_cast<std::size_t>(Reason::gap)],
              source == Source::live ? 1U : 0U);
    if (source == Source::live) {
      EXPECT_EQ(books.statement.counted.sum(), Usd{});
    }
  }
}

TEST(SpineLedger, allows_no_saving_of_a_cache_that_guesses_until_its_audits_prove_it) {
  const World w;
  for (const auto kind : {event::CacheHit::Kind::exact, event::CacheHit::Kind::semantic}) {
    Fleets fleets;
    Events e(w, kApi);
    e.hit(micro(5));
    e.admitted.id = {5, 5};
    std::vector<event::Record> log = {fleets.changed(w, 1)};
    append(log, records_of(e, 1));
    log.insert(log.end() - 1, record_of({5, 5}, 1, event::CacheHit{kind, {5, 5}, e.admitted.at, {4, 4}, micro(5)}));
    const Statement s = closed(folded(fleets, log)).statement;
    const bool exact = kind == event::CacheHit::Kind::exact;
    EXPECT_GT(s.claimed.sum(), Usd{});
    EXPECT_EQ(s.counted.sum(), exact ? s.claimed.sum() : Usd{});
    EXPECT_EQ(s.requests_by_reason[static_cast<std::size_t>(Reason::insufficient_evidence)], exact ? 0U : 1U);
  }
}

TEST(SpineLedger, believes_the_latest_of_several_ends_whichever_comes_first) {
  const World w;
  Events e(w, kAlt);
  e.admitted.id = {5, 5};
  event::Completed longer = e.completed;
  longer.id = {5, 5};
  longer.usage = text(1000, 0, 200);
  for (const bool latest_first : {true, false}) {
    Fleets fleets;
    std::vector<event::Record> log = {fleets.changed(w, 1)};
    append(log, records_of(e, 1));
    log.insert(latest_first ? log.end() - 1 : log.end(), record_of({5, 5}, 1, longer, 1));
    EXPECT_EQ(closed(folded(fleets, log)).statement.output, 200) << latest_first;
  }
}

TEST(SpineLedger, judges_a_class_by_the_strictest_target_it_ever_had) {
  Fleet lax = small_fleet();
  lax.slo_classes[kChat.value].target = 0.1;
  const World strict, later(lax);
  Fleets fleets;
  std::vector<event::Record> log = {fleets.changed(strict, 1), fleets.changed(later, 2)};
  for (std::uint64_t i = 0; i < 10; ++i) {
    Events e(i < 5 ? strict : later, kGpu);
    e.admitted.id = {5, i};
    e.completed.slo_met = i % 2 == 0;
    append(log, records_of(e, i < 5 ? 1 : 2));
  }
  const Statement s = closed(folded(fleets, log)).statement;
  EXPECT_EQ(s.slo_met, 5U);
  EXPECT_EQ(s.counted.sum(), Usd{}) << "half in time is not 99%";
  EXPECT_GT(s.requests_by_reason[static_cast<std::size_t>(Reason::cell_slo)], 0U);
}

TEST(SpineLedger, books_a_gpu_millisecond_once_and_counts_what_it_refused) {
  const World w;
  Fleets fleets;
  const SpineLedger ledger = folded(
      fleets,
      {fleets.changed(w, 1), record_of({8, 1}, 1, event::GpuBooking{event::GpuBooking::Use::served, "gpu0", 0, 10}),
       record_of({8, 2}, 1, event::GpuBooking{event::GpuBooking::Use::released, "gpu0", 9, 20}),
       record_of({8, 3}, 1, event::FixedCost{event::FixedCost::Kind::amortization, kGpu, {}, {}, 1, {77}})});
  const FoldedBooks books = closed(ledger);
  EXPECT_EQ(books.statement.gpu_time[0], GpuMillis{10});
  EXPECT_EQ(books.statement.gpu_time[3], GpuMillis{0});
  EXPECT_EQ(books.facts.bookings_refused, 1U);
  EXPECT_EQ(books.statement.fixed, Usd{77});
  EXPECT_EQ(ledger.balances().sum(Account::Kind::fixed), Usd{77});
}

/// A run recorded again over a longer trace says the same time again, further.
TEST(SpineLedger, books_a_stretch_of_fixed_cost_once_and_lets_a_longer_one_replace_it) {
  const World w;
  Fleets fleets;
  std::uint64_t at = 1;
  const auto cost = [&](std::int64_t from, std::int64_t to, std::int64_t amount, DestinationId where = kGpu) {
    return record_of({8, ++at}, 1,
                     event::FixedCost{event::FixedCost::Kind::amortization, where, instant(from), instant(to), 1,
                                      Usd{amount}, 500'000});
  };
  const auto used = [&](std::int64_t from, std::int64_t to) {
    return record_of({9, ++at}, 1, event::GpuBooking{event::GpuBooking::Use::served, "gpu0", from, to});
  };
  const struct {
    const char* why;
    std::vector<event::Record> log;
    std::int64_t fixed;
    std::uint64_t refused;
  } cases[] = {
      {"one behind the other", {cost(0, 10, 100), cost(10, 15, 50)}, 150, 0},
      {"the same again", {cost(0, 10, 100), cost(0, 10, 100)}, 100, 1},
      {"further", {cost(0, 10, 100), cost(0, 30, 300)}, 300, 0},
      {"further than two", {cost(0, 10, 100), cost(10, 15, 50), cost(0, 30, 300)}, 300, 0},
      {"less", {cost(0, 30, 300), cost(0, 10, 100)}, 300, 1},
      {"across", {cost(0, 10, 100), cost(5, 30, 250)}, 100, 1},
      {"elsewhere", {cost(0, 10, 100), cost(0, 10, 100, kRent)}, 200, 0},
  };
  for (const auto& c : cases) {
    std::vector<event::Record> log = {fleets.changed(w, 1)};
    log.insert(log.end(), c.log.begin(), c.log.end());
    const SpineLedger ledger = folded(fleets, log);
    const FoldedBooks books = closed(ledger);
    EXPECT_EQ(books.statement.fixed, Usd{c.fixed}) << c.why;
    EXPECT_EQ(books.facts.fixed_refused, c.refused) << c.why;
    EXPECT_EQ(ledger.balances().sum(Account::Kind::fixed), Usd{c.fixed}) << c.why;
    const Result<SpineLedger> again = SpineLedger::restored(ledger.state(), fleets.options());
    ASSERT_TRUE(again) << again.error().what();
    EXPECT_EQ(again->state(), ledger.state()) << c.why;
  }
  const FoldedBooks longer = closed(folded(fleets, {fleets.changed(w, 1), used(0, 10), used(0, 30), used(5, 20)}));
  EXPECT_EQ(longer.statement.gpu_time[0], GpuMillis{30});
  EXPECT_EQ(longer.facts.bookings_refused, 1U);
}

TEST(SpineLedger, never_adds_up_simulated_fleets_over_the_same_time) {
  const World w, other;
  Rng rng(3, "what-if");
  Fleets fleets;
  using Source = event::FleetChanged::Source;
  std::vector<event::Record> one = {fleets.changed(w, 1, Source::simulated)},
                             two = {fleets.changed(other, 2, Source::simulated)};
  for (std::uint32_t i = 1; i < 4; ++i) one.push_back(named(event::Named::Kind::tenant, i, spine_tenants()[i]));
  append(one, any_log(w, rng, 1, 40));
  std::vector<event::Record> second = any_log(w, rng, 2, 40);
  append(two, second);
  std::vector<event::Record> both = one;
  append(both, two);
  const SpineLedger ledger = folded(fleets, both);
  const Result<FoldedBooks> sum = ledger.close(Grade::modelled, {});
  ASSERT_FALSE(sum) << "they are what-ifs";
  EXPECT_EQ(sum.error().code(), Errc::bad_input);
  EXPECT_NE(sum.error().what().find("--snapshot 1 or --snapshot 2"), std::string::npos) << sum.error().what();
  EXPECT_EQ(ledger.snapshots(Grade::modelled), (std::vector<std::uint64_t>{1, 2}));
  ClosingPolicies first;
  first.snapshot = 1;
  expect_equal(ledger.close(Grade::modelled, first)->statement, closed(folded(fleets, one)).statement);
  first.snapshot = 7;
  EXPECT_FALSE(ledger.close(Grade::modelled, first));
}

TEST(SpineLedger, knows_names_as_people_and_budgets_write_them) {
  const World w;
  Rng rng(5, "names");
  Fleets fleets;
  SpineLedger::Options options = fleets.options();
  Budget budget;
  budget.name = "search";
  budget.tenant = "search@acme";
  budget.limit = Usd{1'000'000'000};
  options.budgets = {budget};
  SpineLedger ledger(options);
  Events e = any_spine_events(w, rng);
  e.admitted.tenant = 1;
  std::vector<event::Record> log = {fleets.changed(w, 1),
                                    named(event::Named::Kind::tenant, 1, event::label_of("search@acme"))};
  append(log, records_of(e, 1));
  for (std::size_t i = 0; i < log.size(); ++i) ASSERT_TRUE(ledger.add(i, log[i]));
  EXPECT_EQ(ledger.budgets().account(0, instant(0)).requests, 1U) << "the budget counts it";
  EXPECT_EQ(ledger.owner({Account::Kind::spent, 1}), "search@acme");
}

TEST(SpineLedger, counts_corrections_of_cells_that_the_log_had_closed) {
  const World w;
  Fleets fleets;
  std::vector<event::Record> log = {fleets.changed(w, 1)};
  Events e(w, kAlt);
  e.admitted.id = {5, 5};
  append(log, records_of(e, 1));
  log.push_back(record_of({8, 9}, 1, event::SettlementClosed{instant(1), 0, 0, kLarge, 1, {}, {}, {}, {}, 0}));
  event::Completed longer = e.completed;
  longer.id = {5, 5};
  longer.usage = text(1000, 0, 200);
  log.push_back(record_of({5, 5}, 1, longer, 1));  // the provider's own count: twice the output
  event::Attempted billed = e.attempts[0];
  billed.billed = text(500, 0, 0);
  billed.answered = false;
  log.push_back(record_of({5, 5}, 1, billed, 1));  // and a cancelled try that was billed as well
  SpineLedger::Options options = fleets.options();
  options.budgets.emplace_back();
  options.budgets[0].name = "all";
  options.budgets[0].limit = Usd{1'000'000'000};
  SpineLedger ledger(std::move(options));
  for (std::size_t i = 0; i < log.size(); ++i) ASSERT_TRUE(ledger.add(i, log[i]));
  const FoldedBooks books = closed(ledger);
  EXPECT_EQ(ledger.budgets().account(0, instant(0)).spent, books.statement.c4) << "a budget is corrected as well";
  EXPECT_EQ(books.facts.corrected_closed, 2U);
  EXPECT_EQ(books.facts.corrected_closed_cost, micro(500 * 8));
  EXPECT_EQ(books.statement.c4, micro(1000 * 8 + 100 * 32 + 500 * 8));
  EXPECT_EQ(books.statement.output, 200);
}

TEST(SpineLedger, refuses_what_does_not_fit_and_goes_on_as_if_it_had_not_been_there) {
  const World w;
  Fleets fleets;
  Events e(w, kAlt);
  e.admitted.id = {5, 5};
  SpineLedger ledger(fleets.options());
  EXPECT_FALSE(ledger.add(0, records_of(e, 1)[0])) << "a fleet that nobody declared";
  ASSERT_TRUE(ledger.add(0, fleets.changed(w, 1)));
  const std::string before = ledger.state();
  for (const auto& wrong : std::vector<std::function<void(Events&)>>{
           [](Events& x) { x.admitted.requested = ModelId{3}; }, [](Events& x) { x.admitted.slo = SloId{2}; },
           [](Events& x) { x.admitted.compliance = ComplianceId{2}; },
           [](Events& x) { x.admitted.declared_tenant = TenantId{0}; }}) {
    Events other = e;
    wrong(other);
    const Result<void> added = ledger.add(1, records_of(other, 1)[0]);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code(), Errc::corrupt);
    EXPECT_NE(std::string(added.error().what()).find("record 1"), std::string::npos);
  }
  event::Completed far = e.completed;
  far.offer = OfferId{99};
  EXPECT_FALSE(ledger.add(1, record_of({5, 5}, 1, far)));
  EXPECT_EQ(ledger.state(), before);
}

}  // namespace
}  // namespace ace
