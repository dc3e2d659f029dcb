#include "dispatch/retry_budget.h"

#include <gtest/gtest.h>

namespace ace {
namespace {

Instant at(int seconds) { return instant(0) + seconds * kSecond; }

int allowed(RetryBudget& budget, Instant now, int asked) {
  int n = 0;
  for (int i = 0; i < asked; ++i) n += budget.spend(now);
  return n;
}

TEST(RetryBudget, is_a_fraction_of_the_last_ten_seconds) {
  RetryBudget budget(100'000);
  for (int i = 0; i < 200; ++i) budget.dispatched(at(i / 40));  // 200 over 5 s
  EXPECT_EQ(allowed(budget, at(5), 100), 20) << "10% of 200";
  EXPECT_EQ(allowed(budget, at(9), 100), 0) << "spent";
  EXPECT_EQ(allowed(budget, at(30), 100), RetryBudget::kLeast) << "the traffic is gone, a few remain";
}

TEST(RetryBudget, cannot_amplify_an_outage) {
  // Every dispatch fails and asks for a retry, which is itself a dispatch: at most a tenth more traffic, and the floor.
  RetryBudget budget(100'000);
  int dispatched = 0, retried = 0;
  for (int i = 0; i < 10'000; ++i) {
    budget.dispatched(at(i / 100));
    ++dispatched;
    if (budget.spend(at(i / 100))) ++retried;
  }
  EXPECT_LE(retried, dispatched / 10 + 11 * RetryBudget::kLeast);
  EXPECT_GE(retried, dispatched / 10 - 100);
}

TEST(RetryBudget, of_zero_allows_none) {
  RetryBudget budget(0);
  for (int i = 0; i < 1000; ++i) budget.dispatched(at(0));
  EXPECT_FALSE(budget.spend(at(0)));
}

}  // namespace
}  // namespace ace
