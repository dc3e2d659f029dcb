#include "core/money.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/testing.h"

namespace ace {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(ParseDecimal, reads_exact_decimals) {
  const struct {
    const char* text;
    int scale;
    std::int64_t want;
  } cases[] = {
      {"0.60", 9, 600'000'000},
      {"0", 9, 0},
      {"-0.0", 9, 0},
      {"-1.5E3", 9, -1'500'000'000'000},
      {"+2.5", 1, 25},
      {"3e-06", 15, 3'000'000'000},  // community price map: USD per token, times 1e15
      {"3E-6", 15, 3'000'000'000},
      {"2.1875e-06", 15, 2'187'500'000},
      {"6.000000000000000e-07", 15, 600'000'000},
      {".5", 1, 5},
      {"5.", 0, 5},
      {"1200e-2", 0, 12},
      {"0.0000000000000000000000000000000000000000010e42", 0, 1},
      {"1.0000000000000000000000000000000000000000", 9, 1'000'000'000},
      {"0000000000000000000000000000000000000000007", 0, 7},
      {"9223372036854775807", 0, kMax},
      {"-9223372036854775807", 0, -kMax},
      {"9223372036.854775807", 9, kMax},
      {"0e999999999999", 9, 0},
  };
  for (const auto& c : cases) {
    const Result<std::int64_t> got = parse_decimal(c.text, c.scale);
    ASSERT_TRUE(got) << c.text << ": " << got.error().what();
    EXPECT_EQ(*got, c.want) << c.text;
  }
}

TEST(ParseDecimal, refuses_what_is_not_a_decimal_or_would_lose_digits) {
  const struct {
    const char* text;
    int scale;
    Errc want;
  } cases[] = {
      {"", 9, Errc::bad_input},
      {"-", 9, Errc::bad_input},
      {".", 9, Errc::bad_input},
      {"e5", 9, Errc::bad_input},
      {"1e", 9, Errc::bad_input},
      {"1e+", 9, Errc::bad_input},
      {"NaN", 9, Errc::bad_input},
      {"nan", 9, Errc::bad_input},
      {"inf", 9, Errc::bad_input},
      {"-Infinity", 9, Errc::bad_input},
      {"0x10", 9, Errc::bad_input},
      {"1,5", 9, Errc::bad_input},
      {"1_000", 9, Errc::bad_input},
      {" 1", 9, Errc::bad_input},
      {"1 ", 9, Errc::bad_input},
      {"1.2.3", 9, Errc::bad_input},
      {"--1", 9, Errc::bad_input},
      {"$1", 9, Errc::bad_input},
      {"0.0000000001", 9, Errc::out_of_range},  // a tenth of a nano-dollar
      {"2.1875e-06", 9, Errc::out_of_range},
      {"9223372036854775808", 0, Errc::out_of_range},
      {"9223372036.854775808", 9, Errc::out_of_range},
      {"1e19", 0, Errc::out_of_range},
      {"1e999999999999", 0, Errc::out_of_range},
      {"1e-999999999999", 0, Errc::out_of_range},
      {"123456789012345678901234567890123456789012345678901234567890", 0, Errc::out_of_range},
  };
  for (const auto& c : cases) {
    const Result<std::int64_t> got = parse_decimal(c.text, c.scale);
    ASSERT_FALSE(got) << c.text << " gave " << *got;
    EXPECT_EQ(got.error().code(), c.want) << c.text << ": " << got.error().what();
  }
}

TEST(ParseDecimal, does_not_take_a_long_exponent_for_a_shorter_one) {
  // 1 followed by 10,000 zeros times 10^-100,000 is far below one; a clamp of the exponent once at 10,000 would say 1.
  EXPECT_FALSE(parse_decimal("1" + std::string(10'000, '0') + "e-100000", 0));
  EXPECT_EQ(*parse_decimal("1" + std::string(100'000, '0') + "e-100000", 0), 1);
}

TEST(ParseDecimal, reads_back_every_amount_that_to_decimal_writes) {
  for_each_seed(2'000, [](Rng& rng) {
    const auto bits = static_cast<std::int64_t>(rng.next() >> rng.between(1, 63));
    const Usd amount{rng.chance(0.5) ? bits : -bits};
    const Result<std::int64_t> back = parse_decimal(to_decimal(amount), 9);
    ASSERT_TRUE(back) << to_decimal(amount);
    EXPECT_EQ(*back, amount.nano);
  });
}

TEST(Rounding, is_half_away_from_zero) {
  const struct {
    int128 femto;
    std::int64_t want;
  } cases[] = {{0, 0},         {499'999, 0},   {500'000, 1},     {-499'999, 0}, {-500'000, -1},
               {1'499'999, 1}, {1'500'000, 2}, {-1'500'000, -2}, {2'000'000, 2}};
  for (const auto& c : cases) EXPECT_EQ(round_femto(c.femto)->nano, c.want);
  EXPECT_EQ(round_femto(int128{kMax} * 1'000'000)->nano, kMax);
  EXPECT_EQ(round_femto(int128{kMax} * 1'000'000 + 500'000).error().code(), Errc::out_of_range);
}

TEST(Rounding, happens_once_over_the_exact_sum_of_all_token_classes) {
  // 1,234 prompt tokens at $0.59/Mtok and 567 output tokens at $0.79/Mtok:
  // 1,234 x 0.59e-6 + 567 x 0.79e-6 = 0.00072806 + 0.00044793 = 0.00117599 USD = 1,175,990 nano-dollars.
  const int128 femto = femto_usd(1'234, UsdPerMtok{590'000'000}) + femto_usd(567, UsdPerMtok{790'000'000});
  EXPECT_EQ(round_femto(femto)->nano, 1'175'990);
  // A third of a nano-dollar three times is one; rounded one by one it would be nothing.
  EXPECT_EQ(round_femto(3 * femto_usd(1, UsdPerMtok{333'334}))->nano, 1);
}

TEST(Physics, becomes_money_at_the_nearest_nano_dollar) {
  EXPECT_EQ(usd_from_physics(1.25)->nano, 1'250'000'000);
  EXPECT_EQ(usd_from_physics(-0.0000000005)->nano, -1);
  EXPECT_EQ(usd_from_physics(4503599.627370497)->nano, 4'503'599'627'370'497);  // + 0.5 would tie to the even neighbour
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), -1e300, 9.3e9})
    EXPECT_EQ(usd_from_physics(bad).error().code(), Errc::out_of_range) << bad;
}

TEST(Allocate, gives_remainders_to_the_largest_then_to_the_smaller_position) {
  const struct {
    const char* why;
    std::int64_t amount;
    std::vector<std::int64_t> weights, want;
  } cases[] = {
      {"equal thirds of 10: one unit is left, the first takes it", 10, {1, 1, 1}, {4, 3, 3}},
      {"11 over 1:1:1 leaves two units", 11, {1, 1, 1}, {4, 4, 3}},
      // 10 over 1:2:4 of 7: 1 3/7, 2 6/7, 5 5/7; two units are left for the remainders 6 and 5
      {"largest remainders first", 10, {1, 2, 4}, {1, 3, 6}},
      {"a negative amount mirrors", -10, {1, 2, 4}, {-1, -3, -6}},
      {"nobody weighs anything: the first carries it", 7, {0, 0}, {7, 0}},
      {"a weight of zero gets nothing", 5, {0, 3, 0}, {0, 5, 0}},
      {"nothing to split", 0, {2, 3}, {0, 0}},
      {"the largest amount over the largest weights", kMax, {kMax, kMax}, {kMax / 2 + 1, kMax / 2}},
  };
  for (const auto& c : cases) {
    std::vector<Usd> parts(c.weights.size());
    allocate(Usd{c.amount}, c.weights, parts);
    for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_EQ(parts[i].nano, c.want[i]) << c.why << ", part " << i;
  }
}

TEST(Allocate, sums_exactly_and_is_less_than_a_unit_from_the_fair_share) {
  for_each_seed(1'000, [](Rng& rng) {
    const auto n = static_cast<std::size_t>(rng.between(1, 12));
    std::vector<std::int64_t> weights(n);
    int128 total = 0;
    for (auto& weight : weights) total += weight = rng.chance(0.2) ? 0 : rng.between(0, 1'000'000);
    const Usd amount{rng.between(-1'000'000'000'000, 1'000'000'000'000)};
    std::vector<Usd> parts(n);
    allocate(amount, weights, parts);
    Usd sum;
    for (std::size_t i = 0; i < n; ++i) {
      sum += parts[i];
      if (total == 0) continue;
      const int128 off = int128{parts[i].nano} * total - int128{amount.nano} * weights[i];
      EXPECT_TRUE(off < total && off > -total) << "part " << i;
    }
    EXPECT_EQ(sum, amount);
  });
}

TEST(Display, is_for_machines_exact_and_for_people_short) {
  const struct {
    std::int64_t nano;
    const char *decimal, *display;
  } cases[] = {
      {0, "0.00", "$0.00"},
      {1'204'180'000'000, "1204.18", "$1,204.18"},
      {-1'204'185'000'000, "-1204.185", "-$1,204.19"},
      {1'234'567'890'123'456'789, "1234567890.123456789", "$1,234,567,890.12"},
      {37'500'000, "0.0375", "$0.0375"},
      {600'000'000, "0.60", "$0.60"},
      {123'456'789, "0.123456789", "$0.123"},
      {996'000'000, "0.996", "$0.996"},
      {999'499'999, "0.999499999", "$0.999"},
      {999'500'000, "0.9995", "$1.00"},
      {999'999'999, "0.999999999", "$1.00"},
      {9'999'000, "0.009999", "$0.01"},
      {1, "0.000000001", "$0.000000001"},
      {999'995'000'000, "999.995", "$1,000.00"},
      {std::numeric_limits<std::int64_t>::min(), "-9223372036.854775808", "-$9,223,372,036.85"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(to_decimal(Usd{c.nano}), c.decimal);
    EXPECT_EQ(to_display(Usd{c.nano}), c.display);
  }
  EXPECT_EQ(to_decimal(UsdPerMtok{37'500'000}), "0.0375");
}

TEST(UsdDeathTest, stops_the_program_before_a_sum_wraps) {
  EXPECT_DEATH((void)(Usd{kMax} + Usd{1}), "left the range");
  EXPECT_DEATH((void)(Usd{-kMax} - Usd{2}), "left the range");
}

}  // namespace
}  // namespace ace
