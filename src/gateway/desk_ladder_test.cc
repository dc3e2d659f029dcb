/// Another fleet, another mode.
#include "gateway/desk.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "gateway/desk_testing.h"

namespace ace::gateway {
namespace {

using ledger_testing::micro;

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
  const auto now_open = w.admit(w.arriving());
  (void)w.desk.decide(w.now, *now_open);
  for (int i = 0; i < 4; ++i, w.pass(kSecond / 2)) w.desk.told(w.now, *now_open, windows);
  EXPECT_EQ(w.spine.all<event::CapacityObserved>().size(), 2U) << "once a second";
  (void)w.desk.aborted(w.now, *now_open, {});
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

}  // namespace
}  // namespace ace::gateway
