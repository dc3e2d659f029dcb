#include "ledger/period.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "ledger/fold.h"

namespace ace {
namespace {

std::string said(const Result<Period>& period) {
  if (!period) return period.error().what();
  const auto day = [](Instant t) {
    return t == Instant::min() || t == Instant::max() ? std::string("open") : to_rfc3339(t);
  };
  return day(period->from) + " " + day(period->to);
}

TEST(Period, is_read_from_days_or_a_month) {
  const struct {
    const char *from, *to, *month, *want;
  } cases[] = {
      {"", "", "", "open open"},
      {"2026-01-05", "2026-01-07", "", "2026-01-05T00:00:00Z 2026-01-07T00:00:00Z"},
      {"2026-01-05", "", "", "2026-01-05T00:00:00Z open"},
      {"", "2024-02-29", "", "open 2024-02-29T00:00:00Z"},
      {"", "", "2026-12", "2026-12-01T00:00:00Z 2027-01-01T00:00:00Z"},
      {"", "", "2024-02", "2024-02-01T00:00:00Z 2024-03-01T00:00:00Z"},
      {"2026-01-05", "2026-01-05", "",
       "--to: expected a day after --from (the day itself is not part of it), got "
       "2026-01-05 to 2026-01-05"},
      {"2026-02-30", "", "", "--from: expected a UTC day as 2026-11-30, got \"2026-02-30\""},
      {"", "2026-01-05T00:00:00Z", "", "--to: expected a UTC day as 2026-11-30, got \"2026-01-05T00:00:00Z\""},
      {"", "", "2026-13", "--month: expected a month as 2026-11, got \"2026-13\""},
      {"2026-01-05", "", "2026-01", "--month or --from and --to, not both"},
  };
  for (const auto& c : cases) EXPECT_EQ(said(period_from(c.from, c.to, c.month)), c.want);
}

TEST(Period, of_a_month_holds_its_days_and_no_others) {
  const Period month = month_of(*parse_rfc3339("2026-02-28T23:59:59.999Z"));
  EXPECT_EQ(said(month), "2026-02-01T00:00:00Z 2026-03-01T00:00:00Z");
  EXPECT_TRUE(month.holds(month.from));
  EXPECT_FALSE(month.holds(month.to));
  const Period two_days{month.from - kDay, month.from + kDay};
  EXPECT_EQ(common(month, two_days), (Period{month.from, month.from + kDay}));
  const Period after{month.to + kDay, month.to + 2 * kDay}, before{month.from - 2 * kDay, month.from - kDay};
  for (const Period& apart : {common(month, after), common(after, month), common(month, before), common(before, month)})
    EXPECT_EQ(apart.from, apart.to);
}

// 100 nano-dollars over 72 hours from noon: 12 h, 24 h, 24 h, 12 h of 72 are 16.67, 33.3, 33.3, 16.67, and the
// running sums 16.67, 50, 83.3, 100 round to 17, 50, 83, 100.
TEST(Period, takes_its_part_of_a_stretch_of_fixed_cost) {
  const Instant noon = instant(12 * nanos(kHour));
  const event::FixedCost cost{
      event::FixedCost::Kind::amortization, DestinationId{0}, noon, noon + 3 * kDay, 1, Usd{100}, 500'000};
  const auto part = [&](int day) {
    return fold::part_of(cost, {instant(day * nanos(kDay)), instant((day + 1) * nanos(kDay))});
  };
  EXPECT_EQ(part(0).amount, Usd{17});
  EXPECT_EQ(part(1).amount, Usd{33});
  EXPECT_EQ(part(2).amount, Usd{33});
  EXPECT_EQ(part(3).amount, Usd{17});
  EXPECT_EQ(part(4), fold::Fixed{});
  EXPECT_EQ(fold::part_of(cost), (fold::Fixed{Usd{100}, Usd{50}}));
}

TEST(Period, parts_of_any_fixed_cost_sum_to_the_whole) {
  for_each_seed(300, [](Rng& rng) {
    event::FixedCost cost;
    cost.destination = DestinationId{0};
    cost.from = instant(rng.between(0, 10 * nanos(kDay)));
    cost.to = cost.from + Duration{rng.chance(0.1) ? 0 : rng.between(0, 40 * nanos(kDay))};
    cost.amount = Usd{rng.between(-1'000'000'000'000, 1'000'000'000'000)};
    cost.used_ppm = static_cast<std::int32_t>(rng.between(0, 1'000'000));
    fold::Fixed sum;
    Period next{Instant::min(), instant(rng.between(-3, 3) * nanos(kDay))};
    while (true) {
      sum += fold::part_of(cost, next);
      if (next.to == Instant::max()) break;
      next = {next.to, rng.chance(0.05) ? Instant::max() : next.to + rng.between(1, 5) * kDay};
    }
    EXPECT_EQ(sum, fold::part_of(cost));
  });
}

}  // namespace
}  // namespace ace
