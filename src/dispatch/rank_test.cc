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
struct Bits {
  std::vector<std::uint64_t> words;
  std::vector<std::uint8_t> excluded;
  friend bool operator==(const Bits&, const Bits&) = default;
};

Bits run(const Kernel& kernel, const Columns& c, const Ask& ask, double floor, std::vector<std::uint8_t> excluded) {
  const std::size_t n = excluded.size();
  std::vector<double> price(n), rho(n);
  Weighed seen;
  kernel.weigh(c, ask, nanos(kNow), n, price.data(), rho.data(), excluded.data(), seen);
  seen.counts[0] = 0;
  constexpr double none = std::numeric_limits<double>::infinity();
  Best best{{none, 0, false}, {none, 0, false}};
  kernel.pick(c, ask, price.data(), rho.data(), floor, n, best);
  Bits bits{{}, std::move(excluded)};
  for (const auto* column : {&price, &rho})
    for (const double x : *column) bits.words.push_back(std::bit_cast<std::uint64_t>(x));
  for (const std::uint32_t count : seen.counts) bits.words.push_back(count);
  for (const double x : {seen.dearest_price, seen.dearest_output, best.all.key, static_cast<double>(best.all.at),
                         best.uncongested.key, static_cast<double>(best.uncongested.at)})
    bits.words.push_back(std::bit_cast<std::uint64_t>(x));
  return bits;
}

TEST(Rank, scarcity_counts_from_half_the_knee_on_and_in_full_from_nine_tenths) {
  auto fleet = learn::models(1);
  learn::add_pool(*fleet, "pool", learn::slots_only(100));
  const Snapshot snapshot(*fleet);
  Live live(snapshot);
  live.knee[0] = live.knee_by_class[0][0] = 0.8;
  live.shadow_price[0] = 1e6;  // nano-USD for the whole pool: 10,000 for one of its 100 slots
  live.scarce[0] = static_cast<std::uint8_t>(Resource::slots);
  const Columns columns = columns_from(snapshot, live, SloId{0}, ComplianceId{}, OfferId{0});
  const struct {
    double used;
    std::int64_t want;
  } cases[] = {{0.0, 0}, {0.40, 0}, {0.56, 5000}, {0.72, 10'000}, {0.95, 10'000}};  // of the knee: 0, 1/2, 0.7, 0.9...
  for (const auto& c : cases) {
    live.use[1][0] = c.used;
    EXPECT_NEAR(static_cast<double>(terms_of(columns, Ask{}, 0, 0.0, c.used).scarcity), static_cast<double>(c.want),
                1.0)
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
    for (const OfferRange& range : snapshot.ranges(request.model)) {
      const Columns c = columns_from(snapshot, live, request.slo, request.compliance, range.first);
      Ask ask;
      ask.prompt = static_cast<double>(request.prompt.value);
      ask.output_mean = request.predicted.output_mean * range.verbosity;
      ask.output_p90 = request.predicted.output_p90 * range.verbosity;
      ask.held = ask.prompt + ask.output_p90;
      ask.tokens = ask.prompt + ask.output_mean;
      ask.reference = 1e6 * rng.uniform() + ask.tokens;
      ask.failure = 2.0 * ask.reference;
      std::vector<std::uint8_t> excluded(range.count);
      for (auto& e : excluded)
        if (rng.chance(0.2)) e = static_cast<std::uint8_t>(rng.below(kExclusions));
      const Bits want = run(kScalarKernel, c, ask, snapshot.bias_floor(), excluded);
      for (const Kernel* kernel : kernels())
        ASSERT_EQ(run(*kernel, c, ask, snapshot.bias_floor(), excluded), want) << kernel->name;
      seen += range.count;
    }
  });
  EXPECT_GT(seen, std::getenv("ACE_SEED") == nullptr ? 100'000U : 0U);
}

}  // namespace
}  // namespace ace
