#include "replay/winner_tree.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/testing.h"

namespace ace {
namespace {

TEST(WinnerTree, always_names_the_least_and_the_first_of_equals) {
  for_each_seed(100, [](Rng& rng) {
    const auto n = static_cast<std::size_t>(rng.between(1, 40));
    WinnerTree tree(n);
    std::vector<double> values(n, WinnerTree::kNever);
    for (int step = 0; step < 200; ++step) {
      const auto at = static_cast<std::size_t>(rng.below(n));
      values[at] = rng.chance(0.1) ? WinnerTree::kNever : static_cast<double>(rng.below(10));
      tree.set(at, values[at]);
      const auto least = std::min_element(values.begin(), values.end());
      ASSERT_EQ(tree.least(), *least);
      if (*least == WinnerTree::kNever) continue;
      ASSERT_EQ(tree.position(), static_cast<std::size_t>(least - values.begin()));
    }
  });
}

}  // namespace
}  // namespace ace
