#include "replay/pairing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "core/testing.h"
#include "ledger/ledger_testing.h"

namespace ace {
namespace {

TEST(Pairing, gives_each_request_the_amount_of_its_own_row_whichever_side_ends_first) {
  const ledger_testing::World w;
  for_each_seed(40, [&](Rng& rng) {
    Ledger ledger(w.snapshot, {});
    Pairing pairing(ledger);
    // Free on the PTU, so that the claimed saving is the other side's amount.
    struct Step {
      std::int64_t at, row;
      bool ours;
    };
    std::vector<Step> steps;
    const std::int64_t rows = rng.between(1, 3'000), apart = rng.between(1, 4'000);
    for (std::int64_t row = 1; row <= rows; ++row)
      for (const bool ours : {false, true}) steps.push_back({row + rng.between(0, apart), row, ours});
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
      return std::tuple(a.at, a.row, a.ours) < std::tuple(b.at, b.row, b.ours);
    });
    const Settled request = ledger_testing::Events(w, ledger_testing::kPtu).settled();
    Usd other{};
    for (const Step& step : steps) {
      if (step.ours)
        pairing.ours(step.row, ledger.add(request));
      else
        pairing.theirs(step.row, Usd{step.row});
      if (!step.ours) other += Usd{step.row};
    }
    EXPECT_EQ(pairing.open(), 0U);
    const Statement s = ledger.close(ledger_testing::names());
    EXPECT_EQ(s.other.requests, static_cast<std::uint64_t>(rows));
    EXPECT_EQ(s.other.baseline, other);
    EXPECT_EQ(s.other.claimed, other);
  });
}

TEST(PairingDeathTest, takes_no_request_for_the_other_half_of_another) {
  const ledger_testing::World w;
  Ledger ledger(w.snapshot, {});
  Pairing pairing(ledger);
  pairing.theirs(7, Usd{1});
  EXPECT_DEATH(pairing.theirs(7, Usd{2}), "the same row");
}

}  // namespace
}  // namespace ace
