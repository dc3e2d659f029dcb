/// What tenants reserve by the fleet file, in the books of a spine.
#include <gtest/gtest.h>

#include "ledger/spine_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

/// Half of the pool is in use, all by beta; corp holds a quarter of it and never came, beta an eighth.
SpineLedger half_used(Fleets& fleets, const World& w) {
  std::vector<event::Record> log = {fleets.changed(w, 1)};
  for (std::uint32_t i = 1; i < 3; ++i) log.push_back(named(event::Named::Kind::tenant, i, spine_tenants()[i]));
  std::uint64_t n = 0;
  for (const auto& [tenant, where] : {std::pair{1U, kGpu}, std::pair{2U, kAlt}}) {
    Events e(w, where);
    e.admitted.tenant = tenant;
    e.admitted.id = {5, ++n};
    for (const event::Record& r : records_of(e, 1)) log.push_back(r);
  }
  log.push_back(record_of({8, 1}, 1,
                          event::FixedCost{event::FixedCost::Kind::amortization, kGpu, instant(0),
                                           instant(nanos(kHour)), 1, micro(8'000), 500'000}));
  return folded(fleets, log);
}

std::string idle_of(const SpineLedger& ledger, IdlePolicy policy) {
  ClosingPolicies policies;
  policies.idle = policy;
  const Result<FoldedBooks> books = ledger.close(Grade::modelled, policies);
  ACE_CHECK(books.has_value(), "a made log closes");
  std::string text;
  const auto say = [&](std::string_view kind, std::string_view whose, Usd amount) {
    text += std::string(kind) + " " + std::string(whose) + " " + std::to_string(amount.nano / 1000) + "; ";
  };
  for (const UsageLine& line : books->statement.usage)
    if (line.idle != Usd{}) say("by usage", books->tenants[line.tenant], line.idle);
  for (const Adjustment& row : books->statement.adjustments)
    say(name_of(row.kind), row.tenant ? books->tenants[*row.tenant] : "", row.amount);
  return text;
}

// 8,000 of which half is idle: 4,000. beta used 50% of the pool, more than the 12.5% it holds; corp used nothing of
// its 25%: 2,000 are corp's. Of the 2,000 that are left, shares of 1:2 are 666.667 and 1,333.333.
TEST(SpineShares, are_those_of_the_fleet_file_and_each_idle_policy_is_another) {
  Fleet f = small_fleet();
  f.tenants.resize(2);
  f.tenants[0].name = "beta";
  f.tenants[0].reserved = {{kGpu, 125'000}};
  f.tenants[1].name = "corp";
  f.tenants[1].reserved = {{kGpu, 250'000}};
  const World w(f);
  Fleets fleets;
  const SpineLedger ledger = half_used(fleets, w);
  EXPECT_EQ(idle_of(ledger, IdlePolicy::by_usage), "by usage beta 2000; reserved_idle corp 2000; ");
  EXPECT_EQ(idle_of(ledger, IdlePolicy::by_reservation),
            "reserved_idle corp 2000; shared_idle beta 666; shared_idle corp 1333; ");
  EXPECT_EQ(idle_of(ledger, IdlePolicy::even),
            "reserved_idle corp 2000; shared_idle acme 1000; shared_idle beta 1000; ");
  EXPECT_EQ(idle_of(ledger, IdlePolicy::keep_idle), "reserved_idle corp 2000; unassigned  2000; ");
}

TEST(SpineShares, that_nobody_declares_leave_all_idle_to_the_policy) {
  const World w;
  Fleets fleets;
  const SpineLedger ledger = half_used(fleets, w);
  EXPECT_EQ(idle_of(ledger, IdlePolicy::by_reservation), "unassigned  4000; ");
  EXPECT_EQ(idle_of(ledger, IdlePolicy::by_usage), "by usage beta 4000; ");
}

}  // namespace
}  // namespace ace
