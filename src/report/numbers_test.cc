#include "report/numbers.h"

#include <gtest/gtest.h>

namespace ace {
namespace {

TEST(Numbers, have_no_sign_where_they_round_to_zero) {
  const struct {
    double value;
    int decimals;
    const char* want;
  } cases[] = {{-0.0, 1, "0.0"}, {-0.04, 1, "0.0"}, {-1e-9, 2, "0.00"},     {-0.06, 1, "-0.1"},  {0.04, 1, "0.0"},
               {-0.4, 0, "0"},   {-10.0, 0, "-10"}, {-100.04, 1, "-100.0"}, {12.375, 2, "12.38"}};
  for (const auto& c : cases) EXPECT_EQ(fixed(c.value, c.decimals), c.want) << c.value;
}

}  // namespace
}  // namespace ace
