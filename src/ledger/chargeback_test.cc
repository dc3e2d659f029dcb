#include "ledger/chargeback.h"

#include <map>

#include <gtest/gtest.h>

#include "core/testing.h"
#include "ledger/ledger_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

const std::vector<std::string> kTeams = {"search", "ads"};

/// A closed ledger with everything in it: requests of every outcome, fixed cost everywhere, hosts, reservations.
Statement any_statement(const World& w, Rng& rng, SettlementPolicy settlement, IdlePolicy idle, int requests) {
  Ledger::Options options;
  options.settlement = settlement;
  options.idle = idle;
  options.reservations = {{kGpu, 0, 300'000}, {kGpu, 2, 500'000}, {kPtu, 1, 1'000'000}};
  Ledger ledger(w.snapshot, options);
  for (int i = 0; i < requests; ++i) ledger.add(any_request(w, rng));
  for (std::uint32_t d = 0; d < 5; ++d)
    ledger.add(event::FixedCost{event::FixedCost::Kind::amortization,
                                {d},
                                {},
                                {},
                                1,
                                {rng.between(-99, 9'999'999)},
                                rng.between(-1, 1'000'000)});
  ledger.add(event::FixedCost{event::FixedCost::Kind::hosts, {}, {}, {}, 1, {rng.between(0, 999)}});
  return ledger.close(names());
}

Usd total_of(const std::vector<ChargeLine>& lines) {
  Usd total{};
  for (const ChargeLine& line : lines) total += line.total();
  return total;
}

TEST(Chargeback, totals_are_equal_under_every_grouping_and_policy) {
  const World w;
  for_each_seed(12, [&](Rng& rng) {
    const auto settlement = static_cast<SettlementPolicy>(rng.below(3));
    for (const IdlePolicy idle :
         {IdlePolicy::by_usage, IdlePolicy::by_reservation, IdlePolicy::even, IdlePolicy::keep_idle}) {
      const Statement s = any_statement(w, rng, settlement, idle, 120);
      std::int64_t requests = 0, tokens = 0;
      for (const UsageLine& line : s.usage) {
        requests += static_cast<std::int64_t>(line.requests);
        tokens += line.input + line.cached + line.output;
      }
      for (unsigned asked = 0; asked < 1U << (kBys - 1); ++asked) {  // every set of the keys beside kind
        std::vector<By> by;
        for (std::size_t k = 1; k < kBys; ++k)
          if ((asked >> (k - 1) & 1U) != 0) by.push_back(static_cast<By>(k));
        std::int64_t requests_here = 0, tokens_here = 0;
        const std::vector<ChargeLine> lines = chargeback(s, by, {names(), kTeams});
        for (const ChargeLine& line : lines) {
          requests_here += line.requests;
          tokens_here += line.input + line.cached + line.output;
        }
        EXPECT_EQ(total_of(lines), s.c4 + s.fixed);
        EXPECT_EQ(requests_here, requests);
        EXPECT_EQ(tokens_here, tokens);
      }
    }
  });
}

TEST(Chargeback, grouped_by_everything_is_the_statement) {
  const World w;
  for_each_seed(20, [&](Rng& rng) {
    const Statement s = any_statement(w, rng, SettlementPolicy::pooled, IdlePolicy::even, 100);
    const std::vector<ChargeLine> lines =
        chargeback(s, {By::hour, By::tenant, By::team, By::model, By::destination, By::slo}, {names(), kTeams});
    ASSERT_EQ(lines.size(), s.usage.size() + s.adjustments.size());
    std::map<std::tuple<std::int64_t, std::uint32_t, std::uint32_t, ModelId, DestinationId, SloId>, ChargeLine> usage;
    for (const ChargeLine& l : lines)
      if (l.kind == ChargeKind::usage) usage[{*l.hour, *l.tenant, *l.team, l.model, l.destination, l.slo}] = l;
    for (const UsageLine& u : s.usage) {
      const ChargeLine& l = usage.at({u.hour, u.tenant, u.team, u.model, u.destination, u.slo});
      EXPECT_EQ(l.total(), u.total());
      EXPECT_EQ(l.requests, static_cast<std::int64_t>(u.requests));
      EXPECT_EQ(l.parts, u.parts);
      EXPECT_EQ(l.baseline, u.baseline);
    }
  });
}

// gpu costs 1,000,000 of which 60% was used. Tenant 1 holds half of gpu and used 30% of it, so 20% is its reserved idle
// and 20% is nobody's: 200,000 each.
TEST(Chargeback, shows_the_two_idle_rows_apart_from_usage) {
  const World w;
  Ledger::Options options;
  options.idle = IdlePolicy::keep_idle;
  options.reservations = {{kGpu, 1, 500'000}};
  Ledger ledger(w.snapshot, options);
  for (const std::uint32_t tenant : {0U, 1U})
    ledger.add(Events(w, kGpu).with([&](Events& e) { e.admitted.tenant = tenant; }).settled());
  ledger.add(event::FixedCost{event::FixedCost::Kind::amortization, kGpu, {}, {}, 1, micro(1'000'000), 600'000});
  const std::vector<ChargeLine> lines = chargeback(ledger.close(names()), {By::tenant}, {names(), kTeams});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(names()[*lines[0].tenant], "acme");  // by name, not by symbol
  EXPECT_EQ(lines[0].total(), micro(300'000 + 200));
  EXPECT_EQ(lines[1].total(), micro(300'000 + 200));
  EXPECT_EQ(lines[2].kind, ChargeKind::reserved_idle);
  EXPECT_EQ(lines[2].tenant, 1U);
  EXPECT_EQ(lines[2].total(), micro(200'000));
  EXPECT_EQ(lines[3].kind, ChargeKind::unassigned);
  EXPECT_FALSE(lines[3].tenant.has_value());
  EXPECT_EQ(lines[3].total(), micro(200'000));
}

TEST(Chargeback, reads_a_grouping_and_says_which_keys_there_are) {
  const Result<std::vector<By>> by = grouping_from("model,tenant,model");
  ASSERT_TRUE(by.has_value());
  EXPECT_EQ(*by, (std::vector<By>{By::tenant, By::model}));
  EXPECT_TRUE(grouping_from("")->empty());
  const Result<std::vector<By>> none = grouping_from("tenant,floor");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().what(),
            "expected keys of hour, tenant, team, project, model, destination, slo_class, got \"floor\"");
}

// 1,024 prompt tokens of which 300 read from cache, 200 written to it, 24 of other media; 111 output tokens of which 40
// reasoning, 11 of other media.
TEST(Chargeback, csv_counts_every_token_in_one_class) {
  const World w;
  Usage usage;
  usage.set(Unit::input, 500);
  usage.set(Unit::cached_input, 300);
  usage.set(Unit::cache_write, 200);
  usage.set(Unit::output, 60);
  usage.set(Unit::reasoning, 40);
  usage.set(Unit::audio_input, 7);
  usage.set(Unit::image_input, 8);
  usage.set(Unit::video_input, 9);
  usage.set(Unit::audio_output, 5);
  usage.set(Unit::image_output, 6);
  Ledger ledger(w.snapshot, {});
  ledger.add(Events(w, kGpu, kLarge, usage).settled());
  const Statement s = ledger.close(names());
  const std::vector<By> by = {By::tenant, By::model};
  const std::string csv = chargeback_csv(chargeback(s, by, {names(), kTeams}), by, *w.fleet, {names(), kTeams});
  EXPECT_TRUE(csv.starts_with("kind,tenant,model,requests,input_tokens,")) << csv;
  EXPECT_NE(csv.find("\nusage,beta,large,1,500,300,200,7,8,9,60,40,5,6,"), std::string::npos) << csv;
}

/// The definition: a map from the whole key.
std::vector<ChargeGroup> grouped_by_map(const ChargeTable& table, const std::vector<By>& by) {
  std::map<ChargeKey, ChargeSums> sums;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    ChargeKey key{table.key[0][row]};
    for (const By one : by) key[static_cast<std::size_t>(one)] = table.key[static_cast<std::size_t>(one)][row];
    for (std::size_t m = 0; m < kMeasures; ++m) sums[key][m] += table.sum[m][row];
  }
  std::vector<ChargeGroup> groups;
  for (const auto& [key, sum] : sums) groups.push_back({key, sum});
  return groups;
}

TEST(ChargeTable, groups_as_a_map_does_whatever_the_ranges_of_the_keys) {
  for_each_seed(60, [](Rng& rng) {
    // Small ranges take the array, wide ones the hash, the widest more than 64 bits of code.
    const std::uint32_t range = std::vector<std::uint32_t>{3, 500, 3'000'000'000}[rng.below(3)];
    const std::size_t few = 1 + rng.below(40);
    std::vector<ChargeKey> keys(few);
    for (ChargeKey& key : keys)
      for (std::uint32_t& k : key) k = static_cast<std::uint32_t>(rng.below(range));
    ChargeTable table;
    for (std::uint64_t row = 0, rows = rng.below(6000); row < rows; ++row) {
      ChargeSums sums{};
      for (std::int64_t& sum : sums) sum = rng.between(-1'000'000, 1'000'000);
      table.add(keys[rng.below(few)], sums);
    }
    std::vector<By> by;
    for (std::size_t k = 1; k < kBys; ++k)
      if (rng.chance(0.6)) by.push_back(static_cast<By>(k));
    EXPECT_EQ(grouped(table, by), grouped_by_map(table, by));
  });
}

TEST(ChargeTable, stops_at_a_sum_that_leaves_int64) {
  ChargeTable table;
  ChargeSums most{};
  most.fill(INT64_MAX);
  table.add({}, most);
  table.add({}, most);
  EXPECT_DEATH(grouped(table, {}), "left the range");
}

}  // namespace
}  // namespace ace
