#include "ledger/focus.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/csv.h"
#include "core/testing.h"
#include "ledger/ledger_testing.h"

namespace ace::focus {
namespace {

using namespace ledger_testing;

const std::vector<std::string> kTeams = {"=cmd|' /C calc'!A0", "ads \"and\" more, \n"};

std::vector<Cells> rows_of(const Statement& s, const World& w, const Export& options) {
  std::vector<Cells> all;
  rows(s, *w.fleet, {names(), kTeams}, options, [&](const Cells& cells) { all.push_back(cells); });
  return all;
}

std::string at(const Cells& cells, std::string_view name, Version version = Version::v1_2) {
  const std::vector<std::string> names = header(version);
  const auto place = std::find(names.begin(), names.end(), name);
  const auto& cell = cells[static_cast<std::size_t>(place - names.begin())];
  return cell ? *cell : "";
}

std::vector<Finding> checked(const std::vector<std::string>& header, const std::vector<Cells>& all, Version version) {
  Checker checker(header, version);
  for (const Cells& cells : all) checker.row(cells);
  checker.finish();
  return checker.findings();
}

/// Fixed cost of every kind, part of it used; ptu is a commitment.
Statement any_statement(const World& w, Rng& rng, const Export& options) {
  Ledger::Options ledger_options;
  ledger_options.settlement = options.settlement;
  ledger_options.idle = options.idle;
  ledger_options.reservations = {{kGpu, 0, 300'000}, {kPtu, 1, 900'000}};
  Ledger ledger(w.snapshot, ledger_options);
  for (int i = 0; i < 120; ++i) ledger.add(any_request(w, rng));
  using Kind = event::FixedCost::Kind;
  const std::pair<DestinationId, Kind> kinds[] = {{kGpu, Kind::amortization},
                                                  {kGpu, Kind::idle_power},
                                                  {kPtu, Kind::commitment},
                                                  {kRent, Kind::rental},
                                                  {{}, Kind::hosts}};
  for (const auto& [destination, kind] : kinds)
    ledger.add(
        event::FixedCost{kind, destination, {}, {}, 1, {rng.between(1, 9'999'999'999)}, rng.between(-1, 1'000'000)});
  return ledger.close(names());
}

TEST(Focus, rows_pass_the_rules_and_sum_to_the_actual_cost_under_every_policy) {
  const World w;
  for_each_seed(8, [&](Rng& rng) {
    for (const Version version : {Version::v1_2, Version::v1_3})
      for (int settlement = 0; settlement < 3; ++settlement)
        for (int idle = 0; idle < 4; ++idle) {
          Export options;
          options.version = version;
          options.settlement = static_cast<SettlementPolicy>(settlement);
          options.idle = static_cast<IdlePolicy>(idle);
          const Statement s = any_statement(w, rng, options);
          const std::vector<Cells> all = rows_of(s, w, options);
          for (const Finding& f : checked(header(version), all, version))
            ADD_FAILURE() << "row " << f.row << " " << f.column << ": " << f.what;
          Usd billed{}, effective{};
          std::int64_t tokens = 0;
          for (const Cells& cells : all) {
            billed += Usd{*parse_decimal(at(cells, "BilledCost", version), 9)};
            effective += Usd{*parse_decimal(at(cells, "EffectiveCost", version), 9)};
            const std::string consumed = at(cells, "ConsumedQuantity", version);
            if (!consumed.empty()) tokens += std::stoll(consumed);
          }
          EXPECT_EQ(billed, s.c4 + s.fixed);
          EXPECT_EQ(effective, s.c4 + s.fixed);
          EXPECT_EQ(tokens, s.input + s.cached + s.output);
        }
  });
}

// ptu costs 1,000 of which a quarter was used: the purchase is billed 1,000 and effective 0, the usage is billed 0 and
// effective 250 Used, 750 Unused.
TEST(Focus, a_commitment_is_billed_once_and_effective_where_it_is_used) {
  const World w;
  Ledger::Options options;
  options.idle = IdlePolicy::keep_idle;
  Ledger ledger(w.snapshot, options);
  ledger.add(Events(w, kPtu, kSmall).at(490'000).settled());
  ledger.add(event::FixedCost{event::FixedCost::Kind::commitment, kPtu, {}, {}, 1, micro(1000), 250'000});
  Export focus;
  focus.idle = IdlePolicy::keep_idle;
  const std::vector<Cells> all = rows_of(ledger.close(names()), w, focus);
  ASSERT_EQ(all.size(), 4U);
  const char* const want[][7] = {
      // component, category, billed, effective, status, discount category, pricing category
      {"purchase", "Purchase", "0.001", "0.00", "", "Spend", "Standard"},
      {"usage", "Usage", "0.0007", "0.0007", "", "", "Standard"},  // 1,000 x 0.5 + 100 x 2 millionths
      {"used_capacity", "Usage", "0.00", "0.00025", "Used", "Spend", "Committed"},
      {"unassigned", "Usage", "0.00", "0.00075", "Unused", "Spend", "Committed"},
  };
  const char* const names[] = {"x_Component",    "ChargeCategory",           "BilledCost",
                               "EffectiveCost",  "CommitmentDiscountStatus", "CommitmentDiscountCategory",
                               "PricingCategory"};
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(at(all[row], names[i]), want[row][i]) << row << " " << names[i];
  EXPECT_EQ(at(all[1], "ChargePeriodStart"), "2025-11-24T16:00:00Z");  // 490,000 hours after 1970
  EXPECT_EQ(at(all[1], "ChargePeriodEnd"), "2025-11-24T17:00:00Z");
  EXPECT_EQ(at(all[1], "BillingPeriodStart"), "2025-11-01T00:00:00Z");
  EXPECT_EQ(at(all[1], "BillingPeriodEnd"), "2025-12-01T00:00:00Z");
}

TEST(Focus, csv_carries_every_value_and_no_formula) {
  const World w;
  for_each_seed(10, [&](Rng& rng) {
    Export options;
    options.version = Version::v1_3;
    const std::vector<Cells> all = rows_of(any_statement(w, rng, options), w, options);
    std::string csv;
    append_csv_header(csv, header(options.version));
    for (const Cells& cells : all) append_csv(csv, header(options.version), cells);
    Result<CsvTable> table = CsvTable::open(csv);
    ASSERT_TRUE(table.has_value());
    EXPECT_EQ(table->header(), header(options.version));
    CsvRow row;
    for (const Cells& cells : all) {
      const Result<bool> more = table->next(row);
      ASSERT_TRUE(more.has_value() && *more);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string want = cells[i] ? *cells[i] : "";
        const bool runs = want.starts_with('=');
        EXPECT_EQ(row.fields[i], runs ? "'" + want : want);
        EXPECT_FALSE(row.fields[i].starts_with('='));
      }
    }
  });
}

TEST(Focus, values_have_one_form) {
  const struct {
    const char* text;
    bool decimal, datetime, json;
  } cases[] = {
      {"35.2E-7", true, false, false},
      {"35.2E7", true, false, false},
      {"35.2E+7", false, false, false},  // the sign of an exponent only where it is negative
      {"+1", false, false, false},
      {"-0.5", true, false, false},
      {"1,000", false, false, false},
      {"1.", false, false, false},
      {".5", true, false, false},
      {"1.2.3", false, false, false},
      {"$1", false, false, false},
      {"-", false, false, false},
      {"", false, false, false},
      {"2026-11-01T00:00:00Z", false, true, false},
      {"2026-11-01 00:00:00", false, false, false},
      {"2026-11-01T00:00:00.5Z", false, false, false},
      {"2026-02-30T00:00:00Z", false, false, false},
      {"2026-11-01T00:00:00+00:00", false, false, false},
      {"{}", false, false, true},
      {R"({"a":"b\"c","d":-1.5e3,"e":true,"f":null})", false, false, true},
      {R"({"a":{"b":1}})", false, false, false},
      {R"({"a":[1]})", false, false, false},
      {R"({"a":1,"a":2})", false, false, false},
      {R"({"a":1,})", false, false, false},
      {R"({"a":1} x)", false, false, false},
      {R"({"a":01})", false, false, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(valid_decimal(c.text), c.decimal) << c.text;
    EXPECT_EQ(valid_datetime(c.text), c.datetime) << c.text;
    EXPECT_EQ(valid_flat_json(c.text), c.json) << c.text;
  }
}

TEST(Focus, the_table_is_sorted_and_has_57_columns_of_1_2_and_5_of_1_3) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < columns().size(); ++i) {
    first += columns()[i].since == Version::v1_2 ? 1U : 0U;
    if (i > 0) {
      EXPECT_LT(columns()[i - 1].name, columns()[i].name);
    }
    EXPECT_EQ(column(columns()[i].name), &columns()[i]);
  }
  EXPECT_EQ(first, 57U);
  EXPECT_EQ(columns().size(), 62U);
}

/// Each rule can fail: one cell of a good row is changed, and exactly that column is found.
TEST(FocusChecker, finds_each_broken_rule) {
  const World w;
  Ledger ledger(w.snapshot, {});
  ledger.add(Events(w, kPtu, kSmall).at(490'000).settled());
  ledger.add(event::FixedCost{event::FixedCost::Kind::commitment, kPtu, {}, {}, 1, micro(1000), 1'000'000});
  const std::vector<Cells> good = rows_of(ledger.close(names()), w, {});
  ASSERT_EQ(good.size(), 3U);  // purchase, usage, used capacity
  ASSERT_TRUE(checked(header(Version::v1_2), good, Version::v1_2).empty());
  const struct {
    std::size_t row;
    const char* column;
    const char* text;   // nullptr = null
    const char* found;  // column; nullptr = the same
  } cases[] = {
      {1, "BilledCost", nullptr, nullptr},
      {1, "BilledCost", "1e+07", nullptr},
      {1, "BillingCurrency", "Dollar", nullptr},
      {1, "ChargeCategory", "Use", nullptr},
      {1, "ChargeClass", "Wrong", nullptr},
      {1, "ChargeFrequency", nullptr, nullptr},
      {0, "ChargeFrequency", "Usage-Based", nullptr},
      {1, "ChargePeriodStart", "2026-11-01", nullptr},
      {1, "ChargePeriodEnd", "2025-11-24T16:00:00Z", nullptr},
      {1, "ConsumedQuantity", nullptr, "ConsumedUnit"},
      {0, "ConsumedQuantity", "1", nullptr},
      {1, "ConsumedUnit", nullptr, nullptr},
      {2, "CommitmentDiscountStatus", nullptr, nullptr},
      {2, "CommitmentDiscountStatus", "Idle", nullptr},
      {2, "CommitmentDiscountType", nullptr, nullptr},
      {2, "CommitmentDiscountUnit", nullptr, nullptr},
      {2, "CommitmentDiscountCategory", nullptr, nullptr},
      {2, "EffectiveCost", "0.0009", nullptr},  // no longer what was purchased
      {0, "EffectiveCost", "0.1", nullptr},     // counted twice
      {1, "PricingCategory", nullptr, nullptr},
      {1, "PricingUnit", nullptr, nullptr},
      {1, "ProviderName", "  ", nullptr},
      {1, "RegionName", "x", nullptr},
      {1, "ResourceType", nullptr, nullptr},
      {1, "ServiceCategory", "AI", nullptr},
      {1, "SubAccountName", nullptr, nullptr},
      {1, "Tags", "{\"a\":[]}", nullptr},
  };
  const std::vector<std::string> names = header(Version::v1_2);
  for (const auto& c : cases) {
    std::vector<Cells> rows = good;
    const auto place = std::find(names.begin(), names.end(), c.column) - names.begin();
    auto& cell = rows[c.row][static_cast<std::size_t>(place)];
    c.text == nullptr ? cell.reset() : static_cast<void>(cell = c.text);
    const std::vector<Finding> found = checked(names, rows, Version::v1_2);
    EXPECT_TRUE(std::any_of(found.begin(), found.end(),
                            [&](const Finding& f) { return f.column == (c.found != nullptr ? c.found : c.column); }))
        << c.column << " = " << (c.text == nullptr ? "null" : c.text);
  }
}

TEST(FocusChecker, reads_the_header) {
  const auto found = [](std::vector<std::string> names, Version version) {
    Checker checker(std::move(names), version);
    std::string all;
    for (const Finding& f : checker.findings()) all += f.column + " ";
    return all;
  };
  std::vector<std::string> names = header(Version::v1_2);
  EXPECT_EQ(found(names, Version::v1_2), "");
  EXPECT_EQ(found(header(Version::v1_3), Version::v1_3), "");
  EXPECT_EQ(found(header(Version::v1_3), Version::v1_2),
            "AllocatedMethodDetails AllocatedMethodId AllocatedResourceId AllocatedResourceName AllocatedTags ");
  names.push_back("Team");
  names.push_back("Tags");
  std::erase(names, "BilledCost");
  EXPECT_EQ(found(names, Version::v1_2), "Team Tags BilledCost ");
}

}  // namespace
}  // namespace ace::focus
