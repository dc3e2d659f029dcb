/// What is booked and recorded of a request, however it ends, and what becomes of it while the spine cannot be written.
#include "gateway/desk.h"

#include <gtest/gtest.h>

#include "gateway/desk_testing.h"

namespace ace::gateway {
namespace {

using ledger_testing::kLarge;
using ledger_testing::kSmall;
using ledger_testing::micro;

TEST(Desk, says_when_what_was_recorded_of_a_request_is_durable) {
  DeskWorld w;
  const auto flight = w.admit(w.arriving());
  ASSERT_EQ(w.desk.decide(w.now, *flight).verdict, Verdict::dispatched);
  int told = 0;
  EXPECT_TRUE(w.desk.when_durable(*flight, [&] { ++told; }));
  const std::uint64_t decided = w.spine.position();
  (void)w.serve(w.arriving());
  w.spine.sync(decided - 1);
  EXPECT_EQ(told, 0) << "its decision is not on the disk";
  w.spine.sync(decided);
  EXPECT_EQ(told, 1);
  (void)w.desk.completed(w.now, *flight, {Usage(Tokens{10}, Tokens{0}, Tokens{5}), OfferId{}, true});
  EXPECT_TRUE(w.desk.when_durable(*flight, [&] { ++told; }));
  EXPECT_EQ(told, 1);
  w.spine.sync(w.spine.position());
  EXPECT_EQ(told, 2);
}

TEST(Desk, says_at_once_that_what_was_lost_is_never_durable) {
  for (const bool unledgered : {false, true}) {
    DeskOptions options = DeskWorld::acting();
    options.serve_unledgered = unledgered;
    DeskWorld w(options);
    const auto flight = w.admit(w.arriving());
    ASSERT_EQ(w.desk.decide(w.now, *flight).verdict, Verdict::dispatched);
    w.spine.failing = true;
    (void)w.desk.completed(w.now, *flight, {Usage(Tokens{10}, Tokens{0}, Tokens{5}), OfferId{}, true});
    bool told = false;
    EXPECT_EQ(w.desk.when_durable(*flight, [&] { told = true; }), unledgered);
    EXPECT_EQ(told, unledgered) << "whoever serves without a record does not wait for one";
  }
}

TEST(Desk, books_what_a_client_that_left_had_used) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  const auto flight = w.admit(w.arriving());
  (void)w.desk.decide(w.now, *flight);
  w.pass(kMs);
  w.desk.first_token(w.now, *flight);
  const Desk::Receipt receipt = w.desk.aborted(
      w.now, *flight, {.usage = Usage(Tokens{1000}, Tokens{0}, Tokens{10}), .billed_as = {}, .streamed = true});
  EXPECT_EQ(receipt.cost, micro(8000 + 320));
  EXPECT_EQ(w.spine.all<event::Completed>().at(0).outcome, event::Outcome::client_abort);
  EXPECT_EQ(w.spine.verified(), "");
  const auto waited = w.admit(w.arriving());
  EXPECT_EQ(w.desk.aborted(w.now, *waited, {}).cost, Usd{}) << "it was not sent";
  EXPECT_EQ(w.spine.all<event::Completed>().at(1).outcome, event::Outcome::not_served);
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, holds_the_worst_case_and_posts_what_it_cost) {
  Budget budget;
  budget.name = "acme";
  budget.tenant = "acme";
  budget.window = Budget::Window::total;
  // One request may cost 1,000 x 12.5 (a cache write at api) + 500 x 40 = 32,500 millionths.
  budget.limit = micro(2 * 32500);
  BudgetGate gate(BudgetBook({budget}));
  DeskWorld w(DeskWorld::acting(), &gate, apis_only());
  const auto first = w.admit(w.arriving()), second = w.admit(w.arriving());
  auto third = w.desk.admit(w.now, w.arriving());
  ASSERT_TRUE(std::holds_alternative<Desk::Refusal>(third));
  EXPECT_EQ(std::get<Desk::Refusal>(third).why, Desk::Refused::budget);
  EXPECT_EQ(std::get<Desk::Refusal>(third).budget_name, "acme");
  for (const auto& flight : {&first, &second}) {
    (void)w.desk.decide(w.now, **flight);
    (void)w.desk.completed(w.now, **flight, {.usage = Usage(Tokens{1000}, Tokens{0}, Tokens{100}), .billed_as = {}});
  }
  EXPECT_EQ(gate.book().account(0, w.now).spent, micro(2 * 11200));
  EXPECT_EQ(gate.book().account(0, w.now).held, Usd{});
  EXPECT_EQ(w.spine.folded({budget}).budgets().account(0, w.now).spent, micro(2 * 11200));
}

TEST(Desk, holds_nothing_for_a_request_that_it_could_not_record) {
  Budget budget;
  budget.name = "acme";
  budget.tenant = "acme";
  budget.window = Budget::Window::total;
  budget.limit = micro(32500);  // of one request at its worst
  BudgetGate gate(BudgetBook({budget}));
  DeskWorld w(DeskWorld::acting(), &gate, apis_only());
  w.spine.failing = true;
  const auto refused = w.desk.admit(w.now, w.arriving());
  ASSERT_TRUE(std::holds_alternative<Desk::Refusal>(refused));
  EXPECT_EQ(std::get<Desk::Refusal>(refused).why, Desk::Refused::spine);
  EXPECT_EQ(gate.book().account(0, w.now).held, Usd{});
  w.spine.failing = false;
  w.pass(kSecond);
  EXPECT_EQ(w.serve(w.arriving()).cost, micro(11200)) << "the room is there for the next";
}

TEST(Desk, books_what_a_failed_attempt_may_be_billed_beside_the_answer) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  const auto flight = w.admit(w.arriving());
  EXPECT_EQ(w.destination(w.desk.decide(w.now, *flight).offer), "alt");
  Desk::Failed failure;
  failure.why = Rejection::failed;
  failure.billed = Usage(Tokens{1000}, Tokens{0}, Tokens{0});
  ASSERT_TRUE(w.desk.failed(w.now, *flight, failure));
  EXPECT_EQ(w.destination(w.desk.decide(w.now, *flight).offer), "api");
  const Desk::Receipt receipt =
      w.desk.completed(w.now, *flight, {.usage = Usage(Tokens{1000}, Tokens{0}, Tokens{100}), .billed_as = {}});
  EXPECT_EQ(receipt.cost, micro(8000 + 14000)) << "its prompt at alt, and all of it at api";
  EXPECT_EQ(receipt.baseline, micro(14000));
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, books_an_answer_at_the_deployment_that_the_provider_says_it_spilled_to) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  const OfferId api = offer_at(w, "api");
  const Desk::Answered answered{Usage(Tokens{1000}, Tokens{0}, Tokens{100}), api, true};
  const auto served = w.admit(w.arriving()), left = w.admit(w.arriving());
  for (const auto* flight : {&served, &left}) EXPECT_EQ(w.destination(w.desk.decide(w.now, **flight).offer), "alt");
  w.pass(kMs);
  EXPECT_EQ(w.desk.completed(w.now, *served, answered).cost, micro(14000)) << "not the 11,200 of alt";
  EXPECT_EQ(w.desk.aborted(w.now, *left, answered).cost, micro(14000));
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, counts_the_tokens_of_another_model_as_the_requested_one_would_have_written_them) {
  Fleet fleet = apis_only();
  fleet.models[kLarge.value].equivalents = {{kSmall, 0.97, 1'250'000, "docs/q.md"}};
  DeskWorld w(DeskWorld::acting(), nullptr, std::move(fleet));
  EXPECT_EQ(w.serve(w.arriving()).cost, micro(1000 + 400)) << "small, at 1 and 4 USD/Mtok";
  EXPECT_EQ(w.spine.all<event::Completed>().at(0).output_requested, Tokens{80}) << "100 / 1.25";
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, tells_a_whole_answer_in_time_only_if_it_came_within_its_limits) {
  Fleet fleet = apis_only();
  fleet.slo_classes[ledger_testing::kChat.value].tpot = Duration{10 * 1'000'000};
  DeskWorld w(DeskWorld::acting(), nullptr, std::move(fleet));
  // 100 tokens may take 1 s + 99 x 10 ms = 1.99 s, and not a nanosecond more.
  for (const std::int64_t late : {0, 1}) {
    const auto flight = w.admit(w.arriving());
    (void)w.desk.decide(w.now, *flight);
    w.pass(Duration{1'990'000'000 + late});
    const Desk::Receipt receipt =
        w.desk.completed(w.now, *flight, {.usage = Usage(Tokens{1000}, Tokens{0}, Tokens{100}), .billed_as = {}});
    EXPECT_EQ(receipt.slo_met, late == 0);
  }
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, tells_of_an_answer_what_was_cached_and_how_fast_it_came) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  const Usage usage(Tokens{600}, Tokens{400}, Tokens{100});
  for (const bool whole : {true, false}) {
    const auto flight = w.admit(w.arriving());
    (void)w.desk.decide(w.now, *flight);
    w.pass(200 * kMs);
    w.desk.first_token(w.now, *flight);
    w.pass(990 * kMs);
    (void)(whole ? w.desk.completed(w.now, *flight, {usage, {}, true})
                 : w.desk.aborted(w.now, *flight, {usage, {}, true}));
    const auto end = w.spine.all<event::Completed>().back();
    EXPECT_EQ(end.h1, Tokens{400});
    EXPECT_EQ(end.ttft, 200 * kMs);
    EXPECT_EQ(end.tpot, whole ? 10 * kMs : Duration{0}) << "99 tokens after the first";
  }
  const auto again = w.admit(w.arriving());
  (void)w.desk.answered_from_cache(w.now, *again, again->id, usage);
  EXPECT_TRUE(w.spine.all<event::Completed>().back().exact_match);
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, refuses_what_it_cannot_record_or_serves_it_and_says_so) {
  for (const bool serve : {false, true}) {
    DeskOptions options = DeskWorld::acting();
    options.serve_unledgered = serve;
    DeskWorld w(options, nullptr, apis_only());
    (void)w.serve(w.arriving());
    const auto open = w.admit(w.arriving());
    (void)w.desk.decide(w.now, *open);
    w.spine.failing = true;
    w.pass(kMs);
    (void)w.desk.completed(w.now, *open, {.usage = Usage(Tokens{1000}, Tokens{0}, Tokens{100}), .billed_as = {}});
    w.pass(kMs);
    if (serve) {
      (void)w.serve(w.arriving());
    } else {
      const auto refused = w.desk.admit(w.now, w.arriving());
      ASSERT_TRUE(std::holds_alternative<Desk::Refusal>(refused));
      EXPECT_EQ(std::get<Desk::Refusal>(refused).why, Desk::Refused::spine);
    }
    EXPECT_TRUE(w.desk.view().spine_down);
    w.spine.failing = false;
    w.pass(kSecond);
    (void)w.serve(w.arriving());
    EXPECT_FALSE(w.desk.view().spine_down);
    ASSERT_EQ(w.spine.all<event::Gap>().size(), 1U);
    EXPECT_EQ(w.spine.all<event::Gap>()[0].cause, event::Gap::Cause::disk_full);
    EXPECT_EQ(w.spine.all<event::FleetChanged>().size(), 2U) << "under a new number: a reader starts again";
    EXPECT_EQ(w.spine.verified(), "");
    EXPECT_EQ(w.spine.folded().pending(), 1U) << "the one whose end was lost";
    EXPECT_EQ(w.desk.view().unledgered, serve ? 1U : 0U);
  }
}

/// What had begun before and ends after is not told half.
TEST(Desk, tells_of_the_whole_time_that_the_spine_lost_and_of_no_request_that_lay_across_it) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  const auto open = w.admit(w.arriving());
  (void)w.desk.decide(w.now, *open);
  const auto refused = [&] { return std::holds_alternative<Desk::Refusal>(w.desk.admit(w.now, w.arriving())); };
  w.pass(kMs);
  w.spine.failing = true;
  const Instant lost = w.now;
  EXPECT_TRUE(refused());
  w.pass(kSecond);
  w.spine.failing = false;
  w.spine.room = 1;  // for the fleet, not for the gap
  EXPECT_TRUE(refused());
  w.spine.room = SIZE_MAX;
  w.pass(100 * kMs - Duration{1});
  EXPECT_TRUE(refused()) << "a disk is not asked at every request";
  w.pass(Duration{1});
  const Instant back = w.now;
  (void)w.serve(w.arriving());
  const auto gaps = w.spine.all<event::Gap>();
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].from, lost);
  EXPECT_EQ(gaps[0].to, back);
  (void)w.desk.completed(w.now, *open, {.usage = Usage(Tokens{1000}, Tokens{0}, Tokens{100}), .billed_as = {}});
  EXPECT_EQ(w.spine.all<event::Completed>().size(), 1U);
  EXPECT_EQ(w.spine.verified(), "");
}

}  // namespace
}  // namespace ace::gateway
