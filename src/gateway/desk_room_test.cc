/// Requests that wait for room.
#include "gateway/desk.h"

#include <gtest/gtest.h>

#include "gateway/desk_testing.h"

namespace ace::gateway {
namespace {

TEST(Desk, gives_the_room_of_a_client_that_left_to_the_next) {
  DeskWorld w;
  const auto where = [&] {
    const auto flight = w.admit(w.arriving());
    const std::string at = w.destination(w.desk.decide(w.now, *flight).offer);
    (void)w.desk.aborted(w.now, *flight, {});
    w.pass(kSecond);
    return at;
  };
  const std::string first = where();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(where(), first) << i;
}

TEST(Desk, lets_a_request_wait_for_room_and_gives_up_at_the_end_of_its_patience) {
  DeskWorld w(DeskWorld::acting(), nullptr, full_api());
  (void)w.serve(w.arriving());
  (void)w.serve(w.arriving());
  const auto flight = w.admit(w.arriving());
  const Desk::Choice choice = w.desk.decide(w.now, *flight);
  EXPECT_EQ(choice.verdict, Verdict::no_capacity);
  EXPECT_EQ(choice.until, w.now + 5 * kSecond);
  EXPECT_EQ(w.desk.view().waiting, 1U);
  w.pass(5 * kSecond);
  EXPECT_EQ(w.desk.decide(w.now, *flight).verdict, Verdict::no_capacity);
  (void)w.desk.gave_up(w.now, *flight);
  EXPECT_EQ(w.desk.view().waiting, 0U);
  const auto late = w.admit(w.arriving());
  w.pass(5 * kSecond);
  EXPECT_EQ(w.desk.decide(w.now, *late).verdict, Verdict::no_capacity);
  EXPECT_EQ(w.desk.view().waiting, 0U) << "its patience is over: it takes nobody's place in the queue";
  (void)w.desk.gave_up(w.now, *late);
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, wakes_who_waits_whenever_room_may_have_come) {
  DeskWorld w(DeskWorld::acting(), nullptr, full_api());
  const auto first = w.admit(w.arriving()), second = w.admit(w.arriving()), waiting = w.admit(w.arriving());
  (void)w.desk.decide(w.now, *first);
  (void)w.desk.decide(w.now, *second);
  int woken = 0;
  waiting->wake = [&] { ++woken; };
  EXPECT_EQ(w.desk.decide(w.now, *waiting).verdict, Verdict::no_capacity);
  (void)w.desk.failed(w.now, *first, {.why = Rejection::throttled});
  EXPECT_EQ(woken, 1) << "an attempt gave its room back";
  (void)w.desk.gave_up(w.now, *first);
  EXPECT_EQ(woken, 2) << "a request ended";
  const auto next = w.admit(w.arriving());
  EXPECT_EQ(w.desk.decide(w.now, *next).verdict, Verdict::no_capacity);
  w.pass(kMinute);
  next->wake = [&] { woken += 100; };
  EXPECT_EQ(w.desk.decide(w.now, *waiting).verdict, Verdict::dispatched);
  EXPECT_EQ(woken, 102) << "whoever leaves the queue lets the next one look";
  (void)w.desk.aborted(w.now, *waiting, {});
  (void)w.desk.aborted(w.now, *second, {});
  (void)w.desk.gave_up(w.now, *next);
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, waits_no_longer_than_patience_for_a_class_whose_deadline_is_far) {
  DeskWorld w(DeskWorld::acting(), nullptr, full_api());
  (void)w.serve(w.arriving());
  (void)w.serve(w.arriving());
  Desk::Arriving batch = w.arriving();
  batch.caller.slo = ledger_testing::kBatch;  // a day, and no limit on its first token
  const auto flight = w.admit(batch);
  EXPECT_EQ(w.desk.decide(w.now, *flight).until, w.now + 30 * kSecond);
  (void)w.desk.gave_up(w.now, *flight);
}

TEST(Desk, asks_again_after_a_wait_where_it_was_refused_before) {
  Fleet fleet = full_api();
  fleet.slo_classes[ledger_testing::kChat.value].ttft = 2 * kMinute;
  DeskWorld w(DeskWorld::acting(), nullptr, std::move(fleet));
  const OfferId alt = offer_at(w, "alt");
  const auto fill_api = [&] {
    Desk::Arriving a = w.arriving();
    a.unable = std::span(&alt, 1);
    const auto flight = w.admit(a);
    EXPECT_EQ(w.destination(w.desk.decide(w.now, *flight).offer), "api");
    (void)w.desk.aborted(w.now, *flight, {});
  };
  fill_api();
  const auto flight = w.admit(w.arriving());
  EXPECT_EQ(w.destination(w.desk.decide(w.now, *flight).offer), "alt");
  EXPECT_TRUE(w.desk.failed(w.now, *flight, {.why = Rejection::throttled}));
  EXPECT_EQ(w.desk.decide(w.now, *flight).verdict, Verdict::no_capacity);
  w.pass(61 * kSecond);
  fill_api();
  const Desk::Choice again = w.desk.decide(w.now, *flight);
  ASSERT_EQ(again.verdict, Verdict::dispatched);
  EXPECT_EQ(w.destination(again.offer), "alt");
  (void)w.desk.aborted(w.now, *flight, {});
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, sheds_the_least_valuable_of_those_that_wait) {
  DeskOptions options = DeskWorld::acting();
  options.waiting_max = 1;
  DeskWorld w(options, nullptr, full_api());
  (void)w.serve(w.arriving());
  (void)w.serve(w.arriving());
  Desk::Arriving batch = w.arriving();
  batch.caller.slo = ledger_testing::kBatch;
  const auto low = w.admit(batch), high = w.admit(w.arriving());
  w.pass(kMs);
  const auto second = w.admit(w.arriving());
  bool woken = false;
  low->wake = [&] { woken = true; };
  EXPECT_FALSE(w.desk.decide(w.now, *low).shed);
  EXPECT_FALSE(w.desk.decide(w.now, *high).shed) << "it takes the place of the batch job";
  EXPECT_TRUE(woken);
  EXPECT_TRUE(w.desk.decide(w.now, *low).shed);
  EXPECT_TRUE(w.desk.decide(w.now, *second).shed) << "of two alike the one that came first stays";
  for (const auto* flight : {&low, &high, &second}) (void)w.desk.gave_up(w.now, **flight);
  EXPECT_EQ(w.desk.view().shed, 2U);
  EXPECT_EQ(w.spine.verified(), "");
}

}  // namespace
}  // namespace ace::gateway
