#include "ledger/settlement.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "ledger/ledger_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

constexpr SettlementPolicy kPolicies[] = {SettlementPolicy::pooled, SettlementPolicy::clearing,
                                          SettlementPolicy::as_dispatched};
constexpr IdlePolicy kIdle[] = {IdlePolicy::by_usage, IdlePolicy::by_reservation, IdlePolicy::even,
                                IdlePolicy::keep_idle};

Usd charged_to(const Statement& s, std::uint32_t tenant) {
  Usd sum{};
  for (const UsageLine& line : s.usage)
    if (line.tenant == tenant) sum += line.total();
  for (const Adjustment& row : s.adjustments)
    if (row.tenant == tenant) sum += row.amount;
  return sum;
}

Usd row_of_kind(const Statement& s, Adjustment::Kind kind, std::optional<std::uint32_t> tenant = {}) {
  Usd sum{};
  for (const Adjustment& row : s.adjustments)
    if (row.kind == kind && row.tenant == tenant) sum += row.amount;
  return sum;
}

Settled by(const World& w, std::uint32_t tenant, DestinationId where) {
  return Events(w, where).with([&](Events& e) { e.admitted.tenant = tenant; }).settled();
}

// Normalized tokens of large: input 1, cached 1/10, output 40/10 = 4. One request of 1,000 + 100 is 1,400 of them.
// Tenant 0 ran on gpu for 200 millionths, tenant 1 at alt for 11,200: together 11,400.
TEST(Settlement, splits_one_interval_by_three_policies) {
  const World w;
  const std::vector<Settled> requests = {by(w, 0, kGpu), by(w, 1, kAlt)};
  Ledger::Options options;
  const Statement pooled = closed(w, requests, options);
  EXPECT_EQ(charged_to(pooled, 0), micro(5'700));  // the average
  EXPECT_EQ(charged_to(pooled, 1), micro(5'700));
  ASSERT_EQ(pooled.clearing.size(), 1U);
  EXPECT_EQ(pooled.clearing[0].dearest, kAlt);
  EXPECT_EQ(to_decimal(pooled.clearing[0].clearing), "8.00");        // 11,200 / 1,400
  EXPECT_EQ(to_decimal(pooled.clearing[0].average), "4.071428571");  // 11,400 / 2,800

  options.settlement = SettlementPolicy::as_dispatched;
  const Statement dispatched = closed(w, requests, options);
  EXPECT_EQ(charged_to(dispatched, 0), micro(200));
  EXPECT_EQ(charged_to(dispatched, 1), micro(11'200));

  // Both pay 11,200; the surplus of 11,000 returns to who holds gpu: tenant 1 a quarter of it, the operator the rest.
  options.settlement = SettlementPolicy::clearing;
  options.reservations = {{kGpu, 1, 250'000}};
  const Statement cleared = closed(w, requests, options);
  EXPECT_EQ(charged_to(cleared, 0), micro(11'200));
  EXPECT_EQ(charged_to(cleared, 1), micro(11'200 - 2'750));
  EXPECT_EQ(row_of_kind(cleared, Adjustment::Kind::surplus), micro(-8'250));
}

// gpu costs 1,000,000 in the window, 60% of it used: by tenants 0 and 1 in equal parts, so 30% each.
TEST(Settlement, gives_idle_to_who_reserved_it_and_the_rest_by_policy) {
  const World w;
  const struct {
    const char* why;
    IdlePolicy policy;
    std::int64_t share;  // of gpu, reserved by tenant 1
    std::int64_t want[3];
    std::int64_t unassigned;
  } cases[] = {
      {"by usage", IdlePolicy::by_usage, 0, {500'000, 500'000, 0}, 0},
      {"evenly over the tenants that used anything", IdlePolicy::even, 0, {500'000, 500'000, 0}, 0},
      {"kept apart", IdlePolicy::keep_idle, 0, {300'000, 300'000, 0}, 400'000},
      // half reserved, 30% used: 20% of the whole is its unused reservation, 20% is nobody's
      {"reserved and unused, the rest kept", IdlePolicy::keep_idle, 500'000, {300'000, 500'000, 0}, 200'000},
      {"reserved and unused, the rest by usage", IdlePolicy::by_usage, 500'000, {400'000, 600'000, 0}, 0},
      {"all to who reserved", IdlePolicy::by_reservation, 500'000, {300'000, 700'000, 0}, 0},
      {"by reservation, nobody reserved", IdlePolicy::by_reservation, 0, {300'000, 300'000, 0}, 400'000},
  };
  for (const auto& c : cases) {
    Ledger::Options options;
    options.idle = c.policy;
    options.settlement = SettlementPolicy::as_dispatched;
    if (c.share > 0) options.reservations = {{kGpu, 1, c.share}};
    Ledger ledger(w.snapshot, options);
    ledger.add(by(w, 0, kGpu));
    ledger.add(by(w, 1, kGpu));
    ledger.add(event::FixedCost{event::FixedCost::Kind::amortization, kGpu, {}, {}, 1, micro(1'000'000), 600'000});
    const Statement s = ledger.close(names());
    for (std::uint32_t tenant = 0; tenant < 2; ++tenant)
      EXPECT_EQ(charged_to(s, tenant) - micro(200), micro(c.want[tenant])) << c.why << ", tenant " << tenant;
    EXPECT_EQ(s.idle_unassigned, micro(c.unassigned)) << c.why;
    ASSERT_EQ(s.fixed_lines.size(), 1U);
    EXPECT_EQ(s.fixed_lines[0].used, micro(600'000));
    EXPECT_EQ(s.fixed_lines[0].idle, micro(400'000));
  }
}

TEST(Settlement, leaves_the_idle_of_what_nobody_used_unassigned) {
  const World w;
  Ledger ledger(w.snapshot, {});
  ledger.add(by(w, 0, kGpu));
  ledger.add(event::FixedCost{event::FixedCost::Kind::commitment, kPtu, {}, {}, 1, micro(500)});
  const Statement s = ledger.close(names());
  EXPECT_EQ(s.idle_unassigned, micro(500));
}

TEST(Settlement, never_charges_batch_above_its_batch_baseline) {
  const World w;
  // At alt batch work costs 11,200 against a batch baseline of 7,000, and carries no idle beyond that.
  const Settled batch = Events(w, kAlt).with([](Events& e) { e.admitted.slo = kBatch; }).settled();
  for (const SettlementPolicy policy : kPolicies)
    for (const IdlePolicy idle : kIdle) {
      Ledger::Options options;
      options.settlement = policy;
      options.idle = idle;
      Ledger ledger(w.snapshot, options);
      ledger.add(batch);
      ledger.add(event::FixedCost{event::FixedCost::Kind::commitment, kAlt, {}, {}, 1, micro(900)});
      const Statement s = ledger.close(names());
      EXPECT_EQ(charged_to(s, 0), micro(7'000));
      EXPECT_EQ(s.idle_unassigned, micro(11'200 + 900 - 7'000));
    }
}

TEST(Settlement, sums_to_the_actual_cost_under_every_policy_and_grouping) {
  const World w;
  for_each_seed(40, [&](Rng& rng) {
    std::vector<Settled> requests;
    for (int i = 0; i < 150; ++i) requests.push_back(any_request(w, rng));
    for (const SettlementPolicy policy : kPolicies)
      for (const IdlePolicy idle : kIdle) {
        Ledger::Options options;
        options.settlement = policy;
        options.idle = idle;
        options.reservations = {{kGpu, 0, 300'000}, {kGpu, 2, 500'000}, {kPtu, 1, 1'000'000}};
        Ledger ledger(w.snapshot, options);
        for (const Settled& request : requests) ledger.add(request);
        for (std::uint32_t d = 0; d < 5; ++d)
          ledger.add(event::FixedCost{event::FixedCost::Kind::amortization,
                                      {d},
                                      {},
                                      {},
                                      1,
                                      {rng.between(-99, 9999999)},
                                      rng.between(-1, 1'000'000)});
        ledger.add(event::FixedCost{event::FixedCost::Kind::hosts, {}, {}, {}, 1, {rng.between(0, 999)}});
        const Statement s = ledger.close(names());
        std::map<std::uint32_t, Usd> by_tenant;
        std::map<DestinationId, Usd> by_destination;
        Usd unnamed{}, adjusted{}, tenants{}, destinations{};
        for (const UsageLine& line : s.usage) {
          by_tenant[line.tenant] += line.total();
          by_destination[line.destination] += line.total();
        }
        for (const Adjustment& row : s.adjustments) {
          (row.tenant ? by_tenant[*row.tenant] : unnamed) += row.amount;
          by_destination[row.destination] += row.amount;
          adjusted += row.amount;
        }
        for (const auto& [key, amount] : by_tenant) tenants += amount;
        for (const auto& [key, amount] : by_destination) destinations += amount;
        EXPECT_EQ(tenants + unnamed, s.c4 + s.fixed);
        EXPECT_EQ(destinations, s.c4 + s.fixed);
        for (const UsageLine& line : s.usage)
          if (line.slo == kBatch) {
            EXPECT_LE(line.total(), line.baseline);
          }
      }
  });
}

}  // namespace
}  // namespace ace
