#include "fleet/price.h"

#include <limits>

#include <gtest/gtest.h>

#include "core/rng.h"
#include "core/testing.h"

namespace ace {
namespace {

constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

/// One context tier; prices in nano-USD per million units, the same in every service tier.
ContextTier tier(std::int64_t above, std::vector<std::pair<Unit, std::int64_t>> prices) {
  ContextTier made{{above}, {}};
  for (Rates& rates : made.by_service)
    for (const auto& [unit, nano] : prices) rates.set(unit, {nano});
  return made;
}

PriceRow row(std::vector<ContextTier> tiers) {
  PriceRow made;
  made.key = "test/model";
  made.tiers = std::move(tiers);
  return made;
}

/// $3 in, $0.30 cached, $15 out per million tokens; twice the input and 1.5 times the output price above 200k.
const PriceRow kSonnet = row({
    tier(0, {{Unit::input, 3'000'000'000}, {Unit::cached_input, 300'000'000}, {Unit::output, 15'000'000'000}}),
    tier(200'000, {{Unit::input, 6'000'000'000}, {Unit::cached_input, 600'000'000}, {Unit::output, 22'500'000'000}}),
});

Usage usage(std::int64_t input, std::int64_t cached, std::int64_t output) {
  return {Tokens{input}, Tokens{cached}, Tokens{output}};
}

TEST(Price, is_the_exact_sum_of_all_classes_rounded_once) {
  const struct {
    const char* why;
    Usage used;
    const char* want;
  } cases[] = {
      // 1,000 x $3 + 100 x $15 = 3,000 + 1,500 millionths of a dollar
      {"input and output", usage(1'000, 0, 100), "0.0045"},
      // 1,000 x 3 + 500 x 0.30 + 200 x 15 = 3,000 + 150 + 3,000 millionths
      {"cached tokens at their own price", usage(1'000, 500, 200), "0.00615"},
      {"nothing used costs nothing", usage(0, 0, 0), "0.00"},
      // 1 x 0.3e-6 = 300 nano-dollars
      {"one cached token", usage(0, 1, 0), "0.0000003"},
  };
  for (const auto& c : cases) EXPECT_EQ(to_decimal(*price_of(c.used, kSonnet)), c.want) << c.why;
}

TEST(Price, rounds_half_away_from_zero_and_only_the_sum) {
  // In nano-USD per million tokens, so one token costs half a nano-dollar and 0.4 of one.
  const PriceRow cheap = row({tier(0, {{Unit::input, 500'000}, {Unit::output, 400'000}})});
  // One input token: 500,000 femto = 0.5 nano, away from zero: 1.
  EXPECT_EQ(price_of(usage(1, 0, 0), cheap)->nano, 1);
  // One output token: 400,000 femto = 0.4 nano: 0.
  EXPECT_EQ(price_of(usage(0, 0, 1), cheap)->nano, 0);
  // Together 900,000 femto = 0.9 nano: 1. Rounded apart they would be 1 + 0; two output and one input:
  // 1.3 nano = 1, not 1 + 0 + 0 by luck; three outputs: 1.2 nano = 1, where apart they would be 0.
  EXPECT_EQ(price_of(usage(1, 0, 1), cheap)->nano, 1);
  EXPECT_EQ(price_of(usage(0, 0, 3), cheap)->nano, 1);
}

TEST(Price, long_context_tier_is_chosen_on_the_whole_prompt_and_applies_to_all_tokens) {
  const struct {
    const char* why;
    Usage used;
    const char* want;
  } cases[] = {
      // 200,000 x 3 + 1,000 x 15 = 600,000 + 15,000 millionths
      {"exactly at the threshold is not above it", usage(200'000, 0, 1'000), "0.615"},
      // 200,001 x 6 + 1,000 x 22.5 = 1,200,006 + 22,500 millionths
      {"one token more moves every token", usage(200'001, 0, 1'000), "1.222506"},
      // 1 x 6 + 200,000 x 0.60 + 0 = 6 + 120,000 millionths
      {"cached tokens count as context", usage(1, 200'000, 0), "0.120006"},
      // 100 x 3 + 300,000 x 15 = 300 + 4,500,000 millionths
      {"output does not count as context", usage(100, 0, 300'000), "4.5003"},
  };
  for (const auto& c : cases) EXPECT_EQ(to_decimal(*price_of(c.used, kSonnet)), c.want) << c.why;
}

TEST(Price, regional_surcharge_is_an_exact_ratio_inside_the_one_rounding) {
  // 1,000 x 3 x 1.1 = 3,300 millionths
  EXPECT_EQ(to_decimal(*price_of(usage(1'000, 0, 0), kSonnet, ServiceTier::standard, 1'100'000)), "0.0033");
  // 0.5 nano x 1.1 = 0.55 nano: 1; 0.4 x 1.1 = 0.44: 0; 0.4 x 1.25 = 0.5: 1 (half away from zero)
  const PriceRow cheap = row({tier(0, {{Unit::input, 500'000}, {Unit::output, 400'000}})});
  EXPECT_EQ(price_of(usage(1, 0, 0), cheap, ServiceTier::standard, 1'100'000)->nano, 1);
  EXPECT_EQ(price_of(usage(0, 0, 1), cheap, ServiceTier::standard, 1'100'000)->nano, 0);
  EXPECT_EQ(price_of(usage(0, 0, 1), cheap, ServiceTier::standard, 1'250'000)->nano, 1);
  for (const std::int64_t ppm : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{10'000'001}, kHighest})
    EXPECT_EQ(price_of(usage(1, 0, 0), cheap, ServiceTier::standard, ppm).error().code(), Errc::out_of_range) << ppm;
}

TEST(Price, a_counted_unit_without_a_price_is_unpriced_and_named) {
  const PriceRow text = row({tier(0, {{Unit::input, 1'000}, {Unit::output, 1'000}})});
  Usage heard = usage(1, 0, 1);
  heard.set(Unit::audio_input, 5);
  const Result<Usd> price = price_of(heard, text);
  ASSERT_FALSE(price);
  EXPECT_EQ(price.error().code(), Errc::unpriced);
  EXPECT_NE(price.error().what().find("audio_input"), std::string::npos) << price.error().what();
  EXPECT_NE(price.error().what().find("test/model"), std::string::npos) << price.error().what();
  heard.set(Unit::audio_input, 0);
  EXPECT_TRUE(price_of(heard, text)) << "a unit that was not used needs no price";
}

TEST(Price, service_tiers_have_prices_of_their_own) {
  PriceRow with_batch = kSonnet;
  Rates half;
  half.set(Unit::input, {1'500'000'000});
  with_batch.tiers[0].by_service[static_cast<std::size_t>(ServiceTier::batch)] = half;
  EXPECT_EQ(to_decimal(*price_of(usage(1'000, 0, 0), with_batch, ServiceTier::batch)), "0.0015");
  EXPECT_EQ(to_decimal(*price_of(usage(1'000, 0, 0), with_batch, ServiceTier::flex)), "0.003");
  EXPECT_EQ(price_of(usage(0, 0, 1), with_batch, ServiceTier::batch).error().code(), Errc::unpriced);
}

TEST(Price, overflow_is_an_error_and_never_wraps) {
  const std::int64_t many = std::int64_t{1} << 40;
  std::vector<std::pair<Unit, std::int64_t>> dearest;
  for (std::size_t i = 0; i < kUnits; ++i) dearest.emplace_back(static_cast<Unit>(i), kHighest);
  const PriceRow extreme = row({tier(0, dearest)});
  EXPECT_EQ(price_of(usage(many, 0, 0), extreme).error().code(), Errc::out_of_range);
  Usage all;
  for (std::size_t i = 0; i < kUnits; ++i) all.set(static_cast<Unit>(i), kHighest);
  EXPECT_EQ(price_of(all, extreme).error().code(), Errc::out_of_range);
  EXPECT_EQ(price_of(all, extreme, ServiceTier::standard, 10'000'000).error().code(), Errc::out_of_range);
  EXPECT_EQ(price_of(all, extreme, ServiceTier::standard, 1).error().code(), Errc::out_of_range);

  // The edge: 1,000,000 units at the highest price are exactly int64 max nano-dollars; one more does not fit.
  EXPECT_EQ(price_of(usage(1'000'000, 0, 0), extreme)->nano, kHighest);
  EXPECT_EQ(price_of(usage(1'000'001, 0, 0), extreme).error().code(), Errc::out_of_range);
  // 2^40 tokens at 8,388,607 nano-USD per Mtok: 1,099,511,627,776 x 8,388,607 = 9,223,370,937,343,148,032 femto, which
  // is 9,223,370,937,343.1 nano.
  const PriceRow plain = row({tier(0, {{Unit::input, 8'388'607}})});
  EXPECT_EQ(price_of(usage(many, 0, 0), plain)->nano, 9'223'370'937'343);
  EXPECT_EQ(price_of(usage(-1, 0, 0), plain).error().code(), Errc::out_of_range);
}

TEST(Price, of_two_requests_together_is_theirs_apart_up_to_the_rounding_and_never_falls_with_tokens) {
  for_each_seed(500, [](Rng& rng) {
    const PriceRow priced = row({tier(0, {{Unit::input, rng.between(0, 200'000'000'000)},
                                          {Unit::cached_input, rng.between(0, 10'000)},
                                          {Unit::output, rng.between(0, 600'000'000'000)}})});
    const std::int64_t ppm = rng.between(1, 10'000'000);
    const auto random = [&] {
      return usage(rng.between(0, 1'000'000), rng.between(0, 1'000'000), rng.between(0, 100'000));
    };
    const Usage a = random(), b = random();
    Usage both;
    for (const Unit unit : {Unit::input, Unit::cached_input, Unit::output}) both.set(unit, a[unit] + b[unit]);
    const auto nano = [&](const Usage& used) { return price_of(used, priced, ServiceTier::standard, ppm)->nano; };
    EXPECT_LE(std::abs(nano(both) - nano(a) - nano(b)), 1);
    EXPECT_GE(nano(both), nano(a));
    EXPECT_GE(nano(both), nano(b));
  });
}

TEST(Usage, knows_its_prompt_and_its_completion_and_saturates) {
  Usage used = usage(1, 2, 16);
  used.set(Unit::cache_write, 4);
  used.set(Unit::image_input, 8);
  used.set(Unit::reasoning, 32);
  used.set(Unit::query, 1'000);  // not a token
  EXPECT_EQ(used.prompt(), Tokens{15});
  EXPECT_EQ(used.completion(), Tokens{48});
  EXPECT_EQ(usage(kHighest, 1, 0).prompt(), Tokens{kHighest});
}

TEST(PriceBook, finds_exact_keys_only) {
  PriceBook book;
  for (const char* key : {"a", "b/c", "b/d"}) {
    book.rows.emplace_back();
    book.rows.back().key = key;
  }
  EXPECT_EQ(book.find("b/d"), PriceId{2});
  EXPECT_EQ(book.find("a"), PriceId{0});
  for (const char* absent : {"", "B/d", "b", "z", "b/d "}) EXPECT_EQ(book.find(absent), std::nullopt) << absent;
}

}  // namespace
}  // namespace ace
