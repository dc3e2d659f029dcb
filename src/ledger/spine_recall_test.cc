/// Late facts about requests that were booked long ago, and cells asked for one by one.
#include <gtest/gtest.h>

#include "core/testing.h"
#include "ledger/spine_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

/// What a log says of a request before a record, as it would be looked up.
SpineLedger::Recall from(const std::vector<event::Record>& log, std::uint64_t* asked = nullptr) {
  return [&log, asked](std::uint32_t tenant, RequestId id, std::uint64_t before) -> Result<std::vector<event::Record>> {
    if (asked != nullptr) ++*asked;
    std::vector<event::Record> facts;
    for (std::uint64_t i = 0; i < before; ++i)
      if (log[i].id == event::EventId{id.high, id.low} && log[i].tenant == tenant) facts.push_back(log[i]);
    return facts;
  };
}

SpineLedger::Options recalling(const Fleets& fleets, const std::vector<event::Record>& log) {
  SpineLedger::Options options = fleets.options();
  options.recall = from(log);
  Budget all;
  all.name = "all";
  all.limit = Usd{1'000'000'000};
  all.window = Budget::Window::day;
  options.budgets = {all};
  return options;
}

/// Requests of which the first is long forgotten when the last has ended.
std::vector<event::Record> long_log(const World& w, Fleets& fleets, Rng& rng, std::vector<Events>& requests) {
  std::vector<event::Record> log = preamble(fleets, w);
  for (std::size_t i = 0; i < SpineLedger::kRecent + 40; ++i) {
    requests.push_back(any_spine_events(w, rng));
    for (const event::Record& r : records_of(requests.back(), 1)) log.push_back(r);
  }
  return log;
}

event::Record late_bill(const Events& e, std::int64_t prompt, std::uint32_t ordinal) {
  event::Attempted bill;
  bill.id = e.admitted.id;
  bill.offer = e.attempts.empty() ? OfferId{0} : e.attempts.front().offer;
  bill.billed = text(prompt, 0, 0);
  bill.energy_hour = e.admitted.at;
  return record_of(e.admitted.id, 1, bill, ordinal);
}

/// A gap disallows what was decided in it, however much came since.
TEST(SpineRecall, a_gap_takes_back_decisions_of_long_ago) {
  const World w;
  Rng rng(4, "gap");
  Fleets fleets;
  std::vector<Events> requests;
  std::vector<event::Record> log = long_log(w, fleets, rng, requests);
  event::Record gap;
  gap.id = {7, 7};
  gap.event = event::Gap{event::Gap::Cause::disk_full, Instant::min(), Instant::max(), -1};
  SpineLedger::Options options = fleets.options();
  options.recall = from(log);
  options.decided_in = [&](Instant, Instant, std::uint64_t before) {
    std::vector<std::pair<std::uint32_t, RequestId>> all;
    for (std::uint64_t i = 0; i < before; ++i)
      if (std::holds_alternative<event::Admitted>(log[i].event))
        all.emplace_back(log[i].tenant, RequestId{log[i].id.high, log[i].id.low});
    return Result<decltype(all)>(all);
  };
  // Said before, or said behind all of it: the same books.
  SpineLedger behind(options), before(options);
  std::uint64_t at = 0;
  for (const event::Record& r : log) ASSERT_TRUE(behind.add(at++, r));
  const Statement open = closed(behind).statement;
  ASSERT_TRUE(behind.add(at, gap));
  at = 0;
  const std::size_t names = preamble(fleets, w).size();
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (i == names) {
      ASSERT_TRUE(before.add(at++, gap));
    }
    ASSERT_TRUE(before.add(at++, log[i]));
  }
  const Statement late = closed(behind).statement;
  expect_equal(late, closed(before).statement);
  EXPECT_NE(late.disallowed_by_reason, open.disallowed_by_reason) << "it took something back";
}

TEST(SpineRecall, a_late_fact_about_a_request_booked_long_ago_corrects_it) {
  const World w;
  for_each_seed(3, [&](Rng& rng) {
    Fleets fleets;
    std::vector<Events> requests;
    std::vector<event::Record> log = long_log(w, fleets, rng, requests);
    const std::size_t end = log.size();
    for (const std::size_t i : {0U, 3U, 17U, 3U})
      log.push_back(late_bill(requests[i], rng.between(1, 9000), 50 + static_cast<std::uint32_t>(log.size() - end)));
    SpineLedger late(recalling(fleets, log)), forgetful(fleets.options());
    for (std::size_t i = 0; i < log.size(); ++i) {
      ASSERT_TRUE(late.add(i, log[i]));
      ASSERT_TRUE(forgetful.add(i, log[i]));
    }
    EXPECT_EQ(late.strays(), 0U);
    EXPECT_EQ(late.corrections(), 4U);
    EXPECT_EQ(forgetful.strays(), 3U);
    EXPECT_EQ(forgetful.corrections(), 0U);
    // The same bills behind the requests they are of.
    std::vector<event::Record> in_time = preamble(fleets, w);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      for (const event::Record& r : records_of(requests[i], 1)) in_time.push_back(r);
      for (std::size_t bill = end; bill < log.size(); ++bill)
        if (log[bill].id == event::EventId{requests[i].admitted.id.high, requests[i].admitted.id.low})
          in_time.push_back(log[bill]);
    }
    SpineLedger prompt(recalling(fleets, in_time));
    for (std::size_t i = 0; i < in_time.size(); ++i) ASSERT_TRUE(prompt.add(i, in_time[i]));
    expect_equal(closed(late).statement, closed(prompt).statement);
    EXPECT_EQ(late.balances().sum(), Usd{});
    for (const auto& [window, account] : late.budgets().windows(0))
      EXPECT_EQ(account.spent, prompt.budgets().windows(0).at(window).spent);
  });
}

TEST(SpineRecall, folded_in_pieces_recalls_as_one_folded_at_once) {
  const World w;
  for_each_seed(3, [&](Rng& rng) {
    Fleets fleets;
    std::vector<Events> requests;
    std::vector<event::Record> log = long_log(w, fleets, rng, requests);
    // A gap that the first requests lie in, heard of while they are known; then they are forgotten and corrected.
    log.insert(
        log.begin() + 200,
        record_of({8, 3}, 0, event::Gap{event::Gap::Cause::disk_full, instant(0), instant(nanos(10 * kHour)), -1}));
    for (std::uint32_t i = 0; i < 30; ++i)
      log.push_back(late_bill(requests[rng.below(40)], rng.between(1, 9000), 60 + i));
    const auto fold = [&](bool pieces) {
      SpineLedger ledger(recalling(fleets, log));
      for (std::size_t i = 0; i < log.size(); ++i) {
        EXPECT_TRUE(ledger.add(i, log[i]));
        if (pieces && (i + 35 > log.size() || rng.chance(0.002)))
          ledger = *SpineLedger::restored(ledger.state(), recalling(fleets, log));
      }
      return ledger;
    };
    const SpineLedger whole = fold(false), pieces = fold(true);
    EXPECT_EQ(whole.state(), pieces.state());
    EXPECT_EQ(whole.corrections(), 30U) << "a gap is no late fact";
    const Statement s = closed(whole).statement;
    EXPECT_EQ(s.claimed.sum(), s.c0 - s.c4);
    EXPECT_EQ(whole.balances().sum(), Usd{});
    EXPECT_EQ(whole.balances().sum(Account::Kind::spent), s.c4);
    // What was taken back is what was booked: the same as if each bill had come with its request, and the gap first.
    std::vector<event::Record> in_time = preamble(fleets, w);
    in_time.push_back(log[200]);
    for (const Events& e : requests) {
      const event::EventId id{e.admitted.id.high, e.admitted.id.low};
      for (const event::Record& r : log)
        if (r.id == id) in_time.push_back(r);
    }
    expect_equal(s, closed(folded(fleets, in_time)).statement);
    EXPECT_GT(s.requests_by_reason[static_cast<std::size_t>(Reason::gap)], 40U) << "else no gap is tried";
  });
}

TEST(SpineRecall, asks_only_about_requests_that_it_does_not_know) {
  const World w;
  Rng rng(4, "spine_recall_test");
  Fleets fleets;
  std::vector<event::Record> log = preamble(fleets, w);
  for (const event::Record& r : any_log(w, rng, 1, 50)) log.push_back(r);
  std::uint64_t asked = 0;
  SpineLedger::Options options = fleets.options();
  options.recall = from(log, &asked);
  SpineLedger ledger(std::move(options));
  for (std::size_t i = 0; i < log.size(); ++i) ASSERT_TRUE(ledger.add(i, log[i]));
  EXPECT_EQ(asked, 0U) << "an Admitted is new, and what follows it is known";
  event::Completed nobody;
  nobody.id = {1, 1};
  ASSERT_TRUE(ledger.add(log.size(), record_of({1, 1}, 1, nobody)));
  EXPECT_EQ(asked, 1U);
  EXPECT_EQ(ledger.strays(), 1U);
}

TEST(SpineRecall, a_log_that_cannot_be_read_stops_the_fold) {
  const World w;
  Fleets fleets;
  SpineLedger::Options options = fleets.options();
  options.recall = [](std::uint32_t, RequestId, std::uint64_t) -> Result<std::vector<event::Record>> {
    return Error(Errc::corrupt, "segment 1, offset 600");
  };
  SpineLedger ledger(std::move(options));
  ASSERT_TRUE(ledger.add(0, fleets.changed(w, 1)));
  event::Completed end;
  end.id = {1, 1};
  const Result<void> added = ledger.add(1, record_of({1, 1}, 1, end));
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().what().find("segment 1, offset 600"), std::string::npos);
}

/// One cell alone is what the closed books have of it, over fleets and whatever was judged by its day.
TEST(SpineCell, is_the_cell_of_the_closed_books) {
  Fleet lax = small_fleet();
  lax.slo_classes[kChat.value].target = 0.6;
  const World w, later(lax);
  for_each_seed(10, [&](Rng& rng) {
    Fleets fleets;
    std::vector<event::Record> log = preamble(fleets, w);
    for (const event::Record& r : any_log(w, rng, 1, 150)) log.push_back(r);
    if (rng.chance(0.5)) {
      log.push_back(fleets.changed(later, 2));
      for (const event::Record& r : any_log(later, rng, 2, 80)) log.push_back(r);
    }
    const SpineLedger ledger = folded(fleets, log);
    const Statement s = closed(ledger).statement;
    ASSERT_FALSE(s.cells.empty());
    for (const Cell& want : s.cells) {
      Result<Cell> got = ledger.cell(1, want.hour, want.tenant, want.model);
      ASSERT_TRUE(got) << got.error().what();
      got->tenant = want.tenant;  // symbols and numbers of the closed books
      got->model = want.model;
      EXPECT_EQ(*got, want);
    }
    EXPECT_EQ(ledger.cell(1, 999, 1, kLarge)->requests, 0U);
    EXPECT_EQ(ledger.cell(1, 0, 77, kLarge)->requests, 0U);
    EXPECT_FALSE(ledger.cell(1, 0, 1, ModelId{9}));
    EXPECT_FALSE(ledger.cell(9, 0, 1, kLarge));
  });
}

TEST(SpineCell, is_closed_once_its_day_has_settled_and_once_only) {
  const World w;
  for_each_seed(8, [&](Rng& rng) {
    Fleets fleets;
    std::vector<event::Record> log = preamble(fleets, w);
    for (const event::Record& r : any_log(w, rng, 1, 150)) log.push_back(r);
    SpineLedger ledger = folded(fleets, log);
    const Statement s = closed(ledger).statement;
    const Gates gates;
    const Instant first_day = settles_at(23, gates);
    EXPECT_TRUE(ledger.to_close(Grade::modelled, first_day - Duration{1})->empty()) << "the day has not settled";
    EXPECT_TRUE(ledger.to_close(Grade::measured, first_day)->empty()) << "no such books";
    const std::vector<event::Record> closing = *ledger.to_close(Grade::modelled, first_day);
    const auto of_day = static_cast<std::size_t>(
        std::count_if(s.cells.begin(), s.cells.end(), [](const Cell& c) { return c.hour < 24; }));
    ASSERT_EQ(closing.size(), of_day);
    ASSERT_GT(s.cells.size(), of_day);
    Usd counted{}, disallowed{};
    for (const event::Record& r : closing) {
      const auto& c = std::get<event::SettlementClosed>(r.event);
      counted += c.counted;
      disallowed += c.disallowed;
      const Cell cell = *ledger.cell(r.snapshot, c.hour, c.tenant, c.model);
      EXPECT_EQ(c.requests, static_cast<std::int64_t>(cell.requests));
      EXPECT_EQ(c.baseline, cell.baseline);
      EXPECT_EQ(c.gate, static_cast<std::uint32_t>(cell.failed));
      EXPECT_EQ(r.tenant, c.tenant);
      ASSERT_TRUE(ledger.add(ledger.next(), *event::decode(*event::encode(r))));
    }
    Usd want{};
    for (const Cell& c : s.cells)
      if (c.hour < 24) want += c.claimed.sum();
    EXPECT_EQ(counted + disallowed, want);
    EXPECT_EQ(ledger.closed_cells(), closing.size());
    EXPECT_TRUE(ledger.to_close(Grade::modelled, first_day)->empty()) << "each is closed";
    EXPECT_EQ(ledger.to_close(Grade::modelled, settles_at(47, gates))->size(), s.cells.size() - of_day);
    expect_equal(closed(ledger).statement, s);
  });
}

}  // namespace
}  // namespace ace
