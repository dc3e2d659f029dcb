#include "dispatch/latency_fit.h"

#include <gtest/gtest.h>

#include "dispatch/learn_testing.h"

namespace ace {
namespace {

/// A roofline's figures: 10,000 prompt tokens/s, 20 ms a step.
ServerProfile sheet() {
  ServerProfile p;
  p.prefill_tokens_per_s = 10'000.0;
  p.step_base_s = 0.02;
  p.step_per_sequence_s = 0.001;
  p.step_per_kv_token_s = 1e-6;
  p.batch_max = 128;
  p.kv_tokens_max = 1'000'000;
  p.prefill_chunk = 1'000;
  return p;
}

TEST(LatencyFit, counts_chunks_of_a_prompt_as_steps) {
  // 2,100 tokens: two chunks of 0.1 s, and one of 100 tokens, 0.01 s, that takes the 0.02 s of reading the weights.
  // Each step carries 9 running sequences and this one, 0.01 s, and their 5,000 KV tokens, 0.005 s.
  EXPECT_NEAR(prompt_seconds(sheet(), 2'100.0, 9.0, 5'000.0), 0.2 + 0.02 + 3 * 0.015, 1e-12);
  EXPECT_NEAR(prompt_seconds(sheet(), 1'000.0, 0.0, 0.0), 0.1 + 0.001, 1e-12);
}

TEST(LatencyFit, leaves_a_measured_curve_and_hears_only_prompts_that_show_the_rate) {
  auto fleet = learn::models(1);
  ServerProfile stated = sheet();
  stated.measured = true;
  learn::add_pool(*fleet, "measured", stated);
  learn::add_pool(*fleet, "pool", sheet());
  const Snapshot snapshot(*fleet);
  LatencyFit fit(snapshot);
  Claim claim;
  claim.sequences_beside = 0.0;
  claim.prompt = 1'000;  // 0.1 s of prefill, five times what a step takes
  claim.offer = learn::offer_of(snapshot, "measured");
  fit.first_token(claim, kSecond);
  EXPECT_EQ(fit.curve(claim.offer), stated);
  claim.offer = learn::offer_of(snapshot, "pool");
  claim.prompt = 199;  // 0.0199 s: within the step that reads the weights anyway
  fit.first_token(claim, kSecond);
  EXPECT_EQ(fit.prefill_scale(claim.offer), 1.0);
  claim.prompt = 1'000;
  claim.sequences_beside = -1.0;  // something waited
  fit.first_token(claim, kSecond);
  EXPECT_EQ(fit.prefill_scale(claim.offer), 1.0);
  claim.sequences_beside = 0.0;
  fit.first_token(claim, kSecond);
  EXPECT_LT(fit.prefill_scale(claim.offer), 1.0);
}

}  // namespace
}  // namespace ace
