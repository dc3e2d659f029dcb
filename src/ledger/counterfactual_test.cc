#include "ledger/counterfactual.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "ledger/ledger_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

std::array<std::int64_t, 5> micros(const Chain& chain) {
  std::array<std::int64_t, 5> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = chain.c[i].nano / 1000;
  return out;
}

// Millionths of a dollar. 1,000 prompt and 100 output tokens of large: at api 1,000 x 10 + 100 x 40 = 14,000, at alt
// 1,000 x 8 + 100 x 32 = 11,200, at gpu 1,000 x 0.1 + 100 x 1 = 200. With 400 tokens cached: at api 600 x 10 + 400 x 1
// + 4,000 = 10,400, at alt 600 x 8 + 400 x 0.8 + 3,200 = 8,320, at gpu 600 x 0.1 + 100 = 160.
TEST(Settle, follows_the_outcome_table) {
  const World w;
  const struct {
    const char* why;
    Events events;
    std::array<std::int64_t, 5> want;
    Reason excluded = Reason::none;
  } cases[] = {
      {"PAYG, the default itself: nothing saved", Events(w, kApi), {14'000, 14'000, 14'000, 14'000, 14'000}},
      {"PAYG, a cheaper one: arbitrage", Events(w, kAlt), {14'000, 14'000, 14'000, 11'200, 11'200}},
      // 11,200 + 1,000 x 10 billed by api for nothing
      {"PAYG after a failed attempt that was billed",
       Events(w, kAlt).failed(kApi, kLarge, text(1000, 0, 0)),
       {14'000, 14'000, 14'000, 11'200, 21'200}},
      {"owned: C3 cheapest feasible PAYG with the same cache, C4 energy",
       Events(w, kGpu, kLarge, text(1000, 400, 100)),
       {14'000, 10'400, 10'400, 8'320, 160}},
      {"owned, no PAYG feasible at admission: nothing to arbitrage",
       Events(w, kGpu).with([](Events& e) { e.decided.cheapest_payg = {}; }),
       {14'000, 14'000, 14'000, 14'000, 200}},
      {"owned, redo after a lost unit: both runs are paid",
       Events(w, kGpu).failed(kGpu, kLarge, text(1000, 0, 50)),
       {14'000, 14'000, 14'000, 11'200, 350}},
      {"reserved within its cap: 0", Events(w, kPtu), {14'000, 14'000, 14'000, 11'200, 0}},
      // small: default 1,000 x 1 + 100 x 4; fee 1,000 x 0.5 + 100 x 2
      {"reserved with a declared fee", Events(w, kPtu, kSmall), {1'400, 1'400, 1'400, 1'400, 700}},
      {"reserved that spilled natively: the deployment named in the response",
       Events(w, kPtu).with([&](Events& e) { e.attempts.back().billed_as = w.offer(kApi, kLarge); }),
       {14'000, 14'000, 14'000, 14'000, 14'000}},
      {"on-demand, unit running: 0, its hour is in F", Events(w, kRent), {14'000, 14'000, 14'000, 11'200, 0}},
      {"response-cache hit: the look-up", Events(w, kApi).hit(micro(5)), {14'000, 5, 5, 5, 5}},
      {"hit after a failed attempt",
       Events(w, kApi).failed(kApi, kLarge, text(100, 0, 0)).hit(micro(5)),
       {14'000, 5, 5, 5, 1'005}},
      {"not served: it can only lose money",
       Events(w, kApi).failed(kApi, kLarge, text(1000, 0, 0)).refused(),
       {0, 0, 0, 0, 10'000}},
      // 1,000 x 10 + 40 x 40 and 1,000 x 0.1 + 40
      {"client abort: the tokens produced, on both sides",
       Events(w, kGpu, kLarge, text(1000, 0, 40)).with([](Events& e) {
         e.completed.outcome = event::Outcome::client_abort;
       }),
       {11'600, 11'600, 11'600, 9'280, 140}},
      // 125 output tokens of small stand for 100 of large; small: 1,000 + 125 x 4 at api, 100 + 125 at gpu
      {"another model: the requested model's tokens in C0 and C1",
       Events(w, kGpu, kLarge, kSmall, text(1000, 0, 125)).with([](Events& e) {
         e.completed.output_requested = Tokens{100};
       }),
       {14'000, 14'000, 1'500, 1'500, 225}},
      // bare has no PAYG price; energy 100 + 100
      {"a model without PAYG price: C1 = C2 = C3",
       Events(w, kGpu, kLarge, kBare, text(1000, 0, 100)),
       {14'000, 14'000, 14'000, 14'000, 200}},
      // energy for 1,010 prompt tokens and 100 output tokens
      {"baseline unpriced: cost on both sides",
       Events(w, kGpu).with([](Events& e) {
         e.completed.usage.set(Unit::audio_input, 10);
         e.attempts.back().billed = e.completed.usage;
       }),
       {201, 201, 201, 201, 201},
       Reason::unpriced},
      {"default not compliant: the cheapest compliant PAYG",
       Events(w, kGpu).with([](Events& e) { e.admitted.compliance = kAltOnly; }),
       {11'200, 11'200, 11'200, 11'200, 200}},
      {"no compliant PAYG at all: no baseline",
       Events(w, kGpu).with([](Events& e) { e.admitted.compliance = kNobody; }),
       {200, 200, 200, 200, 200},
       Reason::no_baseline},
      // half of 14,000; alt has no batch price, so it costs what it costs
      {"deferrable: C0..C2 at the batch price of the default",
       Events(w, kAlt).with([](Events& e) { e.admitted.slo = kBatch; }),
       {7'000, 7'000, 7'000, 11'200, 11'200}},
      {"cached by the default provider, not by us: caching is negative",
       Events(w, kApi).with([](Events& e) { e.admitted.h0 = Tokens{400}; }),
       {10'400, 14'000, 14'000, 14'000, 14'000}},
      // 600 x 10 + 400 x 12.5 + 4,000
      {"cache writes: their premium is in C1",
       Events(w, kApi).with([](Events& e) {
         e.completed.usage.set(Unit::input, 600);
         e.completed.usage.set(Unit::cache_write, 400);
         e.attempts.back().billed = e.completed.usage;
       }),
       {14'000, 15'000, 15'000, 15'000, 15'000}},
  };
  for (const auto& c : cases) {
    const Settled s = c.events.settled();
    EXPECT_EQ(micros(s.chain), c.want) << c.why;
    EXPECT_EQ(s.excluded, c.excluded) << c.why;
    EXPECT_EQ(levers_of(s.chain).sum(), s.chain.saving()) << c.why;
  }
}

TEST(Settle, tells_a_spill_from_a_retry) {
  const World w;
  const auto first_try = [&](Rejection why) {
    Events e(w, kAlt);
    e.failed(kApi, kLarge, {});
    e.attempts.front().rejection = why;
    return e.settled();
  };
  EXPECT_TRUE(first_try(Rejection::throttled).spilled);
  EXPECT_TRUE(first_try(Rejection::overloaded).spilled);
  EXPECT_TRUE(first_try(Rejection::refused).spilled);
  EXPECT_FALSE(first_try(Rejection::failed).spilled) << "it may have been worked on: a retry";
  EXPECT_EQ(first_try(Rejection::failed).attempts, 2U);
  EXPECT_FALSE(Events(w, kAlt).settled().spilled);
  EXPECT_TRUE(
      Events(w, kPtu).with([&](Events& e) { e.attempts.back().billed_as = w.offer(kApi, kLarge); }).settled().spilled);
  EXPECT_FALSE(Events(w, kApi).failed(kApi, kLarge, {}).refused().settled().spilled) << "nobody answered";
}

TEST(Settle, leaves_what_no_lever_explains_unattributed) {
  const World w;
  const Chain chain = Events(w, kGpu, kLarge, kBare, text(1000, 0, 100)).settled().chain;
  EXPECT_EQ(chain.unattributed, micro(13'800));
  EXPECT_EQ(chain.lever, (std::array<Usd, kLevers>{}));
}

TEST(Settle, books_negative_electricity_prices_as_they_are) {
  Fleet fleet = small_fleet();
  fleet.electricity.flat = {-1'000'000'000};
  const World w(std::move(fleet));
  EXPECT_EQ(Events(w, kGpu).settled().chain.c[4], micro(-200));
}

TEST(Settle, knows_what_is_assumed) {
  Fleet fleet = small_fleet();
  fleet.models[1].equivalents[1].evidence.clear();
  fleet.models[1].baseline->contracted = false;
  const World w(std::move(fleet));
  EXPECT_TRUE(Events(w, kGpu, kLarge, kSmall, text(1000, 0, 125)).settled().routing_assumed);
  EXPECT_TRUE(Events(w, kApi).settled().baseline_assumed);
  EXPECT_FALSE(Events(w, kApi, kSmall).settled().baseline_assumed);
}

TEST(Settle, agrees_with_the_dispatcher_on_the_cheapest_compliant_price) {
  const World w;
  for (const ComplianceId rule : {ComplianceId{}, kAltOnly}) {
    const Settled s = Events(w, kApi).with([&](Events& e) { e.admitted.compliance = rule; }).settled();
    EXPECT_EQ(s.cheapest_compliant_baseline,
              w.snapshot.cheapest_payg(kLarge, rule, "", text(1000, 0, 100), false)->price);
  }
}

TEST(Settle, counts_h0_as_nothing_in_the_uncached_baseline) {
  const World w;
  const Settled s = Events(w, kApi).with([](Events& e) { e.admitted.h0 = Tokens{400}; }).settled();
  EXPECT_EQ(s.uncached_baseline, micro(14'000));
  const Settled moved = against_uncached(s);
  EXPECT_EQ(moved.chain.c[0], micro(14'000));
  EXPECT_EQ(moved.chain.lever[0], Usd{});
  EXPECT_EQ(levers_of(moved.chain).sum(), moved.chain.saving());
}

TEST(Chain, parts_sum_to_the_saving_for_any_request) {
  const World w;
  for_each_seed(3000, [&](Rng& rng) {
    const Settled s = any_request(w, rng);
    EXPECT_EQ(levers_of(s.chain).sum(), s.chain.saving());
    EXPECT_EQ(levers_of(against_uncached(s).chain).sum(), s.uncached_baseline - s.chain.c[4]);
  });
}

TEST(Shapley, splits_a_game_one_can_follow) {
  // Routing alone saves 8, arbitrage alone 4, both 10; the others nothing. Routing joins first in half of the orders:
  // (8 + 6) / 2 = 7; arbitrage (4 + 2) / 2 = 3.
  Coalitions v;
  for (unsigned set = 0; set < v.size(); ++set) {
    const bool routing = (set & 2U) != 0, arbitrage = (set & 4U) != 0;
    v[set] = micro(20 - (routing && arbitrage ? 10 : routing ? 8 : arbitrage ? 4 : 0));
  }
  const Shapley s = shapley_of(v);
  EXPECT_EQ(s.value, (std::array<Usd, kLevers>{Usd{}, micro(7), micro(3), Usd{}}));
  EXPECT_EQ(s.low, (std::array<Usd, kLevers>{Usd{}, micro(6), micro(2), Usd{}}));
  EXPECT_EQ(s.high, (std::array<Usd, kLevers>{Usd{}, micro(8), micro(4), Usd{}}));
}

TEST(Shapley, of_an_owned_request_gives_utilization_what_the_api_would_have_cost) {
  const World w;
  // No cache, one model: without arbitrage 14,000, with it 11,200, with utilization 200 either way.
  // Utilization: (13,800 + 11,000) / 2 = 12,400; arbitrage: (2,800 + 0) / 2 = 1,400.
  const Shapley s = shapley(w.snapshot, Events(w, kGpu).settled());
  EXPECT_EQ(s.value, (std::array<Usd, kLevers>{Usd{}, Usd{}, micro(1'400), micro(12'400)}));
  EXPECT_EQ(s.low[3], micro(11'000));
  EXPECT_EQ(s.high[3], micro(13'800));
}

TEST(Shapley, looks_for_the_cheapest_price_at_the_cached_tokens_of_each_coalition) {
  Fleet fleet = small_fleet();
  for (Rates& rates : fleet.prices.rows[0].tiers[0].by_service) rates.set(Unit::cached_input, {8'000'000'000});
  const World w(std::move(fleet));
  const Settled s = Events(w, kGpu).with([](Events& e) { e.admitted.h0 = Tokens{600}; }).settled();
  EXPECT_EQ(s.chain.c[0], micro(8'600));   // 400 x 10 + 600 x 1 + 100 x 40
  EXPECT_EQ(s.chain.c[3], micro(11'200));  // nothing cached: `alt` at 8 and 32
  const Coalitions v = w.settler.coalitions(s);
  EXPECT_EQ(v[4], micro(8'600)) << "with 600 cached `api` is the cheapest";
  EXPECT_EQ(v[5], micro(11'200)) << "with ACE's caching, which found nothing, `alt` is";
}

TEST(Shapley, values_sum_to_what_all_levers_save_together) {
  const World w;
  for_each_seed(3000, [&](Rng& rng) {
    const Settled s = any_request(w, rng);
    const Coalitions v = w.settler.coalitions(s);
    EXPECT_EQ(v[0], s.answered() ? s.chain.c[0] : Usd{});
    EXPECT_EQ(v[15] - s.chain.unattributed, s.chain.c[4]);
    const Shapley split = shapley_of(v);
    Usd sum{};
    for (const Usd value : split.value) sum += value;
    EXPECT_EQ(sum, v[0] - v[15]);
    EXPECT_EQ(sum + s.chain.unattributed, s.chain.saving());
    for (std::size_t i = 0; i + 1 < kLevers; ++i) {
      EXPECT_LE(split.low[i] - Usd{1}, split.value[i]);
      EXPECT_GE(split.high[i] + Usd{1}, split.value[i]);
    }
  });
}

}  // namespace
}  // namespace ace
