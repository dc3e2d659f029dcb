#include "core/decimal.h"

#include <string>

#include <gtest/gtest.h>

#include "core/money.h"
#include "core/testing.h"

namespace ace {
namespace {

TEST(DecimalRounded, keeps_the_nearest_integer_half_away_from_zero) {
  const struct {
    const char* text;
    int scale;
    std::int64_t want;
  } cases[] = {
      {"1.5", 1, 15},
      {"20.4230336438356", 9, 20'423'033'644},
      {"61.94814684000000123", 9, 61'948'146'840},
      {"0.5", 0, 1},
      {"-0.5", 0, -1},
      {"0.4999999999999999999999", 0, 0},
      {"-3.6e-05", 4, 0},
      {"-3.6e-05", 5, -4},
      {"9.9999", 2, 1'000},
      {"123456e-4", 0, 12},
      {"125e-1", 0, 13},
      {"0.00000000000000000000000001", 9, 0},
      {"9223372036854775807.4", 0, 9'223'372'036'854'775'807},
  };
  for (const auto& c : cases) EXPECT_EQ(parse_decimal_rounded(c.text, c.scale).value_or(-77), c.want) << c.text;
}

TEST(DecimalRounded, refuses_what_is_no_number_or_does_not_fit) {
  for (const char* text : {"", "nan", "inf", "1,5", "0x1", "1.5 ", "--1", "1e", "."})
    EXPECT_EQ(parse_decimal_rounded(text, 2).error().code(), Errc::bad_input) << text;
  for (const char* text : {"1e30", "9223372036854775807.5", "99999999999999999999.5", "1.5e99999999999999999999",
                           "1.5e-99999999999999999999"})
    EXPECT_EQ(parse_decimal_rounded(text, 0).error().code(), Errc::out_of_range) << text;
  EXPECT_EQ(parse_decimal_rounded("0." + std::string(100, '1'), 2).error().code(), Errc::out_of_range);
}

TEST(DecimalRounded, agrees_with_the_exact_reader_wherever_that_reads) {
  for_each_seed(300, [](Rng& rng) {
    const std::int64_t nano = rng.between(-2'000'000'000'000, 2'000'000'000'000);
    const std::string text = to_decimal(Usd{nano});
    EXPECT_EQ(*parse_decimal_rounded(text, 9), nano);
    // Two digits less: 100 x the cut one is within half a unit of the whole.
    const std::int64_t cut = *parse_decimal_rounded(text, 7);
    EXPECT_LE(std::abs(cut * 100 - nano), 50);
  });
}

}  // namespace
}  // namespace ace
