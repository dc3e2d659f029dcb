#include "replay/beside.h"

#include <gtest/gtest.h>

#include "core/testing.h"

namespace ace {
namespace {

Settled of_row(std::int64_t row) {
  Settled s;
  s.admitted.row = row;
  return s;
}

TEST(Beside, gives_each_request_its_own_amount_in_the_order_settled) {
  for_each_seed(200, [](Rng& rng) {
    std::vector<std::int64_t> settled, given;
    Beside beside([&](const Settled& s, Usd spent) {
      EXPECT_EQ(spent, Usd{10 * s.admitted.row});
      given.push_back(s.admitted.row);
    });
    std::vector<std::pair<std::int64_t, bool>> ends;  // row, by our side
    for (std::int64_t row = 1; row <= 100; ++row) {
      ends.emplace_back(row, true);
      if (row % 7 != 0) ends.emplace_back(row, false);  // of every seventh the log says what it cost
    }
    rng.shuffle(std::span(ends));
    for (const auto& [row, ours] : ends) {
      if (!ours) {
        beside.theirs(row, Usd{10 * row});
        continue;
      }
      settled.push_back(row);
      beside.ours(of_row(row), row % 7 == 0 ? std::optional(Usd{10 * row}) : std::nullopt);
    }
    EXPECT_EQ(given, settled);
    EXPECT_EQ(beside.open(), 0U);
  });
}

}  // namespace
}  // namespace ace
