#include "trace/generate.h"

#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "core/hash.h"
#include "core/numeric.h"
#include "core/statistics.h"
#include "core/testing.h"
#include "trace/generate_testing.h"

namespace ace {
namespace {

using fixture::all_of;
using fixture::digest;
using fixture::small;

/// What the rich profile has given since its first version; a change here breaks every recorded --seed.
constexpr std::uint64_t kGoldenOfRich = 7'228'457'391'194'571'077U;

std::unique_ptr<RequestSource> made(const Profile& profile, const GenerateOptions& options = {}) {
  auto source = generate(profile, options);
  EXPECT_TRUE(source) << source.error().what();
  return std::move(source).value();
}

double gap_cv(const std::vector<fixture::Kept>& rows) {
  Moments gaps;
  for (std::size_t i = 1; i < rows.size(); ++i) gaps.add(static_cast<double>(nanos(rows[i].a.at - rows[i - 1].a.at)));
  return gaps.cv();
}

TEST(Generate, gives_the_same_bytes_for_the_same_seed_on_every_machine) {
  GenerateOptions options;
  options.seed = 7;
  auto source = made(fixture::rich(), options);
  const std::uint64_t once = digest(all_of(*source));
  ASSERT_TRUE(source->rewind());
  EXPECT_EQ(digest(all_of(*source)), once) << "after rewind";
  EXPECT_EQ(digest(all_of(*made(fixture::rich(), options))), once) << "from a second generator";
  EXPECT_EQ(once, kGoldenOfRich);
  options.seed = 8;
  EXPECT_NE(digest(all_of(*made(fixture::rich(), options))), once);
}

TEST(Generate, does_not_depend_on_how_it_is_read) {
  auto source = made(fixture::rich());
  const std::uint64_t whole = digest(all_of(*source, 4096));
  ASSERT_TRUE(source->rewind());
  EXPECT_EQ(digest(all_of(*source, 7)), whole);
}

TEST(Generate, meets_its_rate_within_one_percent) {
  // 100 requests/s for an hour: 360,000 expected; Poisson, so the deviation is 600.
  EXPECT_NEAR(static_cast<double>(all_of(*made(small())).size()), 360'000.0, 3'600.0);
}

TEST(Generate, meets_the_burstiness_it_was_asked_for_within_five_percent) {
  for (const GapFamily family : {GapFamily::gamma, GapFamily::weibull}) {
    for (const double cv : {0.5, 1.0, 2.0, 4.0}) {
      Profile profile = small();
      profile.length = kHour;
      profile.tenants[0].gaps = {family, cv};
      const auto rows = all_of(*made(profile));
      EXPECT_NEAR(gap_cv(rows) / cv, 1.0, 0.05) << "cv " << cv << (family == GapFamily::gamma ? " gamma" : " weibull");
      // A renewal process of CV c has counts of variance c^2 n: 4 deviations.
      EXPECT_NEAR(static_cast<double>(rows.size()), 360'000.0, 4 * std::max(cv, 1.0) * std::sqrt(360'000.0));
    }
  }
}

TEST(Generate, follows_the_hours_and_days_of_its_profile) {
  Profile profile = small();
  profile.rate_per_s = 2.0;
  profile.length = 14 * kDay;
  TenantProfile& tenant = profile.tenants[0];
  tenant.hours.fill(1.0);
  tenant.hours[9] = 25.0;               // mean 2: at nine 12.5 times the mean, else half of it
  tenant.days = {1, 1, 1, 1, 1, 1, 8};  // mean 2: Sundays 4 times the mean, else half of it
  std::map<std::pair<bool, bool>, double> counts;
  for (const auto& row : all_of(*made(profile)))
    ++counts[{civil_of(row.a.at).hour == 9, (day_of(row.a.at) + 3) % 7 == 6}];
  const double hour = 2.0 * 3600;  // requests of a mean hour
  const struct {
    bool nine, sunday;
    double hours, factor;
  } cases[] = {
      {false, false, 12 * 23, 0.25}, {true, false, 12, 6.25}, {false, true, 2 * 23, 2.0}, {true, true, 2, 50.0}};
  for (const auto& c : cases) {
    const double want = hour * c.hours * c.factor;
    EXPECT_NEAR((counts[{c.nine, c.sunday}]), want, 4 * std::sqrt(want)) << c.nine << c.sunday;
  }
  // (12 x 23 x 0.25 + 12 x 6.25 + 46 x 2 + 2 x 50) hours = 336: the mean rate is kept.
  EXPECT_NEAR(expected_requests(profile, profile.start, profile.start + profile.length), 2.0 * 14 * 86400, 1e-3);
}

TEST(Generate, raises_the_load_in_episodes_and_keeps_the_mean) {
  Profile profile = small();
  profile.rate_per_s = 1.0;
  profile.length = 60 * kDay;
  profile.tenants[0].episodes = {4.0, 10 * kMinute, 6.0};
  std::map<std::int64_t, double> by_step;
  double all = 0;
  const auto source = made(profile);
  std::vector<Arrival> batch(4096);
  while (const std::size_t n = *source->next(batch)) {
    for (const Arrival& arrival : std::span(batch).first(n)) ++by_step[nanos(arrival.at) / nanos(5 * kMinute)];
    all += static_cast<double>(n);
  }
  // About 4 x 2 of 288 steps are raised: mean factor 1 + 5 x 0.0276 = 1.138; base 300 / 1.138 = 264, raised 1,582.
  double raised = 0;
  for (const auto& [step, count] : by_step) raised += count > 800 ? 1 : 0;
  EXPECT_NEAR(raised / 60.0, 7.95, 2.0);
  EXPECT_NEAR(all / (1.0 * 60 * 86400), 1.0, 0.03);  // 240 episodes: their number alone moves it by 0.8%
}

TEST(Generate, draws_lengths_with_the_quantiles_of_the_profile) {
  Profile profile = small();
  Histogram prompt, output;
  for (const auto& row : all_of(*made(profile))) {
    prompt.add(row.a.prompt);
    output.add(row.a.output);
  }
  // Log-normal, median 1,000, sigma 0.8: p90 = 1000 e^(0.8 x 1.28155) = 2788, p99 = 1000 e^(0.8 x 2.32635) = 6430,
  // mean 1000 e^0.32 = 1377.
  EXPECT_NEAR(static_cast<double>(prompt.quantile(0.5)), 1000, 10);
  EXPECT_NEAR(static_cast<double>(prompt.quantile(0.9)), 2788, 30);
  EXPECT_NEAR(static_cast<double>(prompt.quantile(0.99)), 6430, 130);
  EXPECT_NEAR(prompt.mean(), 1377, 10);
  EXPECT_NEAR(static_cast<double>(output.quantile(0.5)), 100, 2);
  EXPECT_NEAR(static_cast<double>(output.quantile(0.25)), 10, 1);  // log-linear between 1 and 100
  EXPECT_LE(output.max(), 1000);
  EXPECT_GE(output.min(), 1);
}

TEST(Generate, extends_earlier_prompts_block_by_block) {
  Profile profile = small();
  profile.tenants[0].prefix = {2, 0.6, 5 * kSecond, 256};
  std::set<std::uint32_t> seen;
  double continued = 0, longer = 0;
  std::vector<std::uint32_t> system;
  for (const auto& row : all_of(*made(profile))) {
    ASSERT_EQ(row.blocks.size(), static_cast<std::size_t>((row.a.prompt + 511) / 512));
    const std::size_t whole = static_cast<std::size_t>(row.a.prompt / 512);
    if (whole < 2) continue;
    if (system.empty()) system.assign(row.blocks.begin(), row.blocks.begin() + 2);
    EXPECT_EQ(std::vector(row.blocks.begin(), row.blocks.begin() + 2), system);
    if (whole < 3) continue;
    ++longer;
    continued += seen.insert(row.blocks[2]).second ? 0 : 1;
    // Blocks after a new one are new as well: a prefix is unbroken.
    bool fresh = false;
    for (std::size_t i = 3; i < row.blocks.size(); ++i) {
      const bool new_here = seen.insert(row.blocks[i]).second;
      ASSERT_TRUE(new_here || !fresh);
      fresh |= new_here;
    }
  }
  EXPECT_NEAR(continued / longer, 0.6, 0.1);
}

TEST(Generate, keeps_the_rank_correlation_of_prompt_and_output) {
  for (const double want : {-0.5, 0.0, 0.7}) {
    Profile profile = small();
    profile.tenants[0].correlation = want;
    profile.tenants[0].prompt.mixture.clear();
    profile.tenants[0].prompt.quantiles = {{0.0, 0.0}, {1.0, 1e6}};  // uniform from 0: values are ranks
    profile.tenants[0].output = profile.tenants[0].prompt;
    double product = 0;
    const auto rows = all_of(*made(profile));
    for (const auto& row : rows) product += (row.a.prompt / 1e6 - 0.5) * (row.a.output / 1e6 - 0.5);
    EXPECT_NEAR(12.0 * product / static_cast<double>(rows.size()), want, 0.01);
  }
}

TEST(Generate, asks_for_the_least_limit_that_holds_the_output) {
  Profile profile = small();
  profile.tenants[0].max_output = {800, 50, 200};
  for (const auto& row : all_of(*made(profile))) {
    EXPECT_LE(row.a.output, row.a.max_output);
    EXPECT_EQ(row.a.max_output, row.a.output <= 50 ? 50 : row.a.output <= 200 ? 200 : 800);
  }
}

TEST(Generate, stops_at_its_limit_and_makes_days_alone) {
  GenerateOptions options;
  options.limit = 1234;
  EXPECT_EQ(all_of(*made(small(), options)).size(), 1234U);
  Profile profile = fixture::rich();
  profile.length = 3 * kDay;
  profile.rate_per_s = 0.5;
  auto whole = all_of(*made(profile));
  std::erase_if(whole, [&](const fixture::Kept& row) {
    return row.a.at < profile.start + kDay || row.a.at >= profile.start + 2 * kDay;
  });
  options = {};
  options.first_day = options.last_day = 2;
  const auto day = all_of(*made(profile, options));
  ASSERT_EQ(day.size(), whole.size());
  EXPECT_EQ(day.front().a.row, 1);
  for (std::size_t i = 0; i < day.size(); ++i) {
    EXPECT_EQ(day[i].a.at, whole[i].a.at);
    EXPECT_EQ(day[i].a.prompt, whole[i].a.prompt);
    EXPECT_EQ(day[i].blocks, whole[i].blocks);
  }
}

TEST(Generate, refuses_what_it_cannot_make) {
  Profile profile = small();
  profile.tenants.clear();
  EXPECT_FALSE(generate(profile, {}));
  GenerateOptions options;
  options.scale = 0.0;
  EXPECT_FALSE(generate(small(), options));
  options = {};
  options.first_day = 3;
  options.last_day = 2;
  EXPECT_FALSE(generate(small(), options));
}

TEST(Generate, holds_its_laws_for_random_profiles) {
  for_each_seed(60, [](Rng& rng) {
    const Profile profile = fixture::random_profile(rng);
    GenerateOptions options;
    options.seed = rng.next();
    options.limit = 20'000;
    auto source = made(profile, options);
    Instant before = profile.start;
    std::int64_t number = 0;
    for (const auto& row : all_of(*source, 1 + rng.below(3000))) {
      EXPECT_GE(row.a.at, before) << "time goes backwards";
      EXPECT_LT(row.a.at, profile.start + profile.length);
      EXPECT_EQ(row.a.row, ++number);
      EXPECT_GE(row.a.prompt, 1);
      EXPECT_GE(row.a.output, 1);
      EXPECT_LT(row.a.tenant, source->tenants().size());
      EXPECT_LT(row.a.model, source->models().size());
      before = row.a.at;
    }
  });
}

TEST(Gaps, have_mean_one_and_start_in_equilibrium) {
  for (const GapFamily family : {GapFamily::gamma, GapFamily::weibull}) {
    for (const double shape : {0.3, 0.7, 1.0, 2.5, 40.0}) {
      Rng rng(3, "gaps");
      Gaps gaps(family, shape);
      Moments gap, left;
      for (int i = 0; i < 200'000; ++i) {
        gap.add(gaps.next(rng));
        left.add(gaps.residual(rng));
      }
      const double cv = cv_of(family, shape);
      EXPECT_NEAR(gap.mean, 1.0, 4 * cv / std::sqrt(200'000.0) + 1e-9) << shape;
      EXPECT_NEAR(gap.cv() / cv, 1.0, 0.04) << shape;
      // Mean of the forward recurrence time: (1 + cv^2) / 2.
      EXPECT_NEAR(left.mean / (0.5 * (1.0 + cv * cv)), 1.0, 0.02) << shape;
    }
  }
}

TEST(Gaps, know_their_shape_from_the_coefficient_of_variation) {
  for (const GapFamily family : {GapFamily::gamma, GapFamily::weibull})
    for (const double cv : {0.1, 0.5, 1.0, 3.0, 13.0}) EXPECT_NEAR(cv_of(family, shape_of(family, cv)), cv, 1e-6 * cv);
  EXPECT_NEAR(median_gap(GapFamily::gamma, 1.0), 0.693147, 1e-5);
  EXPECT_NEAR(median_gap(GapFamily::weibull, 1.0), 0.693147, 1e-5);
  EXPECT_NEAR(median_gap(GapFamily::gamma, 2.0), 0.839173, 1e-5);  // 1.678347 / 2
}

TEST(FastMath, stays_close_to_the_exact_one) {
  for_each_seed(200, [](Rng& rng) {
    const double x = numeric::exp(rng.uniform() * 600.0 - 300.0);
    EXPECT_NEAR(fast_log(x), numeric::log(x), 1e-10);
    const double y = rng.uniform() * 1000.0 - 500.0;
    EXPECT_NEAR(fast_exp(y) / numeric::exp(y), 1.0, 1e-10);
  });
}

TEST(TokenTable, meets_the_mean_and_the_percentiles_it_was_made_from) {
  // First row of a published table: mean 427.532, p50 275, p90 380, p99 4826.
  const TokenTable table = TokenTable::from_statistics(427.532, 275, 380, 4826);
  EXPECT_NEAR(table.at(0.5), 275, 1);
  EXPECT_NEAR(table.at(0.9), 380, 1);
  EXPECT_NEAR(table.at(0.99), 4826, 10);
  EXPECT_NEAR(table.mean(), 427.532, 0.02 * 427.532);
}

}  // namespace
}  // namespace ace
