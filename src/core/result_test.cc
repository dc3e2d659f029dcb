#include "core/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace ace {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error(Errc::bad_input, "expected an even number");
  return n / 2;
}

TEST(Result, is_a_value_or_what_the_world_said) {
  EXPECT_EQ(*half(4), 2);
  EXPECT_EQ(half(3).value_or(7), 7);
  EXPECT_EQ(half(3).error().with("halving"), Error(Errc::bad_input, "halving: expected an even number"));
  EXPECT_TRUE(Result<void>());
  EXPECT_FALSE(Result<void>(Error(Errc::unavailable, "no disk")));
}

TEST(Result, carries_values_that_can_only_be_moved) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 5);
}

TEST(ResultDeathTest, names_the_error_whose_value_was_asked_for) {
  EXPECT_DEATH((void)half(3).value(), "value\\(\\) of an error: expected an even number");
  EXPECT_DEATH((void)Result<void>().error(), "error\\(\\) of a success");
}

TEST(Errc, has_a_name_and_an_exit_code_each) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Errc::check_failed); ++i) names.insert(name_of(static_cast<Errc>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Errc::check_failed) + 1);
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_EQ(exit_code(Errc::check_failed), 1);
  EXPECT_EQ(exit_code(Errc::bad_input), 2);
  EXPECT_EQ(exit_code(Errc::unpriced), 2);
  EXPECT_EQ(exit_code(Errc::unavailable), 3);
}

}  // namespace
}  // namespace ace
