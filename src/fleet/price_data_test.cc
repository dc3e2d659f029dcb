/// The community's real lists on five dates, and what is known of them.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "fleet/data_testing.h"
#include "fleet/price.h"

namespace ace {
namespace {

PriceReading load(const std::string& date) {
  const std::string text = data_text("llm-prices/model_prices_" + date + ".json");
  Result<PriceReading> reading = parse_prices(text, PriceDialect::community);
  EXPECT_TRUE(reading) << reading.error().what();
  return reading ? *reading : PriceReading{};
}

std::int64_t median(std::vector<std::int64_t> sorted) {
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

TEST(PriceData, lists_of_five_dates_have_the_known_models_and_price_ranges) {
  const struct {
    const char* date;
    std::size_t models, unrepresentable, priced_chat, with_cache_read, providers;
    const char *input_min, *input_p50, *input_max, *output_min, *output_p50, *output_max;  // USD per million
  } cases[] = {
      {"2026-02-25", 216, 0, 173, 115, 7, "0.004688", "1.25", "75.00", "0.0046875", "8.00", "150.00"},
      {"2026-03-30", 175, 1, 129, 98, 6, "0.05", "1.25", "30.00", "0.30", "10.00", "75.00"},
      {"2026-04-30", 184, 1, 135, 104, 6, "0.05", "1.25", "30.00", "0.30", "10.00", "75.00"},
      {"2026-05-23", 190, 1, 139, 108, 6, "0.05", "1.25", "30.00", "0.30", "10.00", "75.00"},
      {"2026-06-30", 202, 2, 149, 118, 9, "0.05", "1.25", "30.00", "0.28", "10.00", "75.00"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.date);
    const PriceReading reading = load(c.date);
    std::size_t errors = 0;
    for (const PriceFinding& f : reading.findings) {
      EXPECT_TRUE(f.row_kept) << f.row << "." << f.field << ": " << f.what;
      errors += f.error ? 1U : 0U;
    }
    EXPECT_EQ(errors, c.unrepresentable);
    EXPECT_EQ(reading.book.rows.size(), c.models);
    std::vector<std::int64_t> inputs, outputs;
    std::set<std::string> providers;
    std::size_t cached = 0;
    for (const PriceRow& row : reading.book.rows) {
      const Rates& rates = row.tiers[0].by_service[0];
      if (row.mode != "chat" || !rates[Unit::input] || !rates[Unit::output]) continue;
      if (rates.priced(Unit::input).nano == 0) continue;
      providers.insert(row.provider);
      inputs.push_back(rates.priced(Unit::input).nano);
      outputs.push_back(rates.priced(Unit::output).nano);
      const UsdPerMtok read = rates.priced(Unit::cached_input);  // the input's where the list has none
      cached += read.nano != 0 && read != rates.priced(Unit::input) ? 1U : 0U;
    }
    EXPECT_EQ(inputs.size(), c.priced_chat);
    EXPECT_EQ(cached, c.with_cache_read);
    EXPECT_EQ(providers.size(), c.providers);
    const auto text = [](std::int64_t nano) { return to_decimal(UsdPerMtok{nano}); };
    EXPECT_EQ(text(*std::min_element(inputs.begin(), inputs.end())), c.input_min);
    EXPECT_EQ(text(median(inputs)), c.input_p50);
    EXPECT_EQ(text(*std::max_element(inputs.begin(), inputs.end())), c.input_max);
    EXPECT_EQ(text(*std::min_element(outputs.begin(), outputs.end())), c.output_min);
    EXPECT_EQ(text(median(outputs)), c.output_p50);
    EXPECT_EQ(text(*std::max_element(outputs.begin(), outputs.end())), c.output_max);
  }
}

TEST(PriceData, models_come_and_go_but_no_token_price_changes) {
  const struct {
    const char *from, *to;
    std::ptrdiff_t added, removed;
  } cases[] = {
      {"2026-02-25", "2026-03-30", 16, 57},
      {"2026-03-30", "2026-04-30", 9, 0},
      {"2026-04-30", "2026-05-23", 6, 0},
      {"2026-05-23", "2026-06-30", 12, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.to);
    const PriceBook before = load(c.from).book, after = load(c.to).book;
    const std::vector<PriceChange> changes = diff_prices(before, after);
    const auto count = [&](PriceChange::Kind kind) {
      return std::count_if(changes.begin(), changes.end(), [&](const PriceChange& x) { return x.kind == kind; });
    };
    EXPECT_EQ(count(PriceChange::Kind::added), c.added);
    EXPECT_EQ(count(PriceChange::Kind::removed), c.removed);
    for (const PriceChange& x : changes)  // a long-context tier may end, and cache writes have moved
      EXPECT_FALSE(x.field == "input" || x.field == "output") << x.key << " " << x.before << " to " << x.after;
    EXPECT_TRUE(implausible_changes(before, after).empty());
  }
}

}  // namespace
}  // namespace ace
