#include "replay/sensitivity.h"

#include <gtest/gtest.h>

#include <map>

#include "core/testing.h"
#include "replay/replay_testing.h"
#include "replay/sample.h"

namespace ace {
namespace {

using replay_testing::api_fleet;
using replay_testing::made;
using replay_testing::Made;
using replay_testing::MemorySource;

std::unique_ptr<Fleet> fleet_with_pool() {
  auto fleet = api_fleet();
  fleet->destinations[0].unlimited = false;
  fleet->destinations[0].tpm = 6'000'000;
  Destination pool = replay_testing::owned_pool(replay_testing::simple_profile(), 2);
  pool.amortization_hourly = Usd{1'000'000'000};
  fleet->destinations.push_back(pool);
  fleet->electricity.flat = {100'000'000};
  return fleet;
}

MemorySource steady(std::size_t count = 400) {
  return MemorySource::of(count, [](std::size_t i) {
    return made(0.5 * static_cast<double>(i), 500 + 500 * static_cast<std::int32_t>(i % 3), 50,
                {0, static_cast<std::uint32_t>(i % 40)});
  });
}

Sensitivity table(const Fleet& fleet, MemorySource& source, SensitivityMode mode = SensitivityMode::full,
                  BaselineKind baseline = BaselineKind::all_payg) {
  RunOptions options;
  options.baseline = baseline;
  const Result<Sensitivity> made = sensitivity(fleet, source, options, mode, 400);
  EXPECT_TRUE(made) << (made ? "" : made.error().what());
  return made ? *made : Sensitivity{};
}

const SensitivityRow& row(const Sensitivity& s, std::string_view what) {
  for (const SensitivityRow& r : s.rows)
    if (r.what.starts_with(what)) return r;
  ADD_FAILURE() << "no row " << what;
  return s.rows.front();
}

TEST(Sensitivity, of_prices_moves_the_baseline_by_exactly_as_much) {
  const auto fleet = fleet_with_pool();
  MemorySource source = steady();
  const Sensitivity s = table(*fleet, source);
  const Usd base = row(s, "as given").baseline;
  // Every request has a whole number of tokens at $1 per million, so a fifth of each C0 is a whole number of nano-USD.
  EXPECT_EQ(row(s, "PAYG prices +20%").baseline.nano * 5, base.nano * 6);
  EXPECT_EQ(row(s, "PAYG prices -20%").baseline.nano * 5, base.nano * 4);
  EXPECT_EQ(row(s, "as given").change, 0.0);
  EXPECT_GT(row(s, "PAYG prices +20%").change, 0.0);
  EXPECT_LT(row(s, "PAYG prices -20%").change, 0.0);
}

TEST(Sensitivity, of_demand_repeats_or_leaves_out_about_a_fifth) {
  const auto fleet = fleet_with_pool();
  MemorySource source = steady(2000);
  const Sensitivity s = table(*fleet, source);
  const auto base = static_cast<double>(row(s, "as given").baseline.nano);
  EXPECT_NEAR(static_cast<double>(row(s, "demand +20%").baseline.nano) / base, 1.2, 0.03);
  EXPECT_NEAR(static_cast<double>(row(s, "demand -20%").baseline.nano) / base, 0.8, 0.03);
}

TEST(Sensitivity, of_owned_capacity_moves_its_fixed_cost_alike) {
  const auto fleet = fleet_with_pool();
  MemorySource source = steady();
  const Sensitivity s = table(*fleet, source);
  const auto base = static_cast<double>(row(s, "as given").fixed.nano);
  // The run may end a little sooner or later.
  EXPECT_NEAR(static_cast<double>(row(s, "owned capacity +20%").fixed.nano) / base, 1.2, 0.02);
  EXPECT_NEAR(static_cast<double>(row(s, "owned capacity -20%").fixed.nano) / base, 0.8, 0.02);
}

TEST(Sensitivity, of_what_capacity_costs_moves_the_saving_by_exactly_as_much) {
  const auto fleet = fleet_with_pool();
  MemorySource source = steady();
  const Sensitivity s = table(*fleet, source);
  const SensitivityRow &base = row(s, "as given"), &more = row(s, "price of a GPU-hour and of fees +20%"),
                       &less = row(s, "price of a GPU-hour and of fees -20%");
  ASSERT_GT(more.fixed, base.fixed);
  EXPECT_NEAR(static_cast<double>((more.fixed - base.fixed).nano), static_cast<double>((base.fixed - less.fixed).nano),
              2);
  EXPECT_EQ(base.counted - more.counted, more.fixed - base.fixed);
  EXPECT_EQ(less.counted - base.counted, base.fixed - less.fixed);
  EXPECT_EQ(more.baseline, base.baseline);
  EXPECT_EQ(base.counted, base.counted_marginal - base.fixed);
  EXPECT_EQ(base.claimed, base.counted + base.disallowed);
  // Both sides of a status quo on the same fleet pay it.
  const Sensitivity other = table(*fleet, source, SensitivityMode::full, BaselineKind::status_quo);
  EXPECT_EQ(row(other, "price of a GPU-hour and of fees +20%").counted, row(other, "as given").counted);
  EXPECT_EQ(row(other, "price of a GPU-hour and of fees +20%").baseline - row(other, "as given").baseline,
            more.fixed - base.fixed);
}

TEST(Sensitivity, is_against_the_baseline_of_the_run_and_says_so) {
  const auto fleet = fleet_with_pool();
  MemorySource source = steady();
  for (const BaselineKind baseline :
       {BaselineKind::all_payg, BaselineKind::status_quo, BaselineKind::round_robin, BaselineKind::all_payg_uncached}) {
    RunOptions options;
    options.baseline = baseline;
    options.compare_status_quo = true;
    const Snapshot snapshot(*fleet);
    ASSERT_TRUE(source.rewind());
    const Result<RunResult> main = run(snapshot, source, options);
    ASSERT_TRUE(main);
    const Sensitivity s = table(*fleet, source, SensitivityMode::full, baseline);
    for (const SensitivityRow& r : s.rows)
      EXPECT_EQ(r.against, &r == &s.rows.back() ? "cheapest-compliant-payg" : name_of(baseline)) << r.what;
    EXPECT_EQ(row(s, "as given").baseline, main->statement.baseline_cost()) << name_of(baseline);
    EXPECT_EQ(row(s, "as given").counted, main->statement.counted_saving()) << name_of(baseline);
  }
}

TEST(Sensitivity, shows_what_the_gates_took_in_each_row) {
  auto fleet = fleet_with_pool();
  fleet->slo_classes[0].tpot = Duration{15'000'000};
  MemorySource source = steady();
  RunOptions options;
  options.plant.slowdown = 2.0;  // a step is believed to take 10 ms and takes 20
  const Result<Sensitivity> made = sensitivity(*fleet, source, options, SensitivityMode::full, 400);
  ASSERT_TRUE(made);
  const SensitivityRow base = row(*made, "as given");
  EXPECT_GT(base.failed_cells, 0U);
  EXPECT_GT(base.disallowed, Usd{});
  EXPECT_GT(base.claimed_share, base.saving_share);
}

TEST(Sensitivity, gives_the_same_twice) {
  const auto fleet = fleet_with_pool();
  MemorySource source = steady();
  const Sensitivity a = table(*fleet, source), b = table(*fleet, source);
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    EXPECT_EQ(a.rows[i].what, b.rows[i].what);
    EXPECT_EQ(a.rows[i].baseline, b.rows[i].baseline);
    EXPECT_EQ(a.rows[i].counted, b.rows[i].counted);
    EXPECT_EQ(a.rows[i].fixed, b.rows[i].fixed);
    EXPECT_EQ(a.rows[i].saving_share, b.rows[i].saving_share);
  }
}

TEST(Sensitivity, refuses_a_source_that_can_be_read_only_once) {
  const auto fleet = fleet_with_pool();
  MemorySource source = steady();
  source.once = true;
  EXPECT_FALSE(sensitivity(*fleet, source, {}, SensitivityMode::full, 400));
}

TEST(Sample, is_by_tenant_and_prefix) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> kept;
  std::size_t in = 0;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const std::vector<std::uint32_t> blocks = {0, i % 500, i};  // a system prompt, a conversation, a turn
    Arrival a;
    a.row = i + 1;
    a.tenant = i % 7;
    a.blocks = blocks;
    const bool sampled = in_sample(a, 0.2, 3);
    in += sampled ? 1 : 0;
    const auto [at, fresh] = kept.try_emplace({a.tenant, i % 500}, sampled);
    EXPECT_EQ(at->second, sampled);
  }
  EXPECT_NEAR(static_cast<double>(in) / 20'000, 0.2, 0.03);
}

TEST(Sample, of_everything_on_the_whole_fleet_is_the_fleet) {
  const auto fleet = fleet_with_pool();
  EXPECT_EQ(scaled(*fleet, 1.0), *fleet);
  EXPECT_EQ(scaled_owned(*fleet, 1.0), *fleet);
}

TEST(Sample, scales_capacity_and_fixed_cost_alike) {
  auto fleet = fleet_with_pool();
  fleet->destinations[1].units.units = 40;
  Destination block = fleet->destinations[0];
  block.name = "ptu";
  block.tier = Tier::reserved;
  block.commitment_hourly = Usd{10'000'000'000};
  block.serving[0].ptu = PtuTerms{.units = 100, .tokens_per_minute_per_unit = 2500};
  fleet->destinations.push_back(block);
  const Fleet small = scaled(*fleet, 0.1);
  EXPECT_EQ(small.destinations[0].tpm, 600'000);
  EXPECT_EQ(small.destinations[1].units.units, 4);  // 40 replicas at a tenth
  EXPECT_EQ(small.destinations[1].serving[0].measured->batch_max, 8);
  EXPECT_EQ(small.destinations[1].amortization_hourly.nano, 1'000'000'000);  // of one unit
  EXPECT_EQ(
      small.destinations[2].serving[0].ptu->units * small.destinations[2].serving[0].ptu->tokens_per_minute_per_unit,
      25'000);
  EXPECT_EQ(small.destinations[2].commitment_hourly.nano, 1'000'000'000);
  // 45 replicas at a tenth are 4.5: five at nine tenths of the speed and of the price.
  fleet->destinations[1].units.units = 45;
  const Fleet odd = scaled(*fleet, 0.1);
  EXPECT_EQ(odd.destinations[1].units.units, 5);
  EXPECT_NEAR(odd.destinations[1].serving[0].measured->prefill_tokens_per_s, 9000.0, 1e-6);
  EXPECT_EQ(odd.destinations[1].amortization_hourly.nano, 900'000'000);
}

TEST(Sample, is_never_smaller_than_a_replica) {
  auto fleet = fleet_with_pool();
  EXPECT_EQ(sample_share(*fleet, 10'000), 1.0);      // fewer than 50,000 rows
  EXPECT_EQ(sample_share(*fleet, 10'000'000), 0.5);  // one of two replicas
  fleet->destinations[1].units.units = 100;
  EXPECT_EQ(sample_share(*fleet, 10'000'000), 0.05);
}

TEST(Repeated, keeps_the_order_of_time_and_copies_blocks) {
  MemorySource source = steady(1000);
  Repeated more(source, 0.3, 5);
  std::vector<Arrival> batch(7);
  Instant before = Instant::min();
  std::size_t originals = 0, copies = 0;
  for (;;) {
    const Result<std::size_t> n = more.next(batch);
    ASSERT_TRUE(n);
    if (*n == 0) break;
    for (std::size_t i = 0; i < *n; ++i) {
      EXPECT_GE(batch[i].at, before);
      before = batch[i].at;
      ASSERT_EQ(batch[i].blocks.size(), 2U);
      EXPECT_EQ(batch[i].blocks[1], (static_cast<std::uint64_t>(std::abs(batch[i].row)) - 1) % 40);
      ++(batch[i].row > 0 ? originals : copies);
    }
  }
  EXPECT_EQ(originals, 1000U);
  EXPECT_NEAR(static_cast<double>(copies), 300.0, 50.0);
}

}  // namespace
}  // namespace ace
