#include "dispatch/knee.h"

#include <gtest/gtest.h>

#include "core/testing.h"

namespace ace {
namespace {

constexpr double kEpsilon = 0.005;
Instant at(double seconds) { return instant(0) + from_seconds(seconds); }

SloClass limits(double ttft_s, double tpot_s) {
  SloClass slo;
  if (ttft_s > 0) slo.ttft = from_seconds(ttft_s);
  if (tpot_s > 0) slo.tpot = from_seconds(tpot_s);
  return slo;
}

ServerProfile decoder() {
  ServerProfile p;
  p.prefill_tokens_per_s = 1e12;
  p.step_base_s = 0.02;
  p.step_per_sequence_s = 0.001;
  p.batch_max = 100;
  p.kv_tokens_max = std::int64_t{1} << 50;
  return p;
}

TEST(KneePrior, is_the_batch_whose_step_meets_the_tpot) {
  // step(b) = 20 ms + b x 1 ms <= 60 ms: b = 40 of 100 slots.
  EXPECT_NEAR(knee_prior(decoder(), limits(0, 0.060), {1, 100}), 0.40, 1e-3);
  EXPECT_NEAR(knee_prior(decoder(), limits(0, 0.030), {1, 100}), 0.10, 1e-3);
  EXPECT_EQ(knee_prior(decoder(), limits(0, 0.019), {1, 100}), kKneeLeast) << "not even alone";
  EXPECT_NEAR(knee_prior(decoder(), limits(0, 0), {1, 100}), kKneeMost, 1e-6) << "no limit";
}

TEST(KneePrior, is_the_load_at_which_a_prompt_that_need_not_wait_meets_the_ttft) {
  // Prompts of 1,000 tokens at 10,000/s in one chunk of 1,000; x requests/s of 100 tokens out run b = 100 x 0.02 x /
  // (1 - 0.1 x - 0.1 x) of them. S = 0.1 + step, so S + step <= 0.15 s where step = 0.02 + 0.001 b reaches 25 ms: b =
  // 5, x = 5 / (2 + 0.2 x 5) = 1.667/s, x S = 1.667 x 0.125 = 0.2083.
  ServerProfile p = decoder();
  p.prefill_tokens_per_s = 10'000;
  p.prefill_chunk = 1000;
  EXPECT_NEAR(knee_prior(p, limits(0.15, 0), {1000, 100}), 0.2083, 1e-3);
  EXPECT_EQ(knee_prior(p, limits(0.09, 0), {1000, 100}), kKneeLeast) << "the prompt alone takes longer";
}

TEST(KneePrior, a_laxer_limit_never_lowers_it) {
  for_each_seed(200, [](Rng& rng) {
    ServerProfile p = decoder();
    p.prefill_tokens_per_s = static_cast<double>(rng.between(1000, 50'000));
    p.step_per_kv_token_s = rng.uniform() * 1e-7;
    p.kv_tokens_max = rng.between(20'000, 500'000);
    const Shape shape{static_cast<double>(rng.between(10, 8000)), static_cast<double>(rng.between(1, 900))};
    const double ttft = 0.05 + rng.uniform() * 3, tpot = 0.021 + rng.uniform() * 0.1;
    const double k = knee_prior(p, limits(ttft, tpot), shape);
    EXPECT_GE(k, kKneeLeast);
    EXPECT_LE(k, kKneeMost);
    EXPECT_LE(k, knee_prior(p, limits(ttft * 1.5, tpot), shape) + 1e-9);
    EXPECT_LE(k, knee_prior(p, limits(ttft, tpot * 1.5), shape) + 1e-9);
  });
}

/// One window of `n` requests at this rho, of which the last `missed` miss; then a look whether it closes.
void window(Knee& knee, double from_s, int n, int missed, double rho, double seconds = 301) {
  for (int i = 0; i < n; ++i) {
    const Instant t = at(from_s + seconds * i / n);
    knee.admitted(rho, 0.01);
    knee.ended(t, t, i < n - missed, kEpsilon);
  }
  knee.close(at(from_s + seconds), 5 * kMinute, kEpsilon);
}

TEST(Knee, probes_by_the_rule) {
  const struct {
    const char* why;
    int n, missed;
    double rho, seconds, want;
  } cases[] = {
      {"clean, and the load reached the knee: up 2%", 1000, 0, 0.50, 301, 0.51},
      {"p95 plus one request, 0.476 + 0.01, is 0.972 k", 1000, 0, 0.476, 301, 0.51},
      {"clean, but the load never got there: 0.47 + 0.01 = 0.96 k", 1000, 0, 0.47, 301, 0.50},
      {"700 clean requests do not prove 0.5% (765 do)", 700, 0, 0.50, 301, 0.50},
      {"765 do", 765, 0, 0.50, 301, 0.51},
      {"the window is not over", 1000, 0, 0.50, 290, 0.50},
      {"misses at 1.4% after 1,000: not yet three epsilon, down 3%", 1000, 11, 0.50, 301, 0.485},
      {"three misses of three: down 10%", 3, 3, 0.50, 301, 0.45},
      {"two misses prove nothing", 2, 2, 0.50, 301, 0.50},
  };
  for (const auto& c : cases) {
    Knee knee(0.50);
    window(knee, 0, c.n, c.missed, c.rho, c.seconds);
    EXPECT_NEAR(knee.value(), c.want, 1e-9) << c.why;
  }
}

TEST(Knee, stays_between_one_request_and_the_cap) {
  Knee high(0.975);
  for (int i = 0; i < 5; ++i) window(high, 400 * i, 1000, 0, 0.97);
  EXPECT_EQ(high.value(), kKneeMost);
  Knee low(0.06);
  for (int i = 0; i < 9; ++i) window(low, 400 * i, 3, 3, 0.05);
  EXPECT_EQ(low.value(), kKneeLeast);
  Knee coarse(0.5);  // one request is a fifth of the pool
  for (int w = 0; w < 20; ++w)
    for (int i = 0; i < 3; ++i) {
      coarse.admitted(0.4, 0.2);
      coarse.ended(at(w), at(w), false, kEpsilon);
    }
  EXPECT_NEAR(coarse.value(), 0.2, 1e-12);
}

TEST(Knee, the_backlog_of_the_old_knee_does_not_cut_the_new_one) {
  Knee knee(0.5);
  for (int i = 0; i < 3; ++i) knee.ended(at(10), at(1), false, kEpsilon);
  EXPECT_NEAR(knee.value(), 0.45, 1e-9);
  for (int i = 0; i < 100; ++i) knee.ended(at(20), at(9), false, kEpsilon);  // dispatched before the cut at 10 s
  EXPECT_NEAR(knee.value(), 0.45, 1e-9);
}

TEST(Knee, a_better_prior_counts_until_traffic_has_spoken) {
  Knee knee(0.5);
  EXPECT_TRUE(knee.refit(0.6));
  EXPECT_EQ(knee.value(), 0.6);
  window(knee, 0, 1000, 0, 0.6);
  EXPECT_FALSE(knee.refit(0.3));
  EXPECT_NEAR(knee.value(), 0.612, 1e-9);
}

TEST(Knee, a_prior_40_percent_too_low_finds_the_true_knee_within_three_hours) {
  for_each_seed(20, [](Rng& rng) {
    // Past its true knee of 0.55 a third of the requests in excess miss; below, one in 5,000. The dispatcher fills to
    // the knee it believes in, 4 requests/s.
    Knee knee(0.55 * 0.6);
    for (double t = 0; t < 3 * 3600; t += 0.25) {
      const double rho = knee.value() * (0.96 + 0.04 * rng.uniform());
      const double miss = rho > 0.55 ? 0.3 : 0.0002;
      knee.admitted(rho, 0.01);
      knee.ended(at(t + 5), at(t), !rng.chance(miss), kEpsilon);
      if (static_cast<std::int64_t>(t * 4) % 40 == 0) knee.close(at(t + 5), 5 * kMinute, kEpsilon);
    }
    EXPECT_NEAR(knee.value(), 0.55, 0.05 * 0.55);
  });
}

}  // namespace
}  // namespace ace
