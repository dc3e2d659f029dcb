/// Budgets counted over a spine, beside the gate that held them.
#include <gtest/gtest.h>

#include "ledger/spine_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

/// A clock that was set back over a restart: the gate lets no window open again, and the fold counts where the gate
/// did. A log that somebody ingested has no gate, and may come in any order.
TEST(SpineBudget, counts_in_the_window_in_which_the_gate_counted) {
  const World w;
  Budget hourly;
  hourly.name = "hourly";
  hourly.window = Budget::Window::hour;
  hourly.limit = Usd{1'000'000'000'000};
  using Source = event::FleetChanged::Source;
  for (const Source source : {Source::live, Source::observed}) {
    Fleets fleets;
    SpineLedger::Options options = fleets.options();
    options.budgets = {hourly};
    SpineLedger ledger(options);
    BudgetBook gate({hourly});
    std::vector<event::Record> log = {fleets.changed(w, 1, source)};
    std::uint64_t n = 0;
    for (const std::int64_t hour : {3, 2, 3, 1}) {
      Events e(w, kAlt);
      e.at(hour);
      e.admitted.id = {5, ++n};
      for (const event::Record& r : records_of(e, 1)) log.push_back(r);
      const auto held = gate.reserve(std::vector<std::uint32_t>{0}, micro(11'200), e.admitted.at);
      gate.post(std::get<BudgetTicket>(held), micro(11'200), e.admitted.at);
    }
    for (std::size_t i = 0; i < log.size(); ++i) {
      ASSERT_TRUE(ledger.add(i, log[i]));
      if (i % 3 != 0) continue;  // what is saved and read again goes on the same
      Result<SpineLedger> again = SpineLedger::restored(ledger.state(), options);
      ASSERT_TRUE(again) << again.error().what();
      ledger = *std::move(again);
    }
    const auto counted = [](const BudgetBook& book, std::int64_t hour) {
      return book.account(0, instant(hour * nanos(kHour))).requests;
    };
    for (const std::int64_t hour : {1, 2, 3}) {
      const std::uint64_t by_itself = hour == 3 ? 2 : 1;
      EXPECT_EQ(counted(ledger.budgets(), hour), source == Source::live ? counted(gate, hour) : by_itself) << hour;
    }
    EXPECT_EQ(counted(gate, 3), 4U);
  }
}

}  // namespace
}  // namespace ace
