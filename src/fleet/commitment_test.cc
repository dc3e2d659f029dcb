#include "fleet/commitment.h"

#include <gtest/gtest.h>

#include "core/testing.h"

namespace ace {
namespace {

// 1,000 requests a minute of 200 prompt and 20 output tokens on gpt-5.2 (3,400 normalized tokens a minute and unit,
// output ratio 8), the published worked example.
//   no cache:   1000 x (200 + 8 x 20)  = 360,000 / 3400 = 105.88 units
//   half cached: 1000 x (100 + 8 x 20) = 260,000 / 3400 =  76.47 units
TEST(Ptu, sizes_are_those_of_the_published_example) {
  const struct {
    const char* why;
    std::int64_t cached;
    bool regional;
    double normalized;
    std::int64_t want;
  } cases[] = {
      {"regional: 50, 100, 150...", 0, true, 360'000, 150},
      {"regional, half of the prompt cached", 100, true, 260'000, 100},
      {"global: 15, 20, 25...", 0, false, 360'000, 110},
      {"global, half of the prompt cached", 100, false, 260'000, 80},
  };
  for (const auto& c : cases) {
    const PtuTerms terms = ptu_terms("gpt-5.2", c.regional).value();
    const double per_request = normalized_tokens(terms, Tokens{200 - c.cached}, Tokens{c.cached}, Tokens{20});
    EXPECT_EQ(1000 * per_request, c.normalized) << c.why;
    EXPECT_EQ(ptu_units_for(terms, 1000 * per_request), c.want) << c.why;
  }
}

TEST(Ptu, sizes_are_the_minimum_plus_increments) {
  const PtuTerms o1 = ptu_terms("o1", true).value();  // 230 a minute and unit, minimum 25, increment 50
  const struct {
    double units;
    std::int64_t want;
  } cases[] = {{0, 0}, {0.1, 25}, {25, 25}, {25.1, 75}, {75, 75}, {76, 125}};
  for (const auto& c : cases) EXPECT_EQ(ptu_units_for(o1, c.units * 230), c.want) << c.units;
}

TEST(Ptu, every_size_is_enough_and_the_one_below_is_not) {
  for_each_seed(300, [](Rng& rng) {
    PtuTerms terms;
    terms.tokens_per_minute_per_unit = rng.between(100, 60'000);
    terms.units_min = rng.between(1, 100);
    terms.units_increment = rng.between(1, 100);
    const double rate = static_cast<double>(rng.between(1, 10'000'000));
    const std::int64_t units = ptu_units_for(terms, rate);
    EXPECT_GE(static_cast<double>(units * terms.tokens_per_minute_per_unit) * (1 + 1e-12), rate);
    EXPECT_EQ((units - terms.units_min) % terms.units_increment, 0);
    if (units > terms.units_min) {
      EXPECT_LT(static_cast<double>((units - terms.units_increment) * terms.tokens_per_minute_per_unit), rate);
    }
  });
}

TEST(Ptu, a_cached_token_weighs_what_the_table_says) {
  // gpt-6-sol: ratio 5, cached 0.1, so 100 + 0.1 x 1000 + 5 x 10 = 250. Others take cached tokens for nothing.
  EXPECT_EQ(normalized_tokens(*ptu_terms("gpt-6-sol", true), Tokens{100}, Tokens{1000}, Tokens{10}), 250.0);
  EXPECT_EQ(normalized_tokens(*ptu_terms("gpt-4.1", true), Tokens{100}, Tokens{1000}, Tokens{10}), 140.0);
  EXPECT_FALSE(ptu_terms("gpt-99", true));
}

TEST(Ptu, what_is_in_use_beyond_the_reservation_is_billed_by_the_hour) {
  EXPECT_EQ(hourly_overage(500, 300 + 300), 100);  // 500 reserved, 300 in use, 300 more: 200 covered
  EXPECT_EQ(hourly_overage(500, 300), 0);
}

TEST(Gsu, a_unit_admits_the_published_quota_of_a_window) {
  GsuTerms terms;
  terms.units = 1;
  terms.tokens_per_second_per_unit = gsu_tokens_per_second("gemini-2.0-flash-001");
  terms.window = 30 * kSecond;
  EXPECT_DOUBLE_EQ(CommitmentMeter(terms).capacity(), 100'800.0);  // 3,360 x 30
  // 10,000 burndown tokens a second over 3,360 = 2.98 units.
  EXPECT_EQ(gsu_units_for(terms, 10'000), 3);
  terms.units_increment = 5;
  EXPECT_EQ(gsu_units_for(terms, 10'000), 5);
}

TEST(Gsu, the_window_shrinks_as_the_purchase_grows) {
  EXPECT_EQ(gsu_window_for(1), 615 * kSecond);
  EXPECT_EQ(gsu_window_for(10), 100 * kSecond);
  EXPECT_EQ(gsu_window_for(123), 5 * kSecond);
  EXPECT_EQ(gsu_window_for(100'000), 5 * kSecond);
  // Between 1 and 10: 615 - 515 x 4/9 = 386.11 s at 5 units.
  EXPECT_NEAR(to_seconds(gsu_window_for(5)), 386.1111, 1e-3);
  for (std::int64_t units = 2; units < 200; ++units)
    EXPECT_LE(gsu_window_for(units), gsu_window_for(units - 1)) << units;
}

TEST(CommitmentMeter, refuses_at_once_when_full_and_says_when_it_will_not_be) {
  // 100 weighted tokens a second over 10 s: a bucket of 1,000.
  CommitmentMeter meter(100.0, 10 * kSecond);
  const Instant start = instant(0);
  EXPECT_TRUE(meter.admit(start, 999));
  EXPECT_EQ(meter.retry_after(start), Duration{0});
  EXPECT_TRUE(meter.admit(start, 500)) << "below 100% a call is taken and may overshoot by its own size";
  EXPECT_FALSE(meter.admit(start, 1));
  EXPECT_NEAR(meter.level(start), 1.499, 1e-12);
  // 1,499 - 1,000 = 499 over, at 100 a second 4.99 s.
  EXPECT_NEAR(to_seconds(meter.retry_after(start)), 4.99, 1e-6);
  EXPECT_TRUE(meter.admit(start + meter.retry_after(start), 1));
}

TEST(CommitmentMeter, returns_what_was_estimated_and_not_used) {
  CommitmentMeter meter(100.0, 10 * kSecond);
  ASSERT_TRUE(meter.admit(instant(0), 2000));  // max_tokens were generous
  EXPECT_FALSE(meter.admit(instant(0), 1));
  meter.reconcile(instant(0), 2000, 300);
  EXPECT_NEAR(meter.level(instant(0)), 0.3, 1e-12);
  EXPECT_TRUE(meter.admit(instant(0), 1));
  meter.reconcile(instant(0), 5000, 0);
  EXPECT_EQ(meter.level(instant(0)), 0.0) << "never below empty";
}

TEST(CommitmentMeter, admits_no_more_than_its_rate_over_a_long_time) {
  for_each_seed(50, [](Rng& rng) {
    const double rate = static_cast<double>(rng.between(10, 1000));
    CommitmentMeter meter(rate, kMinute);
    double admitted = 0.0, largest = 0.0;
    Instant now = instant(0);
    for (int i = 0; i < 2000; ++i) {
      now += from_seconds(rng.exponential(0.5));
      const double size = static_cast<double>(rng.between(1, 2000));
      largest = std::max(largest, size);
      if (meter.admit(now, size)) admitted += size;
    }
    EXPECT_LE(admitted, rate * to_seconds(now - instant(0)) + meter.capacity() + largest + 1e-6);
  });
}

}  // namespace
}  // namespace ace
