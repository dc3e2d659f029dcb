#include "dispatch/retry_budget.h"

#include <gtest/gtest.h>

namespace ace {
namespace {

Instant at(int seconds) { return instant(0) + seconds * kSecond; }

constexpr std::int64_t kLeast = 3;

int allowed(RetryBudget& budget, Instant now, int asked) {
  int n = 0;
  for (int i = 0; i < asked; ++i) n += budget.spend(now);
  return n;
}

TEST(RetryBudget, is_a_fraction_of_the_last_ten_seconds) {
  RetryBudget budget(100'000, kLeast);
  for (int i = 0; i < 200; ++i) budget.dispatched(at(i / 40));  // 200 over 5 s
  EXPECT_EQ(allowed(budget, at(5), 100), 20) << "10% of 200";
  EXPECT_EQ(allowed(budget, at(9), 100), 0) << "spent";
  EXPECT_EQ(allowed(budget, at(30), 100), kLeast) << "the traffic is gone, a few remain";
}

TEST(RetryBudget, cannot_amplify_an_outage) {
  // Every dispatch fails and asks for a retry, which is itself a dispatch: at most a tenth more traffic, and the floor.
  RetryBudget budget(100'000, kLeast);
  int dispatched = 0, retried = 0;
  for (int i = 0; i < 10'000; ++i) {
    budget.dispatched(at(i / 100));
    ++dispatched;
    if (budget.spend(at(i / 100))) ++retried;
  }
  EXPECT_LE(retried, dispatched / 10 + 11 * kLeast);
  EXPECT_GE(retried, dispatched / 10 - 100);
}

TEST(RetryBudget, has_a_floor_below_which_traffic_does_not_matter) {
  for (const std::int64_t least : {0, 1, 7}) {
    RetryBudget budget(100'000, least);
    for (int i = 0; i < 9; ++i) budget.dispatched(at(0));
    EXPECT_EQ(allowed(budget, at(0), 100), least) << "a tenth of nine is none";
    EXPECT_EQ(allowed(budget, at(9), 100), 0);
    EXPECT_EQ(allowed(budget, at(10), 100), least) << "ten seconds later as many again";
    for (int i = 0; i < 200; ++i) budget.dispatched(at(10));
    EXPECT_EQ(allowed(budget, at(10), 100), 20 - least) << "it is no addition to the share";
  }
}

TEST(RetryBudget, of_zero_allows_none) {
  RetryBudget budget(0, kLeast);
  for (int i = 0; i < 1000; ++i) budget.dispatched(at(0));
  EXPECT_FALSE(budget.spend(at(0)));
}

}  // namespace
}  // namespace ace
