#include "gateway/desk.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "gateway/desk_testing.h"

namespace ace::gateway {
namespace {

using ledger_testing::kLarge;
using ledger_testing::kSmall;
using ledger_testing::micro;

TEST(Desk, sends_a_request_to_the_least_effective_cost_and_books_what_it_cost) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  const Desk::Receipt receipt = w.serve(w.arriving());
  // 1,000 prompt tokens at 8 and 100 of output at 32 USD/Mtok; the default, api, asks 10 and 40.
  EXPECT_EQ(receipt.cost, micro(8000 + 3200));
  EXPECT_EQ(receipt.baseline, micro(10000 + 4000));
  EXPECT_TRUE(receipt.priced);
  EXPECT_TRUE(receipt.slo_met);
  EXPECT_EQ(receipt.attempts, 1U);
}

TEST(Desk, leaves_a_spine_from_which_every_decision_and_dollar_follows) {
  for_each_seed(40, [](Rng& rng) {
    DeskWorld w;
    Usd cost{}, baseline{};
    std::size_t requests = 0;
    std::vector<std::unique_ptr<Flight>> open;
    for (int step = 0; step < 120; ++step) {
      w.pass(Duration{static_cast<std::int64_t>(rng.below(400)) * 1'000'000});
      if (open.empty() || rng.chance(0.5)) {
        Desk::Arriving a = w.arriving(rng.chance(0.5) ? kLarge : kSmall);
        a.prompt = Tokens{rng.between(1, 20'000)};
        a.max_output = Tokens{rng.chance(0.3) ? 0 : rng.between(1, 2000)};
        auto flight = w.admit(a);
        ++requests;
        if (w.desk.decide(w.now, *flight).verdict == Verdict::dispatched)
          open.push_back(std::move(flight));
        else
          cost += w.desk.gave_up(w.now, *flight).cost;
        continue;
      }
      const std::size_t at = rng.below(open.size());
      Flight& f = *open[at];
      const Usage usage(f.admitted.prompt, Tokens{0}, Tokens{rng.between(0, 500)});
      Desk::Receipt receipt;
      const std::uint64_t what = rng.below(6);
      if (what == 0) {
        w.desk.first_token(w.now, f);
        continue;
      }
      if (what == 1) {
        const Rejection why = static_cast<Rejection>(rng.below(5));
        if (w.desk.failed(w.now, f, {.why = why}) && w.desk.decide(w.now, f).verdict == Verdict::dispatched) continue;
        receipt = w.desk.gave_up(w.now, f);
      } else if (what == 2) {
        receipt = w.desk.aborted(w.now, f, {usage, OfferId{}, true});
      } else {
        receipt = w.desk.completed(w.now, f, {usage, OfferId{}, rng.chance(0.5)});
      }
      cost += receipt.cost;
      if (receipt.priced) baseline += receipt.baseline;
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
    }
    for (const auto& flight : open) cost += w.desk.aborted(w.now, *flight, {}).cost;
    verify::Derived derived;
    EXPECT_EQ(w.spine.verified(&derived), "");
    EXPECT_EQ(derived.requests, requests);
    EXPECT_EQ(derived.actual, cost);
    const auto books = w.spine.folded().close(Grade::measured, {});
    ASSERT_TRUE(books) << books.error().what();
    EXPECT_EQ(books->statement.c4, cost);
    EXPECT_EQ(w.desk.view().in_flight, 0U);
  });
}

TEST(Desk, in_observe_sends_where_the_static_route_says_and_records_what_it_would_have_done) {
  DeskWorld w(DeskWorld::observing(), nullptr, apis_only());
  const Desk::Receipt receipt = w.serve(w.arriving());
  EXPECT_EQ(receipt.cost, micro(10000 + 4000)) << "api, the static route, though alt is cheaper";
  const auto decided = w.spine.all<event::Decided>();
  const auto attempted = w.spine.all<event::Attempted>();
  ASSERT_EQ(decided.size(), 1U);
  ASSERT_EQ(attempted.size(), 1U);
  EXPECT_EQ(w.destination(decided[0].decision.chosen), "alt");
  EXPECT_EQ(w.destination(attempted[0].offer), "api");
  EXPECT_EQ(w.spine.all<event::FleetChanged>().at(0).source, event::FleetChanged::Source::shadow);
  EXPECT_EQ(w.spine.verified(), "");
  EXPECT_EQ(w.spine.folded().grades(), std::vector<Grade>{Grade::modelled});
}

TEST(Desk, holds_virtual_capacity_where_a_request_would_have_gone) {
  Fleet fleet = apis_only();
  fleet.destinations[ledger_testing::kAlt.value].rpm = 1;
  DeskWorld w(DeskWorld::observing(), nullptr, std::move(fleet));
  (void)w.serve(w.arriving());
  (void)w.serve(w.arriving());
  const auto decided = w.spine.all<event::Decided>();
  EXPECT_EQ(w.destination(decided.at(0).decision.chosen), "alt");
  EXPECT_EQ(w.destination(decided.at(1).decision.chosen), "api") << "the one request a minute of alt is taken";
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, in_observe_makes_one_attempt_alone) {
  DeskWorld w(DeskWorld::observing());
  const auto flight = w.admit(w.arriving());
  ASSERT_EQ(w.desk.decide(w.now, *flight).verdict, Verdict::dispatched);
  EXPECT_FALSE(w.desk.failed(w.now, *flight, {.why = Rejection::throttled}));
  (void)w.desk.gave_up(w.now, *flight);
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, raises_where_the_law_leaves_nobody_in_every_mode) {
  for (const Mode mode : {Mode::observe, Mode::act}) {
    DeskOptions options;
    options.mode = mode;
    DeskWorld w(options, nullptr, apis_only());
    Desk::Arriving a = w.arriving();
    a.caller.compliance = ledger_testing::kNobody;  // allows the provider of the GPUs alone
    const auto flight = w.admit(a);
    EXPECT_EQ(w.desk.decide(w.now, *flight).verdict, Verdict::no_compliant_destination);
    (void)w.desk.gave_up(w.now, *flight);
    EXPECT_EQ(w.spine.all<event::Completed>().at(0).verdict, Verdict::no_compliant_destination);
    EXPECT_EQ(w.spine.verified(), "");
    if (mode != Mode::act) continue;
    std::get<event::Completed>(w.spine.records.back().event).verdict = Verdict::no_capacity;
    EXPECT_NE(w.spine.verified(), "") << "another reason than was decided";
  }
}

TEST(Desk, sends_no_tenants_data_where_their_class_may_not_go_in_every_mode) {
  Fleet fleet = apis_only();
  Tenant& acme = fleet.tenants.emplace_back();
  acme.name = "acme";
  acme.data_class = "secret";
  acme.compliance = ComplianceId{static_cast<std::uint32_t>(fleet.compliance.size())};
  Compliance& open = fleet.compliance.emplace_back();
  open.name = "open";
  open.data_classes = {"public"};
  for (const Mode mode : {Mode::observe, Mode::act}) {
    DeskOptions options;
    options.mode = mode;
    DeskWorld w(options, nullptr, fleet);
    const auto flight = w.admit(w.arriving());
    EXPECT_EQ(w.desk.decide(w.now, *flight).verdict, Verdict::no_compliant_destination);
    (void)w.desk.gave_up(w.now, *flight);
    EXPECT_EQ(w.spine.verified(), "");
  }
}

TEST(Desk, goes_on_to_the_next_in_merit_order_and_never_to_one_that_failed) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  const auto flight = w.admit(w.arriving());
  EXPECT_EQ(w.destination(w.desk.decide(w.now, *flight).offer), "alt");
  ASSERT_TRUE(w.desk.failed(w.now, *flight, {.why = Rejection::throttled}));
  EXPECT_EQ(w.destination(w.desk.decide(w.now, *flight).offer), "api");
  EXPECT_FALSE(w.desk.failed(w.now, *flight, {.why = Rejection::request})) << "its own fault, whoever says so";
  const Desk::Receipt receipt = w.desk.gave_up(w.now, *flight);
  EXPECT_EQ(receipt.attempts, 2U);
  EXPECT_EQ(receipt.cost, Usd{});
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, spends_its_retries_within_their_budget) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  int retries = 0;
  for (int i = 0; i < 20; ++i) {
    const auto flight = w.admit(w.arriving());
    if (w.desk.decide(w.now, *flight).verdict == Verdict::dispatched)
      retries += w.desk.failed(w.now, *flight, {.why = Rejection::failed}) ? 1 : 0;
    (void)w.desk.gave_up(w.now, *flight);
  }
  EXPECT_EQ(retries, 3) << "a tenth of the traffic, but three in ten seconds in any case";
}

TEST(Desk, never_asks_an_offer_that_cannot_serve_what_is_asked) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  Desk::Arriving a = w.arriving();
  const auto first = w.admit(a);
  const OfferId alt = w.desk.decide(w.now, *first).offer;
  (void)w.desk.aborted(w.now, *first, {});
  a.unable = std::span(&alt, 1);
  const auto flight = w.admit(a);
  EXPECT_EQ(w.destination(w.desk.decide(w.now, *flight).offer), "api");
  (void)w.desk.aborted(w.now, *flight, {});
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, asks_nobody_again_before_the_time_that_they_named) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  const auto where = [&] {
    const auto flight = w.admit(w.arriving());
    const std::string at = w.destination(w.desk.decide(w.now, *flight).offer);
    (void)w.desk.aborted(w.now, *flight, {});
    return at;
  };
  const auto told = w.admit(w.arriving());
  EXPECT_EQ(w.destination(w.desk.decide(w.now, *told).offer), "alt");
  (void)w.desk.failed(w.now, *told, {.why = Rejection::throttled, .retry_after = 20 * kSecond});
  (void)w.desk.gave_up(w.now, *told);
  w.pass(19 * kSecond);
  EXPECT_EQ(where(), "api");
  w.pass(kMinute);
  EXPECT_EQ(where(), "alt");
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, holds_nothing_against_a_destination_that_was_not_asked) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  for (int i = 0; i < 20; ++i) {
    const auto flight = w.admit(w.arriving());
    EXPECT_EQ(w.destination(w.desk.decide(w.now, *flight).offer), "alt") << i;
    EXPECT_TRUE(w.desk.failed(w.now, *flight, {.why = Rejection::failed, .retry_after = 20 * kSecond, .local = true}))
        << "it costs no retry budget either";
    (void)w.desk.gave_up(w.now, *flight);
  }
}

TEST(Desk, makes_no_more_attempts_than_the_fleet_allows) {
  Fleet fleet = apis_only();
  fleet.policies.attempts_max = 2;
  DeskWorld w(DeskWorld::acting(), nullptr, std::move(fleet));
  const auto flight = w.admit(w.arriving());
  (void)w.desk.decide(w.now, *flight);
  EXPECT_TRUE(w.desk.failed(w.now, *flight, {.why = Rejection::throttled}));
  (void)w.desk.decide(w.now, *flight);
  EXPECT_FALSE(w.desk.failed(w.now, *flight, {.why = Rejection::throttled}));
  (void)w.desk.gave_up(w.now, *flight);
}

}  // namespace
}  // namespace ace::gateway
