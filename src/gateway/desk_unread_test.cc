/// What is handed on unread.
#include "gateway/desk.h"

#include <gtest/gtest.h>

#include "gateway/desk_testing.h"

namespace ace::gateway {
namespace {

TEST(Desk, records_what_is_handed_on_unread_and_counts_none_of_it_as_money) {
  for (const DeskOptions& options : {DeskWorld::acting(), DeskWorld::observing()}) {
    DeskWorld w(options);
    const Desk::Unread unread{w.world, caller_of(w.world->fleet, "acme"), ledger_testing::kApi, 1234};
    auto handed = w.desk.hand_on(w.now, unread);
    ASSERT_TRUE(std::holds_alternative<HandedOn>(handed));
    ASSERT_EQ(w.spine.all<event::Passed>().size(), 1U) << "before it is sent";
    w.pass(kMs);
    w.desk.handed_on(w.now, std::get<HandedOn>(handed), 200, 99);
    const auto said = w.spine.all<event::Passed>();
    ASSERT_EQ(said.size(), 2U);
    EXPECT_EQ(said[0].status, 0);
    EXPECT_EQ(said[0].sent, 1234);
    EXPECT_EQ(said[1].status, 200);
    EXPECT_EQ(said[1].received, 99);
    EXPECT_EQ(said[1].destination, ledger_testing::kApi);
    (void)w.serve(w.arriving());
    verify::Derived derived;
    EXPECT_EQ(w.spine.verified(&derived), "");
    EXPECT_EQ(derived.passed, 1U);
    EXPECT_EQ(derived.requests, 1U);
    const SpineLedger ledger = w.spine.folded();
    const FoldedBooks books = ledger.close(ledger.grades().at(0), {}).value();
    EXPECT_EQ(books.facts.passed, 1U);
    EXPECT_EQ(books.statement.requests, 1U) << "it is no request that anybody priced";
  }
}

TEST(Desk, hands_nothing_on_unread_that_cannot_be_recorded_or_held) {
  DeskWorld w;
  Caller caller = caller_of(w.world->fleet, "acme");
  const auto why = [&](DeskWorld& in, const Caller& who) {
    const auto handed = in.desk.hand_on(in.now, {in.world, who, ledger_testing::kApi, 0});
    const auto* refusal = std::get_if<Desk::Refusal>(&handed);
    return refusal == nullptr ? std::optional<Desk::Refused>() : refusal->why;
  };
  w.spine.failing = true;
  EXPECT_EQ(why(w, caller), Desk::Refused::spine);

  Budget hard;
  hard.name = "acme-month";
  hard.tenant = "acme";
  hard.limit = Usd{1'000'000'000'000};
  BudgetGate gate(BudgetBook({hard}));
  DeskWorld held(DeskWorld::acting(), &gate);
  EXPECT_EQ(why(held, caller), Desk::Refused::unpriced) << "nobody can say what it costs";
  EXPECT_EQ(why(held, caller_of(held.world->fleet, "umbrella")), std::nullopt);
  EXPECT_EQ(held.spine.all<event::Passed>().size(), 1U);
}

TEST(Desk, knows_that_the_end_of_what_was_handed_on_unread_was_lost) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  const auto begun = w.desk.hand_on(w.now, {w.world, w.arriving().caller, ledger_testing::kApi, 1});
  ASSERT_TRUE(std::holds_alternative<HandedOn>(begun));
  w.spine.failing = true;
  w.desk.handed_on(w.now, std::get<HandedOn>(begun), 200, 1);
  EXPECT_TRUE(w.desk.view().spine_down);
}

TEST(Desk, leaves_a_record_that_shows_a_broken_rule_also_of_what_was_handed_on_unread) {
  DeskWorld w;
  Caller caller = caller_of(w.world->fleet, "acme");
  caller.compliance = ledger_testing::kAltOnly;
  ASSERT_TRUE(std::holds_alternative<HandedOn>(w.desk.hand_on(w.now, {w.world, caller, ledger_testing::kAlt, 0})));
  EXPECT_EQ(w.spine.verified(), "");
  ASSERT_TRUE(std::holds_alternative<HandedOn>(w.desk.hand_on(w.now, {w.world, caller, ledger_testing::kApi, 0})));
  EXPECT_NE(w.spine.verified().find("a destination that may see"), std::string::npos) << w.spine.verified();
}

}  // namespace
}  // namespace ace::gateway
