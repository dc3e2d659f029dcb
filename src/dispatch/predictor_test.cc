#include "dispatch/predictor.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "core/testing.h"
#include "dispatch/learn_testing.h"

namespace ace {
namespace {

constexpr ModelId kModel{0};
constexpr SloId kChat{0}, kBatch{1};

struct World {
  std::unique_ptr<Fleet> fleet = learn::models(2);
  World() {
    fleet->slo_classes.emplace_back().deadline = kHour;
    fleet->tenants.resize(2);
  }
  Snapshot snapshot{*fleet};
};

TEST(Predictor, goes_from_class_prior_to_model_to_tenant) {
  const World world;
  Predictor predictor(world.snapshot);
  const auto mean = [&](TenantId t, SloId s) { return predictor.predict(kModel, t, s, Tokens{0}).output_mean; };
  EXPECT_LT(mean(TenantId{0}, kChat), mean(TenantId{0}, kBatch)) << "priors: batch answers are longer";
  for (std::uint32_t i = 0; i < Predictor::kEnough; ++i) predictor.completed(kModel, TenantId{0}, kChat, Tokens{100});
  EXPECT_EQ(mean(TenantId{0}, kChat), 100.0);
  EXPECT_EQ(mean(TenantId{1}, kChat), 100.0) << "an unknown tenant is predicted by the model";
  for (std::uint32_t i = 0; i < Predictor::kEnough; ++i) predictor.completed(kModel, TenantId{1}, kChat, Tokens{300});
  EXPECT_EQ(mean(TenantId{0}, kChat), 100.0);
  EXPECT_EQ(mean(TenantId{1}, kChat), 300.0);
  EXPECT_EQ(mean(TenantId{}, kChat), 200.0) << "undeclared tenants";
  EXPECT_EQ(predictor.predict(ModelId{1}, TenantId{0}, kChat, Tokens{0}).output_mean, 200.0) << "by class";
}

TEST(Predictor, the_mean_is_conditional_on_the_cap) {
  const World world;
  Predictor predictor(world.snapshot);
  // Half of the answers have 100 tokens, half 900. Under a cap of 300: (100 + 300) / 2 = 200, p90 300.
  for (int i = 0; i < 200; ++i) predictor.completed(kModel, TenantId{0}, kChat, Tokens{i % 2 == 0 ? 100 : 900});
  const auto of = [&](std::int64_t cap) { return predictor.predict(kModel, TenantId{0}, kChat, Tokens{cap}); };
  EXPECT_EQ(of(0).output_mean, 500.0);
  EXPECT_EQ(of(300).output_mean, 200.0);
  EXPECT_EQ(of(300).output_p90, 300.0);
  EXPECT_EQ(of(50).output_mean, 50.0);
  EXPECT_NEAR(of(0).output_p90, 900.0, 0.15 * 900.0);
  EXPECT_EQ(predictor.predict(ModelId{1}, TenantId{0}, kBatch, Tokens{64}).output_mean, 64.0) << "a prior, capped";
}

TEST(Predictor, is_close_to_the_samples_own_figures_and_within_the_cap) {
  for_each_seed(50, [](Rng& rng) {
    LengthSketch sketch;
    std::vector<std::int64_t> seen;
    const double scale = 20.0 + 400.0 * rng.uniform();
    for (int i = 0; i < 3000; ++i) {
      seen.push_back(1 + static_cast<std::int64_t>(rng.gamma(1.5, scale)));
      sketch.add(seen.back());
    }
    std::sort(seen.begin(), seen.end());
    for (const std::int64_t cap : {std::int64_t{0}, std::int64_t{64}, std::int64_t{512}, std::int64_t{4096}}) {
      double sum = 0.0;
      for (const std::int64_t n : seen) sum += static_cast<double>(cap > 0 ? std::min(n, cap) : n);
      const double p90 = static_cast<double>(cap > 0 ? std::min(seen[2699], cap) : seen[2699]);
      const Prediction p = sketch.capped(cap);
      EXPECT_NEAR(p.output_mean, sum / 3000, 0.06 * sum / 3000) << cap;
      EXPECT_NEAR(p.output_p90, p90, 0.15 * p90) << cap;
      EXPECT_LE(p.output_p90, cap > 0 ? static_cast<double>(cap) : 1e9);
    }
  });
}

TEST(Predictor, forgets_slowly) {
  LengthSketch sketch;
  for (int i = 0; i < 20'000; ++i) sketch.add(100);
  for (int i = 0; i < 20'000; ++i) sketch.add(1000);
  EXPECT_GT(sketch.capped(0).output_mean, 950.0);
}

}  // namespace
}  // namespace ace
