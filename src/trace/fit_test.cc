#include "trace/fit.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "trace/generate.h"
#include "trace/generate_testing.h"

namespace ace {
namespace {

Profile fitted(const Profile& profile) {
  auto source = generate(profile, {});
  EXPECT_TRUE(source) << source.error().what();
  const auto back = fit(**source);
  EXPECT_TRUE(back) << back.error().what();
  return *back;
}

double tokens_at(const TokenSpec& spec, double share) {
  for (const Knot& knot : spec.quantiles)
    if (knot.share == share) return knot.tokens;
  return -1.0;
}

TEST(Fit, finds_the_profile_a_trace_was_made_from) {
  Profile profile = fixture::small();
  profile.length = 8 * kDay;
  profile.rate_per_s = 1.0;
  TenantProfile& day = profile.tenants[0];
  day.share = 3.0;
  day.gaps = {GapFamily::weibull, 2.0};
  day.prefix = {2, 0.5, 60 * kSecond, 256};
  for (std::size_t hour = 0; hour < 24; ++hour) day.hours[hour] = hour < 12 ? 0.5 : 1.5;
  TenantProfile flat = day;
  flat.name = "flat";
  flat.share = 1.0;
  flat.gaps = {GapFamily::gamma, 3.0};
  flat.hours.fill(1.0);
  flat.prefix = {};
  flat.correlation = 0.6;
  flat.batch = 0.3;
  flat.max_output = {100, 400, 1600};
  profile.tenants.push_back(flat);
  const Profile back = fitted(profile);
  ASSERT_EQ(back.tenants.size(), 2U);
  EXPECT_NEAR(back.rate_per_s, 1.0, 0.02);
  const TenantProfile &a = back.tenants[0], &b = back.tenants[1];
  EXPECT_EQ(a.name, "acme");
  EXPECT_NEAR(a.share, 0.75, 0.02);
  EXPECT_EQ(a.gaps.family, GapFamily::weibull);
  EXPECT_NEAR(a.gaps.cv, 2.0, 0.1);
  for (std::size_t hour = 0; hour < 24; ++hour) EXPECT_NEAR(a.hours[hour], hour < 12 ? 0.5 : 1.5, 0.12) << hour;
  EXPECT_NEAR(tokens_at(a.prompt, 0.5), 1000, 20);
  EXPECT_NEAR(tokens_at(a.prompt, 0.99), 6430, 260);
  EXPECT_EQ(a.prefix.system_blocks, 2);
  EXPECT_NEAR(a.prefix.continued, 0.2, 0.15);  // only prompts over two blocks can go on: about half of them
  EXPECT_EQ(b.gaps.family, GapFamily::gamma);
  EXPECT_NEAR(b.gaps.cv, 3.0, 0.2);
  EXPECT_NEAR(b.correlation, 0.6, 0.06);
  EXPECT_NEAR(b.batch, 0.3, 0.02);
  EXPECT_EQ(b.max_output, (std::vector<std::int32_t>{100, 400, 1600}));
  EXPECT_EQ(b.prefix.system_blocks, 0);
}

TEST(Fit, puts_the_smallest_tenants_together) {
  Profile profile = fixture::small();
  for (int i = 0; i < 4; ++i) {
    profile.tenants.push_back(profile.tenants[0]);
    profile.tenants.back().name = "extra-" + std::to_string(i);
    profile.tenants.back().share = 0.1;
  }
  auto source = generate(profile, {});
  ASSERT_TRUE(source);
  FitOptions options;
  options.tenants_max = 1;
  const auto back = fit(**source, options);
  ASSERT_TRUE(back);
  ASSERT_EQ(back->tenants.size(), 2U);
  EXPECT_EQ(back->tenants[1].name, "other");
  EXPECT_NEAR(back->tenants[1].share, 0.4 / 1.4, 0.01);
}

TEST(Fit, gives_a_profile_that_is_usable_and_readable) {
  for_each_seed(20, [](Rng& rng) {
    GenerateOptions options;
    options.limit = 5'000;
    auto source = generate(fixture::random_profile(rng), options);
    ASSERT_TRUE(source);
    const auto profile = fit(**source);
    if (!profile) return;  // fewer than two requests
    EXPECT_TRUE(faults_of(*profile).empty()) << faults_of(*profile).front();
    const auto back = parse_profile(to_yaml(*profile), "p");
    ASSERT_TRUE(back) << back.error().what();
    EXPECT_EQ(*back, *profile);
  });
}

}  // namespace
}  // namespace ace
