// What the belief learns of an engine's latency curve, against engines that are not what their data sheet says.
#include <unordered_map>

#include <gtest/gtest.h>

#include "core/testing.h"
#include "dispatch/learn_testing.h"
#include "replay/server.h"

namespace ace {
namespace {

/// A roofline's figures: 10,000 prompt tokens/s, 20 ms a step.
ServerProfile sheet() {
  ServerProfile p;
  p.prefill_tokens_per_s = 10'000.0;
  p.step_base_s = 0.02;
  p.step_per_sequence_s = 0.0003;
  p.step_per_kv_token_s = 1e-7;
  p.batch_max = 128;
  p.kv_tokens_max = 1'000'000;
  return p;
}

struct Scales {
  double prefill = 0.0, step = 0.0;  ///< believed over what the engine really does
};

/// A belief that starts from the sheet, beside an engine that does `prefill` times its prompt rate and takes `step`
/// times its steps.
/// @param load share of the engine's time that prompts take
Scales learnt(double prefill, double step, double load, std::int64_t prompt_most, int requests, std::uint64_t seed) {
  auto fleet = learn::models(1);
  learn::add_pool(*fleet, "pool", sheet());
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  const OfferId pool = learn::offer_of(snapshot, "pool");
  ServerProfile truth = sheet();
  truth.prefill_tokens_per_s *= prefill;
  truth.step_base_s *= step;
  truth.step_per_sequence_s *= step;
  truth.step_per_kv_token_s *= step;
  Server server(truth);
  struct Sent {
    Claim claim;
    Instant first{};
    std::int64_t output = 0;
  };
  std::unordered_map<std::uint32_t, Sent> sent;
  Rng rng(seed, "arrivals");
  const Instant start = learn::at(0);
  const auto until = [&](double t) {
    while (server.next() <= t) {
      const Server::Event e = server.fire();
      if (e.kind == Server::Event::Kind::none) continue;
      const Instant now = start + from_seconds(e.at);
      Sent& s = sent[e.flight];
      belief.live(now);
      if (e.kind == Server::Event::Kind::first_token) {
        s.first = now;
        belief.first_token(now, s.claim, now - s.claim.at);
        continue;
      }
      const Duration tpot = s.output > 1 ? (now - s.first) / (s.output - 1) : Duration{0};
      belief.completed(now, s.claim, {Tokens{s.output}, Tokens{0}, s.first - s.claim.at, tpot}, true);
      sent.erase(e.flight);
    }
  };
  const double per_s = load * truth.prefill_tokens_per_s / (static_cast<double>(prompt_most) / 2.0);
  double t = 0.0;
  for (int i = 0; i < requests; ++i) {
    t += rng.exponential(1.0 / per_s);
    until(t);
    const std::int64_t prompt = rng.between(100, prompt_most), output = rng.between(20, 100);
    sent[static_cast<std::uint32_t>(i)] = {
        learn::send(belief, start + from_seconds(t), pool, learn::request(prompt, 60)), {}, output};
    server.arrive(t, static_cast<std::uint32_t>(i), prompt, prompt, output);
  }
  until(1e17);
  const ServerProfile& curve = *belief.curve(pool);
  return {curve.prefill_tokens_per_s / truth.prefill_tokens_per_s, curve.step_base_s / truth.step_base_s};
}

TEST(LatencyFit, finds_a_prompt_rate_that_is_40_percent_off_either_way) {
  for_each_seed(20, [](Rng& rng) {
    const std::uint64_t seed = rng.next();
    const double load = 0.02 + 0.38 * rng.uniform(), step = 0.8 + 0.5 * rng.uniform();
    const std::int64_t most = rng.between(2'000, 10'000);
    for (const double truth : {1.0 / 0.6, 1.0, 1.0 / 1.4}) {  // believed 40% too low, right, 40% too high
      const Scales found = learnt(truth, step, load, most, 2'000, seed);
      EXPECT_NEAR(found.prefill, 1.0, 0.05) << "truth " << truth << " load " << load << " prompts to " << most;
    }
  });
}

TEST(LatencyFit, does_not_take_what_prompts_hold_up_for_a_slow_step) {
  // Prompts take 0.4 of the engine's time: a token takes 1 / (1 - 0.4) as long as its step.
  EXPECT_NEAR(learnt(1.0, 1.0, 0.4, 4'000, 4'000, 3).step, 1.0, 0.1);
  EXPECT_NEAR(learnt(1.0, 1.3, 0.4, 4'000, 4'000, 3).step, 1.0, 0.1);
}

}  // namespace
}  // namespace ace
