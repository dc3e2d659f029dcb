#include "gateway/trial.h"

#include <gtest/gtest.h>

namespace ace::gateway {
namespace {

constexpr Instant kStart = instant(1'800'000'000'000'000'000);

Fleet fleet() {
  Fleet f;
  f.slo_classes.resize(1);
  f.slo_classes[0].name = "chat";
  return f;
}
TrialRequest request(bool acts = true) {
  TrialRequest r;
  r.acts = acts;
  r.served = r.slo_met = r.priced = true;
  r.slo = SloId{0};
  r.cost = r.predicted = Usd{1'000'000};
  r.baseline = Usd{2'000'000};
  return r;
}
/// A whole window of alike requests, and the next one's first.
std::optional<TrialWindow> window(Trial& trial, Instant& now, const TrialRequest& r, int requests = 100) {
  const Fleet f = fleet();
  for (int i = 0; i < requests; ++i) (void)trial.add(now, f, r);
  now += 5 * kMinute;
  return trial.close(now, f);
}

TEST(Trial, is_earned_by_clean_windows_in_a_row) {
  Instant now = kStart;
  Trial trial({}, now);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(trial.earned());
    const auto ended = window(trial, now, request(false));
    ASSERT_TRUE(ended);
    EXPECT_TRUE(ended->enough);
    EXPECT_EQ(ended->breach, "");
  }
  EXPECT_TRUE(trial.earned());
  trial.restart(now);
  EXPECT_FALSE(trial.earned()) << "what acts is another now";
}

TEST(Trial, learns_nothing_from_a_window_with_few_requests) {
  Instant now = kStart;
  Trial trial({}, now);
  (void)window(trial, now, request());
  TrialRequest failed = request();
  failed.served = false;
  const auto ended = window(trial, now, failed, 99);
  EXPECT_FALSE(ended->enough);
  EXPECT_EQ(ended->breach, "");
  EXPECT_EQ(trial.clean(), 1U);
}

TEST(Trial, names_the_gate_that_was_breached) {
  TrialRequest failed = request(), late = request(), cheap = request();
  failed.served = false;
  late.slo_met = false;
  cheap.predicted = Usd{880'000};
  const struct {
    TrialRequest r;
    const char* says;
  } cases[] = {{failed, "served 0.00% of its requests, the gate is 99.90%"},
               {late, "kept the SLO of class chat for 0.00%, its target is 99.00%"},
               {cheap, "predicted 0.088 USD for what cost 0.10 USD, 12.0% off; the gate is 10.0%"}};
  for (const auto& c : cases) {
    Instant now = kStart;
    Trial trial({}, now);
    (void)window(trial, now, request());
    EXPECT_EQ(window(trial, now, c.r)->breach, c.says);
    EXPECT_EQ(trial.clean(), 0U);
  }
}

TEST(Trial, lets_pass_what_just_keeps_its_gate) {
  TrialGates gates;
  gates.served_min = 0.99;
  gates.cost_error_max = 0.125;
  for (bool TrialRequest::*const kept : {&TrialRequest::served, &TrialRequest::slo_met})
    for (const int missed : {2, 3}) {  // of 200: 99%, the gate of both, and less
      Instant now = kStart;
      Trial trial(gates, now);
      for (int i = 0; i < 200; ++i) {
        TrialRequest r = request();
        r.*kept = i >= missed;
        (void)trial.add(now, fleet(), r);
      }
      now += 5 * kMinute;
      EXPECT_EQ(trial.close(now, fleet())->breach.empty(), missed == 2);
    }
  for (const std::int64_t off : {125, 126}) {
    TrialRequest r = request();
    r.cost = Usd{1'000'000'000};
    r.predicted = r.cost - Usd{off * 1'000'000};
    Instant now = kStart;
    Trial trial(gates, now);
    EXPECT_EQ(window(trial, now, r)->breach.empty(), off == 125);
  }
}

TEST(Trial, judges_a_class_by_enough_answers_of_its_own_arm) {
  TrialRequest late = request(), control = request(false);
  late.slo_met = control.slo_met = false;
  Instant now = kStart;
  Trial trial({}, now);
  (void)trial.add(now, fleet(), control);
  EXPECT_EQ(window(trial, now, late, 99)->breach, "");
  EXPECT_NE(window(trial, now, late, 100)->breach, "");
}

TEST(Trial, adds_up_what_is_known_of_answers_alone) {
  TrialRequest unpriced = request(), elsewhere = request(false);
  unpriced.priced = false;
  elsewhere.would = Usd{700'000};
  Instant now = kStart;
  Trial trial({}, now);
  for (const TrialRequest& r : {request(), unpriced, request(false), elsewhere}) (void)trial.add(now, fleet(), r);
  EXPECT_EQ(trial.total()[1].requests, 2U);
  EXPECT_EQ(trial.total()[1].cost, Usd{1'000'000}) << "of the one whose price is known";
  EXPECT_EQ(trial.total()[1].baseline, Usd{2'000'000});
  EXPECT_EQ(trial.total()[0].would, Usd{1'700'000}) << "one would have gone where it went";
}

TEST(Trial, does_not_blame_ace_for_what_the_static_route_did) {
  TrialRequest failed = request(false);
  failed.served = failed.slo_met = false;
  Instant now = kStart;
  Trial trial({}, now);
  EXPECT_EQ(window(trial, now, failed)->breach, "");
}

TEST(Trial, compares_the_arms_over_windows) {
  Instant now = kStart;
  Trial trial({}, now);
  EXPECT_FALSE(trial.difference());
  for (int i = 0; i < 4; ++i) {
    const Fleet f = fleet();
    TrialRequest control = request(false);
    control.cost = Usd{i % 2 == 0 ? 1'500'000 : 1'700'000};
    for (int k = 0; k < 50; ++k) {
      (void)trial.add(now, f, control);
      (void)trial.add(now, f, request());
    }
    now += 5 * kMinute;
    (void)trial.close(now, f);
  }
  // ACE 1/2; control 1.5/2 and 1.7/2: differences -0.25, -0.35, -0.25, -0.35; sd = 0.05 x sqrt(4/3) = 0.057735.
  const auto difference = trial.difference();
  ASSERT_TRUE(difference);
  EXPECT_NEAR(difference->mean, -0.3, 1e-12);
  EXPECT_NEAR(difference->half_width, 1.96 * 0.0577350269 / 2.0, 1e-9);
}

}  // namespace
}  // namespace ace::gateway
