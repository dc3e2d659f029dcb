#include "dispatch/rank.h"

#include <bit>

#include "core/testing.h"
#include "dispatch/generate_testing.h"
#include "dispatch/learn_testing.h"
#include "dispatch/weigh.h"

namespace ace {
namespace {

const Instant kNow = instant(1'780'000'000'000'000'000);

TEST(Congestion, is_v_at_the_knee_and_zero_up_to_98_percent_of_it) {
  for (const double k : {0.05, 0.3, 0.9, 0.98}) {
    EXPECT_EQ(congestion(0.0, k), 0.0);
    EXPECT_EQ(congestion(0.98 * k, k), 0.0) << k;
    EXPECT_DOUBLE_EQ(congestion(k, k), 1.0) << k;
    // half way between a and k the square is a quarter
    EXPECT_NEAR(congestion(0.99 * k, k), 0.25, 1e-9) << k;
  }
  EXPECT_EQ(congestion(1.0, 0.9), std::numeric_limits<double>::infinity());
  // k = 0.9, rho = 0.95: s = (0.95 - 0.882) / 0.018 = 3.7778, tangent 1 + 2 x 2.7778 = 6.5556,
  // pole ((0.95 - 0.9) / (1 - 0.95))^2 = 1, together 7.5556
  EXPECT_NEAR(congestion(0.95, 0.9), 7.5555555556, 1e-8);
}

TEST(Congestion, is_convex_continuous_and_never_falls) {
  for (const double k : {0.05, 0.3, 0.5, 0.9, 0.98}) {
    const double step = 1e-4;
    double before = 0.0, slope_before = 0.0;
    for (double rho = step; rho < 0.999; rho += step) {
      const double cost = congestion(rho, k);
      const double slope = (cost - before) / step;
      ASSERT_GE(slope, -1e-9) << k << " at " << rho;
      ASSERT_GE(slope, slope_before - 1e-6 * (1.0 + slope_before)) << k << " at " << rho;
      before = cost;
      slope_before = slope;
    }
    EXPECT_NEAR(congestion(k + 1e-9, k), congestion(k - 1e-9, k), 1e-5) << k;
    EXPECT_GT(congestion(0.9999999, k), 1e10 * (1 - k) * (1 - k)) << k;
  }
}

TEST(Rank, rounds_to_whole_nanos_and_keeps_sums_exact) {
  EXPECT_EQ(round_nano(2.5), 2.0);  // ties to even
  EXPECT_EQ(round_nano(3.5), 4.0);
  EXPECT_EQ(round_nano(-2.6), -3.0);
  EXPECT_EQ(round_nano(1e300), 0x1p50);
  EXPECT_EQ(round_nano(-1e300), -0x1p50);
  EXPECT_EQ(round_nano(0x1p50 - 1.0), 0x1p50 - 1.0);
}

/// Everything that a kernel computes, as bits.
std::vector<std::uint64_t> run(const Kernel& kernel, const Columns& c, const Ask& ask, double floor,
                               const OfferRange& range, std::vector<Lot> lots) {
  Column<double> price(lots.size() * kLot);
  Weighed seen;
  const std::size_t first = range.first.value;
  kernel.weigh(c, ask, nanos(kNow), first, range.count, lots.data(), price.data(), seen);
  constexpr double none = std::numeric_limits<double>::infinity();
  Best best{{none, 0, false}, {none, 0, false}};
  kernel.pick(c, ask, first, range.count, lots.data(), price.data(), floor, best);
  std::vector<std::uint64_t> words;
  for (std::size_t l = 0; l < lots.size(); ++l) {
    words.insert(words.end(), {lots[l].in, lots[l].saturated});
    for (std::size_t i = 0; i < kLot; ++i)  // nobody reads the price of what is out
      if (((lots[l].in | lots[l].saturated) >> i & 1U) != 0)
        words.push_back(std::bit_cast<std::uint64_t>(price[l * kLot + i]));
  }
  words.insert(words.end(), seen.excluded.begin(), seen.excluded.end());
  words.insert(words.end(), {seen.feasible, best.all.offer, best.uncongested.offer});
  for (const double x : {seen.dearest_price, seen.dearest_output, best.all.key, best.uncongested.key})
    words.push_back(std::bit_cast<std::uint64_t>(x));
  return words;
}

TEST(Rank, scarcity_counts_from_half_the_knee_on_and_in_full_from_nine_tenths) {
  auto fleet = learn::models(1);
  learn::add_pool(*fleet, "pool", learn::slots_only(100));
  const Snapshot snapshot(*fleet);
  Live live(snapshot);
  live.knee[0] = live.knee_by_class[0][0] = 0.8;
  live.shadow_price[0] = 1e6;  // nano-USD for the whole pool: 10,000 for one of its 100 slots
  live.scarce[0] = static_cast<std::uint8_t>(Resource::slots);
  const Columns columns = columns_of(snapshot, live, SloId{0});
  const struct {
    double used;
    std::int64_t want;
  } cases[] = {{0.0, 0}, {0.40, 0}, {0.56, 5000}, {0.72, 10'000}, {0.95, 10'000}};  // of the knee: 0, 1/2, 0.7, 0.9...
  for (const auto& c : cases) {
    live.use[1][0] = c.used;
    EXPECT_NEAR(static_cast<double>(terms_of(columns, Ask{}, 0, 0.0).scarcity), static_cast<double>(c.want), 1.0)
        << c.used;
  }
}

TEST(Rank, kernels_agree_to_the_bit_on_a_hundred_thousand_candidates) {
  std::size_t seen = 0;
  for_each_seed(4000, [&](Rng& rng) {
    const auto fleet = gen::fleet(rng, 70);
    const Snapshot snapshot(*fleet);
    const Live live = gen::live(rng, snapshot, kNow);
    const Request request = gen::request(rng, *fleet);
    const Columns c = columns_of(snapshot, live, request.slo);
    for (const OfferRange& range : snapshot.ranges(request.model)) {
      Ask ask;
      ask.prompt = static_cast<double>(request.prompt.value);
      ask.output_mean = request.predicted.output_mean * range.verbosity;
      ask.output_p90 = request.predicted.output_p90 * range.verbosity;
      ask.held = ask.prompt + ask.output_p90;
      ask.tokens = ask.prompt + ask.output_mean;
      ask.reference = 1e6 * rng.uniform() + ask.tokens;
      ask.failure = 2.0 * ask.reference;
      std::vector<Lot> lots(range.lots());
      for (Lot& lot : lots)
        for (std::size_t i = 0; i < kLot; ++i) {
          lot.barred |= std::uint64_t{rng.chance(0.15)} << i;
          lot.attempted |= std::uint64_t{rng.chance(0.05)} << i;
        }
      const auto want = run(kScalarKernel, c, ask, snapshot.bias_floor(), range, lots);
      for (const Kernel* kernel : kernels())
        ASSERT_EQ(run(*kernel, c, ask, snapshot.bias_floor(), range, lots), want) << kernel->name;
      seen += range.count;
    }
  });
  EXPECT_GT(seen, std::getenv("ACE_SEED") == nullptr ? 100'000U : 0U);
}

}  // namespace
}  // namespace ace
