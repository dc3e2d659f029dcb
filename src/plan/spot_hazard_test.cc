#include "plan/spot_hazard.h"

#include "core/numeric.h"
#include "core/testing.h"

namespace ace {
namespace {

TEST(SpotHazard, the_gamma_distribution_has_its_published_values) {
  // Shape 1 is exponential; the others are half of chi-squared quantiles (NIST table, 95% with 2, 10 and 100 degrees).
  EXPECT_NEAR(gamma_share(1.0, 2.0), 1.0 - numeric::exp(-2.0), 1e-13);
  EXPECT_NEAR(gamma_quantile(1.0, 0.95), 5.991 / 2, 5e-4);
  EXPECT_NEAR(gamma_quantile(5.0, 0.95), 18.307 / 2, 5e-4);
  EXPECT_NEAR(gamma_quantile(50.0, 0.95), 124.342 / 2, 5e-4);
  EXPECT_NEAR(gamma_quantile(0.5, 0.95), 3.841 / 2, 5e-4);
  for_each_seed(200, [](Rng& rng) {
    const double shape = 0.1 + 200.0 * rng.uniform(), share = 0.001 + 0.998 * rng.uniform();
    EXPECT_NEAR(gamma_share(shape, gamma_quantile(shape, share)), share, 1e-9) << shape;
  });
}

TEST(SpotHazard, without_losses_the_bound_falls_with_the_hours) {
  SpotHazard hazard;
  EXPECT_NEAR(hazard.rate(), 0.05, 1e-12);
  double before = hazard.rate_upper(0.95);
  for (int i = 0; i < 5; ++i) {
    hazard.held(10.0, 10 * kHour);
    EXPECT_LT(hazard.rate_upper(0.95), before);
    before = hazard.rate_upper(0.95);
  }
  // 0.5 losses in 510 unit-hours.
  EXPECT_NEAR(hazard.rate(), 0.5 / 510.0, 1e-12);
  EXPECT_NEAR(hazard.chance_per_hour(), 1.0 - numeric::exp(0.5 * numeric::log(510.0 / 511.0)), 1e-15);
  EXPECT_GT(hazard.chance_per_hour(0.95), hazard.chance_per_hour());
  EXPECT_LT(hazard.chance_per_hour(0.95), hazard.rate_upper(0.95));
}

TEST(SpotHazard, losses_in_bunches_leave_the_rate_and_take_confidence) {
  SpotHazard single({0.0, 0.0}), bunched({0.0, 0.0});
  single.held(100.0, 10 * kHour);
  bunched.held(100.0, 10 * kHour);
  for (int i = 0; i < 40; ++i) single.taken(1);
  for (int i = 0; i < 4; ++i) bunched.taken(10);
  EXPECT_NEAR(single.rate(), 0.04, 1e-12);
  EXPECT_NEAR(bunched.rate(), 0.04, 1e-12);
  EXPECT_GT(bunched.rate_upper(0.95), single.rate_upper(0.95));
}

TEST(SpotHazard, the_bound_lies_above_the_true_rate_as_often_as_it_says) {
  Rng rng(7, "coverage");
  int covered = 0;
  constexpr int kWorlds = 4000;
  for (int i = 0; i < kWorlds; ++i) {
    const double rate = 0.02 + 0.2 * rng.uniform();
    SpotHazard hazard({0.5, 1e-9});  // Jeffreys' prior
    double at = 0.0;                 // unit-hours
    for (;;) {
      const double next = at + rng.exponential(1.0 / rate);
      if (next > 200.0) break;
      at = next;
      hazard.taken(1);
    }
    hazard.held(200.0, kHour);
    covered += hazard.rate_upper(0.95) >= rate ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(covered) / kWorlds, 0.95, 0.015);
}

TEST(SpotHazard, learns_a_log_as_the_fleet_file_does) {
  const CapacityLog log = *parse_capacity("0,4\n10,4\n10,2\n20,2\n");  // hours: 60 unit-hours, one loss of two
  SpotHazard hazard({0.0, 0.0});
  hazard.learn(log);
  EXPECT_NEAR(hazard.unit_hours(), 60.0, 1e-9);
  EXPECT_EQ(hazard.losses(), 1);
  EXPECT_NEAR(1.0 - numeric::exp(-hazard.rate()), log.hazard_per_hour(), 1e-12);
  EXPECT_EQ(available_steps(log, 3, 5 * kHour), (std::vector<std::uint8_t>{1, 1, 0, 0, 0}));
}

}  // namespace
}  // namespace ace
