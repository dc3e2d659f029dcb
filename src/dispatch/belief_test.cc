#include "dispatch/belief.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "dispatch/learn_testing.h"
#include "dispatch/occupancy.h"

namespace ace {
namespace {

using learn::at;

double use(Belief& belief, Instant now, Resource r, OfferId o) {
  return belief.live(now).use[static_cast<std::size_t>(r)][o.value];
}

ServerProfile engine() {
  ServerProfile p;
  p.prefill_tokens_per_s = 10'000;
  p.step_base_s = 0.02;
  p.step_per_sequence_s = 0.0;
  p.step_per_kv_token_s = 0.0;
  p.batch_max = 50;
  p.kv_tokens_max = 100'000;
  p.prefill_chunk = 1000;
  p.measured = true;
  return p;
}

TEST(Belief, claims_are_shares_of_slots_and_kv_of_all_replicas_running) {
  auto fleet = learn::models(1);
  learn::add_pool(*fleet, "pool", engine(), {0}, 2);
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  const OfferId pool = learn::offer_of(snapshot, "pool");
  Claim claim;
  for (int i = 0; i < 5; ++i) claim = learn::send(belief, at(0), pool, learn::request(1500, 500));
  // 5 of 2 x 50 slots; 5 x (1500 + 500) of 2 x 100,000 KV tokens.
  EXPECT_DOUBLE_EQ(use(belief, at(0), Resource::slots, pool), 0.05);
  EXPECT_DOUBLE_EQ(use(belief, at(0), Resource::kv, pool), 0.05);
  belief.completed(at(1), claim, learn::answer(300), true);
  EXPECT_DOUBLE_EQ(use(belief, at(1), Resource::slots, pool), 0.04);
  EXPECT_DOUBLE_EQ(use(belief, at(1), Resource::kv, pool), 0.04);
  belief.units(at(2), DestinationId{0}, 1);  // half of it goes
  EXPECT_DOUBLE_EQ(use(belief, at(2), Resource::slots, pool), 0.08);
  belief.units(at(3), DestinationId{0}, 0);
  EXPECT_EQ(belief.live(at(3)).running[pool.value], 0);
}

TEST(Belief, of_another_fleet_begins_with_what_was_learnt_of_the_places_that_are_the_same) {
  for_each_seed(20, [](Rng& rng) {
    const auto made = [] {
      auto fleet = learn::models(1);
      ServerProfile guessed = engine();
      guessed.measured = false;
      learn::add_pool(*fleet, "pool", guessed, {0}, 2);
      learn::add_api(*fleet, "api", 1'000'000'000);
      fleet->slo_classes[0].ttft = kSecond;
      return fleet;
    };
    const auto first = made(), second = made();
    const Snapshot old(*first), now(*second);
    Belief before(old), after(now);
    double t = 0.0;
    for (int i = 0; i < 600; ++i, t += 0.3) {
      const OfferId offer = learn::offer_of(old, rng.chance(0.8) ? "pool" : "api");
      Claim claim = learn::send(before, at(t), offer, learn::request(rng.between(1, 5000), 300));
      const Duration ttft{rng.between(1, 2 * nanos(kSecond))};
      if (rng.chance(0.1)) {
        before.rejected(at(t + 0.1), claim, static_cast<Rejection>(rng.below(5)), Duration{0});
        continue;
      }
      before.first_token(at(t + 0.1), claim, ttft);
      before.completed(at(t + 0.2), claim, {Tokens{rng.between(1, 900)}, Tokens{0}, ttft, Duration{30'000'000}},
                       rng.chance(0.9));
    }
    after.inherit(at(t), before);
    const Live &then = before.live(at(t)), &live = after.live(at(t));
    for (std::uint32_t o = 0; o < now.offers().size(); ++o) {
      EXPECT_EQ(after.knee(OfferId{o}, SloId{0}), before.knee(OfferId{o}, SloId{0}));
      if (before.curve(OfferId{o}) != nullptr) {
        EXPECT_EQ(*after.curve(OfferId{o}), *before.curve(OfferId{o}));
      }
      EXPECT_EQ(live.wait_scale[0][o], then.wait_scale[0][o]);
      EXPECT_NEAR(live.derate[o], then.derate[o], 0.01 * then.derate[o]) << "a smaller move is not shown at once";
      EXPECT_NEAR(live.fail_probability[o], then.fail_probability[o], 0.002) << "likewise";
      EXPECT_EQ(live.throttled_until[o], then.throttled_until[o]);
      EXPECT_EQ(live.tripped_until[o], then.tripped_until[o]);
    }
    EXPECT_EQ(after.predict(ModelId{0}, TenantId{}, SloId{0}, Tokens{0}).output_mean,
              before.predict(ModelId{0}, TenantId{}, SloId{0}, Tokens{0}).output_mean);
    EXPECT_NE(live.fail_probability[0], Belief(now).live(at(t)).fail_probability[0]) << "something was learnt";
  });
}

TEST(Belief, prefill_is_the_offered_rate_over_what_decode_leaves) {
  auto fleet = learn::models(1);
  learn::add_pool(*fleet, "pool", engine());
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  const OfferId pool = learn::offer_of(snapshot, "pool");
  learn::send(belief, at(0), pool, learn::request(20'000, 1));
  // 20,000 tokens over 10 s are 2,000 tokens/s. One sequence decodes: a chunk of 1,000 takes 0.1 s of prefill and a
  // step of 0.02 s, so the engine prefills 1000 / 0.12 = 8,333 tokens/s. 2000 / 8333 = 0.24.
  EXPECT_NEAR(use(belief, at(0), Resource::prefill, pool), 0.24, 1e-12);
  // 10 s later the average keeps tau / (tau + dt) = a half.
  EXPECT_NEAR(use(belief, at(10), Resource::prefill, pool), 0.12, 1e-12);
  // What one more token adds is the same share: 1 / 10 s / 8,333 tokens/s.
  EXPECT_NEAR(belief.live(at(10)).per_unit[0][pool.value], 0.12 / 10'000, 1e-15);
}

TEST(Belief, waiting_prompts_fill_a_pool_up_to_the_ttft_long_before_the_average_moves) {
  auto fleet = learn::models(1);
  learn::add_pool(*fleet, "pool", engine());
  fleet->slo_classes[0].ttft = 5 * kSecond;
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  const OfferId pool = learn::offer_of(snapshot, "pool");
  Scratch scratch(snapshot);
  const auto takes = [&](double t, std::int64_t prompt) {
    return decide(snapshot, belief.live(at(t)), learn::request(prompt, 1), at(t), scratch).feasible == 1;
  };
  // Of the TTFT of 5 s, 0.8 are for prefill work: 4 s, at 10,000 tokens/s 40,000 tokens. The average alone, 3.9 s of
  // work over 10 s, would be a load of 0.39.
  EXPECT_TRUE(takes(0, 39'000));
  EXPECT_FALSE(takes(0, 42'000)) << "its own prefill takes too long";
  Claim claim = learn::send(belief, at(0), pool, learn::request(20'000, 1));
  // 20,000 wait; decode takes a step of 0.02 s from each chunk of 0.1 s, so 4 s are 33,333 tokens by now.
  EXPECT_TRUE(takes(0, 13'000));
  EXPECT_FALSE(takes(0, 15'000));
  belief.first_token(at(2), claim, 2 * kSecond);
  EXPECT_TRUE(takes(2, 32'000)) << "nobody waits any more, whatever the average says";
}

TEST(Belief, a_claim_counts_the_wait_it_joins_as_its_class_feels_it) {
  auto fleet = learn::models(1);
  learn::add_pool(*fleet, "pool", engine());
  fleet->slo_classes[0].ttft = 5 * kSecond;
  const Snapshot snapshot(*fleet);
  Live live(snapshot);
  const LatencyFit latency(snapshot);
  Occupancy occupancy(snapshot, latency, live);
  Claim claim;
  claim.offer = learn::offer_of(snapshot, "pool");
  claim.slo = SloId{0};
  claim.prompt = 20'000;
  claim.output_p90 = 1.0;
  // 2 s of prefill, of which decode's step of 0.02 s in each chunk of 0.1 s makes 2.4 s: half of what fills the scale
  // below. Its KV is 20,001 of 100,000; its prefill, 0.24 of ten seconds, is 0.04 of the minute that this class feels.
  live.wait_scale[0][claim.offer.value] = 0.5 / 2.4;
  occupancy.admit(at(0), claim, live);
  EXPECT_NEAR(claim.rho, 0.5, 1e-12);
  EXPECT_NEAR(occupancy.share(claim, live), 0.5, 1e-12);
  live.wait_scale[0][claim.offer.value] = 0.0;
  EXPECT_NEAR(occupancy.share(claim, live), 0.20001, 1e-12);
}

TEST(Belief, a_better_prior_leaves_the_wait_what_it_may_take_of_the_ttft) {
  auto fleet = learn::models(1);
  learn::add_pool(*fleet, "pool", engine());
  fleet->slo_classes[0].ttft = 5 * kSecond;
  fleet->slo_classes[0].tpot = Duration{50'000'000};
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  const OfferId pool = learn::offer_of(snapshot, "pool");
  const double before = belief.knee(pool, SloId{0});
  // Prompts of a thousand tokens and long answers are expected; what comes are long prompts and short answers.
  for (int i = 0; i < 400; ++i) {
    const Claim claim = learn::send(belief, at(i * 2.0), pool, learn::request(6000, 5));
    belief.completed(at(i * 2.0 + 1.0), claim, learn::answer(5), true);
  }
  const Live& live = belief.live(at(1600));
  const double after = belief.knee(pool, SloId{0});
  EXPECT_GT(std::abs(after - before), 0.01);
  EXPECT_NEAR(live.wait_scale[0][pool.value], after / (0.8 * 5.0), 1e-12);
}

TEST(Belief, a_class_with_a_pace_to_keep_also_feels_the_average) {
  auto fleet = learn::models(1);
  learn::add_pool(*fleet, "pool", engine());
  fleet->slo_classes[0].ttft = 30 * kSecond;
  fleet->slo_classes.push_back(fleet->slo_classes[0]);
  fleet->slo_classes[1].name = "paced";
  fleet->slo_classes[1].tpot = kSecond;
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  const OfferId pool = learn::offer_of(snapshot, "pool");
  for (int i = 0; i < 5; ++i) {
    const Claim claim = learn::send(belief, at(0), pool, learn::request(18'000, 1));
    belief.completed(at(0), claim, learn::answer(1), true);
  }
  // 90,000 tokens in the 10 s of the average are 0.9 of the engine, and nothing waits or decodes.
  Scratch scratch(snapshot);
  Request request = learn::request(11'000, 1);
  EXPECT_TRUE(decide(snapshot, belief.live(at(0)), request, at(0), scratch).feasible == 1);
  request.slo = SloId{1};
  EXPECT_FALSE(decide(snapshot, belief.live(at(0)), request, at(0), scratch).feasible == 1);
}

TEST(Belief, offers_of_one_destination_share_its_resources) {
  auto fleet = learn::models(2);
  learn::add_pool(*fleet, "pool", engine(), {0, 1});
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  const OfferId a = learn::offer_of(snapshot, "pool", 0), b = learn::offer_of(snapshot, "pool", 1);
  learn::send(belief, at(0), a, learn::request(100, 100));
  learn::send(belief, at(0), b, learn::request(100, 100, 1));
  EXPECT_DOUBLE_EQ(use(belief, at(0), Resource::slots, a), 0.04);
  EXPECT_DOUBLE_EQ(use(belief, at(0), Resource::slots, b), 0.04);
}

TEST(Belief, quotas_are_held_against_the_last_minute) {
  auto fleet = learn::models(1);
  Destination& api = learn::add_api(*fleet, "api", 1'000'000'000);
  api.unlimited = false;
  api.rpm = 100;
  api.tpm = 10'000;
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  const OfferId o = learn::offer_of(snapshot, "api");
  const Claim first = learn::send(belief, at(0), o, learn::request(800, 200));
  learn::send(belief, at(30), o, learn::request(800, 200));
  EXPECT_DOUBLE_EQ(use(belief, at(30), Resource::requests, o), 0.02);
  EXPECT_DOUBLE_EQ(use(belief, at(30), Resource::tokens, o), 0.20);
  belief.completed(at(40), first, learn::answer(100), true);  // 100 tokens less than was booked
  EXPECT_DOUBLE_EQ(use(belief, at(40), Resource::tokens, o), 0.19);
  EXPECT_DOUBLE_EQ(use(belief, at(61), Resource::tokens, o), 0.10) << "the first request has left the window";
  EXPECT_DOUBLE_EQ(use(belief, at(61), Resource::requests, o), 0.01);
  EXPECT_DOUBLE_EQ(use(belief, at(200), Resource::tokens, o), 0.0);
}

TEST(Belief, runs_the_commitments_meter) {
  auto fleet = learn::models(1);
  Destination& block = learn::add(*fleet, "ptu", Tier::reserved);
  PtuTerms terms;
  terms.units = 50;
  terms.tokens_per_minute_per_unit = 2500;
  learn::serve(block, 0).ptu = terms;
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  const OfferId o = learn::offer_of(snapshot, "ptu");
  CommitmentMeter truth(terms);
  // 1,000 prompt tokens and 100 output tokens at 4: 1,400 normalized tokens a call.
  const Claim claim = learn::send(belief, at(0), o, learn::request(1000, 100));
  truth.admit(at(0), 1400);
  EXPECT_NEAR(use(belief, at(0), Resource::tokens, o), truth.level(at(0)), 1e-12);
  EXPECT_GT(truth.level(at(0)), 0.0);
  belief.completed(at(0.01), claim, learn::answer(50), true);
  truth.reconcile(at(0.01), 1400, 1200);
  EXPECT_NEAR(use(belief, at(0.01), Resource::tokens, o), truth.level(at(0.01)), 1e-12);
}

TEST(Belief, whatever_is_booked_and_given_back_leaves_nothing) {
  for_each_seed(50, [](Rng& rng) {
    auto fleet = learn::models(2);
    learn::add_pool(*fleet, "pool", engine(), {0, 1}, 2);
    Destination& api = learn::add_api(*fleet, "api", 1'000'000'000);
    api.unlimited = false;
    api.rpm = 100'000;
    api.tpm = 100'000'000;
    const Snapshot snapshot(*fleet);
    Belief belief(snapshot);
    std::vector<Claim> open;
    double t = 0.0;
    for (int i = 0; i < 300; ++i) {
      t += rng.uniform();
      if (open.empty() || rng.chance(0.5)) {
        const OfferId o{static_cast<std::uint32_t>(rng.below(snapshot.offers().size()))};
        open.push_back(learn::send(
            belief, at(t), o,
            learn::request(rng.between(1, 4000), static_cast<double>(rng.between(1, 900)), snapshot[o].model.value)));
      } else {
        const std::size_t k = rng.below(open.size());
        const Claim claim = open[k];
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(k));
        switch (rng.below(4)) {
          case 0:
            belief.completed(at(t), claim, learn::answer(rng.between(0, 900)), rng.chance(0.9));
            break;
          case 1:
            belief.rejected(at(t), claim, Rejection::request, Duration{0});
            break;
          case 2:
            belief.rejected(at(t), claim, Rejection::failed, Duration{0});
            break;
          default:
            belief.aborted(at(t), claim, learn::answer(rng.between(0, 900)));
        }
      }
    }
    for (const Claim& claim : open) belief.completed(at(t), claim, learn::answer(10), true);
    const Live& live = belief.live(at(t + 3600));
    for (std::size_t o = 0; o < snapshot.offers().size(); ++o)
      for (const Resource r : {Resource::slots, Resource::kv, Resource::tokens, Resource::requests})
        EXPECT_EQ(live.use[static_cast<std::size_t>(r)][o], 0.0);
  });
}

TEST(Belief, the_applying_knee_is_the_smallest_of_the_classes_present) {
  auto fleet = learn::models(1);
  fleet->slo_classes.front().tpot = Duration{30'000'000};  // chat: step 20 ms, 30 ms allowed
  fleet->slo_classes.emplace_back().name = "loose";
  learn::add_pool(*fleet, "pool", engine());
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  const OfferId pool = learn::offer_of(snapshot, "pool");
  const double tight = belief.knee(pool, SloId{0}), loose = belief.knee(pool, SloId{1});
  ASSERT_LT(tight, loose);
  Request relaxed = learn::request(100, 10);
  relaxed.slo = SloId{1};
  learn::send(belief, at(0), pool, relaxed);
  EXPECT_EQ(belief.live(at(0)).knee[pool.value], loose);
  const Claim claim = learn::send(belief, at(1), pool, learn::request(100, 10));
  EXPECT_EQ(belief.live(at(1)).knee[pool.value], tight);
  belief.completed(at(2), claim, learn::answer(10), true);
  EXPECT_EQ(belief.live(at(5)).knee[pool.value], tight) << "expected again within the residence";
  EXPECT_EQ(belief.live(at(60)).knee[pool.value], loose) << "gone";
}

TEST(Belief, tells_of_changes_once) {
  auto fleet = learn::models(1);
  learn::add_pool(*fleet, "pool", engine());
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  belief.units(at(0), DestinationId{0}, 0);
  belief.units(at(1), DestinationId{0}, 3);
  const std::vector<Belief::Change> changes = belief.take_changes();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].what, Belief::Change::What::units);
  EXPECT_EQ(changes[0].before, 1.0);
  EXPECT_EQ(changes[0].after, 3.0);
  EXPECT_TRUE(belief.take_changes().empty());
}

}  // namespace
}  // namespace ace
