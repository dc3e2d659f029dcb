#include "gateway/desk.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "gateway/desk_testing.h"

namespace ace::gateway {
namespace {

using ledger_testing::kLarge;
using ledger_testing::kSmall;
using ledger_testing::micro;

constexpr Duration kMs{1'000'000};

Fleet apis_only() {
  Fleet fleet = ledger_testing::small_fleet();
  for (Destination& d : fleet.destinations)
    if (d.tier != Tier::payg) d.serving.clear();
  fleet.models[kLarge.value].equivalents.clear();
  return fleet;
}

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

TEST(Desk, leaves_a_record_that_shows_a_broken_rule_also_of_what_was_handed_on_unread) {
  DeskWorld w;
  Caller caller = caller_of(w.world->fleet, "acme");
  caller.compliance = ledger_testing::kAltOnly;
  ASSERT_TRUE(std::holds_alternative<HandedOn>(w.desk.hand_on(w.now, {w.world, caller, ledger_testing::kAlt, 0})));
  EXPECT_EQ(w.spine.verified(), "");
  ASSERT_TRUE(std::holds_alternative<HandedOn>(w.desk.hand_on(w.now, {w.world, caller, ledger_testing::kApi, 0})));
  EXPECT_NE(w.spine.verified().find("a destination that may see"), std::string::npos) << w.spine.verified();
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

OfferId offer_at(const DeskWorld& w, std::string_view destination, ModelId model = kLarge) {
  for (std::uint32_t o = 0; o < w.world->snapshot.offers().size(); ++o)
    if (w.world->snapshot[OfferId{o}].model == model && w.destination(OfferId{o}) == destination) return OfferId{o};
  return {};
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

Fleet full_api() {
  Fleet fleet = apis_only();
  fleet.slo_classes[ledger_testing::kChat.value].ttft = 5 * kSecond;
  fleet.slo_classes[ledger_testing::kBatch.value].priority = 0;
  fleet.slo_classes[ledger_testing::kChat.value].priority = 1;
  for (const DestinationId d : {ledger_testing::kAlt, ledger_testing::kApi}) fleet.destinations[d.value].rpm = 1;
  return fleet;
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

TEST(Desk, splits_a_canary_by_tenant_and_model_and_measures_both_arms) {
  DeskOptions options;
  options.mode = Mode::canary;
  options.canary_ppm = 500'000;
  DeskWorld w(options, nullptr, apis_only());
  int acted = 0;
  for (int i = 0; i < 200; ++i) {
    Desk::Arriving a = w.arriving();
    a.caller.tenant = "t" + std::to_string(i % 100);
    const auto flight = w.admit(a);
    acted += flight->acts ? 1 : 0;
    (void)w.desk.decide(w.now, *flight);
    (void)w.desk.completed(w.now, *flight, {.usage = Usage(Tokens{1000}, Tokens{0}, Tokens{100}), .billed_as = {}});
    w.pass(kSecond);
  }
  EXPECT_GT(acted, 60);
  EXPECT_LT(acted, 140);
  EXPECT_EQ(acted % 2, 0) << "a tenant stays in its arm";
  EXPECT_EQ(w.spine.all<event::FleetChanged>().size(), 2U);
  EXPECT_EQ(w.spine.verified(), "");
  EXPECT_EQ(w.spine.folded().grades(), (std::vector<Grade>{Grade::measured, Grade::modelled}));
}

TEST(Desk, lets_requests_end_under_the_world_they_came_in_under) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  const auto flight = w.admit(w.arriving());
  (void)w.desk.decide(w.now, *flight);
  Fleet next = apis_only();
  next.destinations[ledger_testing::kAlt.value].rpm = 1;
  for (PriceRow& row : next.prices.rows)
    if (row.key == "alt/large") row.tiers[0].by_service[0].set(Unit::input, {9'000'000'000});
  const auto old = w.world;
  w.world = std::make_shared<World>(std::move(next));
  w.desk.change(w.now, w.world);
  EXPECT_EQ(w.desk.world(), w.world);
  Desk::Arriving late = w.arriving();
  late.world = old;
  (void)w.desk.aborted(w.now, *w.admit(late), {});  // it is still known
  const auto second = w.admit(w.arriving());
  EXPECT_EQ(w.destination(w.desk.decide(w.now, *second).offer), "api")
      << "the one request of alt's minute is that under way from before";
  const Desk::Receipt receipt =
      w.desk.completed(w.now, *flight, {.usage = Usage(Tokens{1000}, Tokens{0}, Tokens{100}), .billed_as = {}});
  EXPECT_EQ(receipt.cost, micro(8000 + 3200)) << "at the price it came in under";
  (void)w.desk.aborted(w.now, *second, {});
}

TEST(Desk, believes_after_a_reload_what_it_learnt_of_destinations_that_are_the_same) {
  for (const bool same : {true, false}) {
    DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
    for (int i = 0; i < 40; ++i) (void)w.serve(w.arriving(), 400);
    const auto refused = w.admit(w.arriving());
    EXPECT_EQ(w.destination(w.desk.decide(w.now, *refused).offer), "alt");
    ASSERT_TRUE(w.desk.failed(w.now, *refused, {.why = Rejection::refused}));
    EXPECT_EQ(w.destination(w.desk.decide(w.now, *refused).offer), "api");
    Fleet next = apis_only();
    for (PriceRow& row : next.prices.rows)
      if (row.key == "alt/large") row.tiers[0].by_service[0].set(Unit::input, {7'000'000'000});
    if (!same) next.destinations[ledger_testing::kAlt.value].rpm = 1000;
    const std::shared_ptr<World> old = w.world;
    w.world = std::make_shared<World>(std::move(next));
    w.desk.change(w.now, w.world);
    const auto flight = w.admit(w.arriving());
    EXPECT_EQ(w.destination(w.desk.decide(w.now, *flight).offer), same ? "api" : "alt");
    EXPECT_NEAR(w.spine.all<event::Decided>().back().predicted.output_mean, 400.0, 1.0) << "by its model";
    (void)w.desk.aborted(w.now, *flight, {});
    (void)w.desk.aborted(w.now, *refused, {});
    EXPECT_EQ(w.spine.verified(), "");
  }
}

TEST(Desk, sends_a_request_of_the_world_before_into_room_that_counts_in_this_one) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  const auto flight = w.admit(w.arriving());
  Fleet next = apis_only();
  next.destinations[ledger_testing::kAlt.value].rpm = 1;
  w.world = std::make_shared<World>(std::move(next));
  w.desk.change(w.now, w.world);
  EXPECT_EQ(w.destination(w.desk.decide(w.now, *flight).offer), "alt");
  const auto second = w.admit(w.arriving());
  EXPECT_EQ(w.destination(w.desk.decide(w.now, *second).offer), "api") << "the one of this minute is under way";
  (void)w.desk.aborted(w.now, *flight, {});
  (void)w.desk.aborted(w.now, *second, {});
}

TEST(Desk, takes_no_room_in_a_new_world_for_requests_that_still_wait) {
  DeskWorld w(DeskWorld::acting(), nullptr, full_api());
  (void)w.serve(w.arriving());
  (void)w.serve(w.arriving());
  const auto waiting = w.admit(w.arriving());
  EXPECT_EQ(w.desk.decide(w.now, *waiting).verdict, Verdict::no_capacity);
  w.world = std::make_shared<World>(full_api());
  w.desk.change(w.now, w.world);
  const auto fresh = w.admit(w.arriving());
  EXPECT_EQ(w.destination(w.desk.decide(w.now, *fresh).offer), "alt");
  (void)w.desk.aborted(w.now, *fresh, {});
  (void)w.desk.gave_up(w.now, *waiting);
}

TEST(Desk, declares_no_world_again_that_is_over_for_what_is_told_of_its_destinations) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  const auto open = w.admit(w.arriving());
  (void)w.desk.decide(w.now, *open);
  const auto next = std::make_shared<World>(apis_only());
  w.desk.change(w.now, next);
  w.spine.room = 0;
  w.desk.first_token(w.now, *open);  // cannot be recorded
  w.spine.room = SIZE_MAX;
  w.pass(kSecond);
  w.world = next;
  (void)w.serve(w.arriving());
  ASSERT_EQ(w.spine.worlds.back(), next.get()) << "the spine is back";
  RateWindows windows;
  windows[static_cast<std::size_t>(RateLimit::requests)] = {100, 40, kMinute};
  w.desk.told(w.now, *open, windows);
  EXPECT_EQ(w.spine.worlds.back(), next.get()) << "what tenants hold is what the newest fleet says";
  (void)w.desk.aborted(w.now, *open, {});
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, knows_no_world_that_is_gone) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  Desk::Arriving late = w.arriving();
  w.desk.change(w.now, std::make_shared<World>(apis_only()));
  const auto refused = w.desk.admit(w.now, late);
  ASSERT_TRUE(std::holds_alternative<Desk::Refusal>(refused));
  EXPECT_EQ(std::get<Desk::Refusal>(refused).why, Desk::Refused::outdated);
}

TEST(Desk, records_each_world_under_a_number_of_its_own) {
  for_each_seed(10, [](Rng& rng) {
    const Fleet fleet = rng.chance(0.5) ? apis_only() : ledger_testing::small_fleet();
    DeskWorld w(DeskWorld::acting(), nullptr, fleet);
    std::vector<std::unique_ptr<Flight>> open;
    std::vector<std::shared_ptr<World>> worlds = {w.world};
    for (int step = 0; step < 60; ++step) {
      w.pass(Duration{static_cast<std::int64_t>(rng.below(900)) * 1'000'000});
      if (rng.chance(0.1)) {
        worlds.push_back(w.world = std::make_shared<World>(fleet));
        w.desk.change(w.now, w.world);
      }
      auto flight = w.admit(w.arriving());
      if (w.desk.decide(w.now, *flight).verdict != Verdict::dispatched)
        (void)w.desk.gave_up(w.now, *flight);
      else
        open.push_back(std::move(flight));
      if (open.size() < 4) continue;
      const std::size_t at = rng.below(open.size());
      if (rng.chance(0.3))
        (void)w.desk.aborted(w.now, *open[at], {});
      else if (rng.chance(0.2))
        (void)w.desk.failed(w.now, *open[at], {.why = static_cast<Rejection>(rng.below(5))}),
            (void)w.desk.gave_up(w.now, *open[at]);
      else
        (void)w.desk.completed(w.now, *open[at],
                               {.usage = Usage(Tokens{1000}, Tokens{0}, Tokens{rng.between(1, 99)}), .billed_as = {}});
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
    }
    for (const auto& flight : open) (void)w.desk.aborted(w.now, *flight, {});
    EXPECT_EQ(w.spine.verified(), "");
    EXPECT_EQ(w.spine.folded().pending(), 0U);
  });
}

/// Windows of so many alike requests, each served unless `fail`.
void live_through(DeskWorld& w, int windows, bool fail) {
  for (int i = 0; i < windows; ++i) {
    for (int k = 0; k < 120; ++k) {
      if (!fail) {
        (void)w.serve(w.arriving());
        continue;
      }
      const auto flight = w.admit(w.arriving());
      if (w.desk.decide(w.now, *flight).verdict == Verdict::dispatched)
        (void)w.desk.failed(w.now, *flight, {.why = Rejection::failed});
      (void)w.desk.gave_up(w.now, *flight);
      w.pass(kSecond);
    }
    w.pass(4 * kMinute);
  }
  (void)w.serve(w.arriving());
}

TEST(Desk, acts_only_once_clean_windows_have_earned_it_or_an_operator_forces_it) {
  DeskWorld w(DeskWorld::observing(), nullptr, apis_only());
  EXPECT_TRUE(w.desk.set_mode(w.now, {.mode = Mode::shadow}, false)) << "it acts on nothing";
  const Result<void> early = w.desk.set_mode(w.now, {.mode = Mode::act}, false);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().what(), "mode inline asks for 3 clean windows in a row before it; there are 0");
  live_through(w, 4, false);
  EXPECT_GE(w.desk.standing().clean, 3U);
  EXPECT_TRUE(w.desk.set_mode(w.now, {.mode = Mode::act}, false));
  EXPECT_EQ(w.desk.view().mode, Mode::act);
  EXPECT_TRUE(w.desk.set_mode(w.now, {.mode = Mode::observe}, false)) << "down is always free";
  EXPECT_FALSE(w.desk.set_mode(w.now, {.mode = Mode::canary, .canary_ppm = 1000}, false));
  EXPECT_TRUE(w.desk.set_mode(w.now, {.mode = Mode::canary, .canary_ppm = 1000}, true));
}

TEST(Desk, takes_a_larger_share_of_the_traffic_as_a_step_up_and_a_smaller_one_as_a_step_down) {
  DeskOptions options;
  options.mode = Mode::canary;
  options.canary_ppm = 10'000;
  DeskWorld w(options, nullptr, apis_only());
  EXPECT_FALSE(w.desk.set_mode(w.now, {.mode = Mode::canary, .canary_ppm = 20'000}, false));
  EXPECT_TRUE(w.desk.set_mode(w.now, {.mode = Mode::canary, .canary_ppm = 10'000}, false)) << "the same";
  EXPECT_TRUE(w.desk.set_mode(w.now, {.mode = Mode::canary, .canary_ppm = 5'000}, false));
}

TEST(Desk, earns_its_place_anew_in_another_world) {
  DeskWorld w(DeskWorld::observing(), nullptr, apis_only());
  live_through(w, 4, false);
  EXPECT_GE(w.desk.standing().clean, 3U);
  w.world = std::make_shared<World>(apis_only());
  w.desk.change(w.now, w.world);
  EXPECT_EQ(w.desk.standing().clean, 0U);
  EXPECT_FALSE(w.desk.set_mode(w.now, {.mode = Mode::act}, false));
}

TEST(Desk, is_not_judged_by_requests_that_nobody_could_have_served) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  for (int i = 0; i < 240; ++i) {
    Desk::Arriving a = w.arriving();
    if (i % 2 == 0) a.caller.compliance = ledger_testing::kNobody;
    const auto flight = w.admit(a);
    if (w.desk.decide(w.now, *flight).verdict == Verdict::dispatched)
      (void)w.desk.failed(w.now, *flight, {.why = Rejection::request});
    (void)w.desk.gave_up(w.now, *flight);
    w.pass(kSecond);
  }
  w.pass(5 * kMinute);
  (void)w.serve(w.arriving());
  EXPECT_EQ(w.desk.view().mode, Mode::act);
  EXPECT_EQ(w.desk.standing().total[1].requests, 1U);
}

TEST(Desk, steps_down_by_itself_when_a_gate_is_breached_and_says_why) {
  DeskWorld w(DeskWorld::acting(), nullptr, apis_only());
  live_through(w, 1, true);
  EXPECT_EQ(w.desk.view().mode, Mode::shadow);
  EXPECT_EQ(w.desk.view().demotions, 1U);
  EXPECT_EQ(w.desk.standing().demoted,
            "stepped down from inline to shadow: served 0.00% of its requests, the gate is 99.90%");
  (void)w.serve(w.arriving());
  EXPECT_EQ(w.spine.verified(), "");
}

TEST(Desk, leaves_nothing_of_a_canary_that_stepped_down) {
  DeskOptions options;
  options.mode = Mode::canary;
  options.canary_ppm = 1'000'000;
  options.alike = true;
  DeskWorld w(options, nullptr, apis_only());
  live_through(w, 1, true);
  const Desk::Standing standing = w.desk.standing();
  EXPECT_EQ(standing.mode.mode, Mode::shadow);
  EXPECT_EQ(standing.mode.canary_ppm, 0);
  EXPECT_FALSE(standing.mode.alike);
  EXPECT_EQ(standing.clean, 0U);
}

TEST(Desk, in_shadow_says_what_the_same_answers_would_have_cost) {
  DeskOptions options;
  options.mode = Mode::shadow;
  DeskWorld w(options, nullptr, apis_only());
  (void)w.serve(w.arriving());
  const TrialArm control = w.desk.standing().total[0];
  EXPECT_EQ(control.cost, micro(14000));
  EXPECT_EQ(control.would, micro(11200));
}

TEST(Desk, serves_both_arms_alike_before_they_are_compared) {
  DeskOptions options;
  options.mode = Mode::canary;
  options.canary_ppm = 500'000;
  options.alike = true;
  options.trial.requests_min = 10;
  DeskWorld w(options, nullptr, apis_only());
  for (int i = 0; i < 600; ++i) {
    Desk::Arriving a = w.arriving();
    a.caller.tenant = "t" + std::to_string(i % 50);
    const auto flight = w.admit(a);
    EXPECT_EQ(w.destination(w.desk.decide(w.now, *flight).offer), "api");
    (void)w.desk.completed(w.now, *flight, {.usage = Usage(Tokens{1000}, Tokens{0}, Tokens{100}), .billed_as = {}});
    w.pass(2 * kSecond);
    if (i == 10) {
      EXPECT_FALSE(w.desk.set_mode(w.now, {Mode::canary, 500'000, false}, false)) << "not compared yet";
    }
  }
  ASSERT_TRUE(w.desk.standing().difference);
  EXPECT_EQ(w.desk.standing().difference->mean, 0.0);
  EXPECT_TRUE(w.desk.set_mode(w.now, {Mode::canary, 500'000, false}, false));
}

TEST(Desk, does_not_end_a_comparison_whose_arms_differ_though_they_were_served_alike) {
  for (const bool ours_is_cheaper : {true, false}) {
    DeskOptions options;
    options.mode = Mode::canary;
    options.canary_ppm = 500'000;
    options.alike = true;
    options.trial.requests_min = 10;
    options.trial.cost_error_max = 1.0;  // one arm costs less than was predicted
    DeskWorld w(options, nullptr, apis_only());
    const OfferId alt = offer_at(w, "alt");
    for (int i = 0; i < 600; ++i) {
      Desk::Arriving a = w.arriving();
      a.caller.tenant = "t" + std::to_string(i % 50);
      const auto flight = w.admit(a);
      (void)w.desk.decide(w.now, *flight);
      // One arm is billed a fifth less.
      (void)w.desk.completed(w.now, *flight,
                             {.usage = Usage(Tokens{1000}, Tokens{0}, Tokens{100}),
                              .billed_as = flight->arm == ours_is_cheaper ? alt : OfferId{}});
      w.pass(2 * kSecond);
    }
    ASSERT_TRUE(w.desk.standing().difference);
    EXPECT_NEAR(w.desk.standing().difference->mean, ours_is_cheaper ? -0.2 : 0.2, 1e-9);
    const Result<void> ended = w.desk.set_mode(w.now, {Mode::canary, 500'000, false}, false);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().what(), "two arms that are served alike differ by " +
                                        std::string(ours_is_cheaper ? "-" : "") +
                                        "20.00%, more than 0.50%: the split or the measure is off");
  }
}

TEST(Caller, can_be_held_to_a_stricter_rule_only) {
  Compliance any, eu, eu_own;
  eu.jurisdictions = {"eu"};
  eu_own.jurisdictions = {"eu"};
  eu_own.providers = {"own"};
  eu_own.retention_max = Duration{0};
  EXPECT_TRUE(tightens(eu, any));
  EXPECT_TRUE(tightens(eu_own, eu));
  EXPECT_FALSE(tightens(eu, eu_own));
  EXPECT_FALSE(tightens(any, eu));
  EXPECT_TRUE(tightens(eu, eu));
  EXPECT_TRUE(tightens(eu_own, eu_own)) << "as short as it may be kept";
  Compliance day = eu, open = eu, secret = eu;
  day.retention_max = kDay;
  EXPECT_FALSE(tightens(eu, day)) << "no bound at all";
  open.data_classes = {"public"};
  secret.data_classes = {"public", "secret"};
  EXPECT_TRUE(tightens(open, secret));
  EXPECT_FALSE(tightens(secret, open));
}

}  // namespace
}  // namespace ace::gateway
