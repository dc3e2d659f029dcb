/// What it costs to price a request and to read a list.
#include <string>

#include <benchmark/benchmark.h>

#include "core/rng.h"
#include "fleet/price.h"

namespace ace {
namespace {

constexpr const char* kList = R"({"m": {"input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05,
  "cache_read_input_token_cost": 3e-07, "cache_creation_input_token_cost": 3.75e-06,
  "input_cost_per_token_above_200k_tokens": 6e-06, "output_cost_per_token_above_200k_tokens": 2.25e-05,
  "cache_read_input_token_cost_above_200k_tokens": 6e-07}})";

/// Prices the same 4,096 text requests and prints the sum of all prices, so that a wrong answer shows.
void price_requests(benchmark::State& state, std::int64_t uplift_ppm, std::size_t tiers) {
  PriceRow row = parse_prices(kList, PriceDialect::community)->book.rows[0];
  row.tiers.resize(tiers);
  Rng rng(1, "price_bench");
  std::vector<Usage> used;
  for (int i = 0; i < 4096; ++i)
    used.emplace_back(Tokens{rng.between(1, 8'000)}, Tokens{rng.between(0, 250'000)}, Tokens{rng.between(1, 2'000)});
  std::int64_t sum = 0;
  std::size_t i = 0;
  for (auto _ : state) {
    const Result<Usd> price = price_of(used[i++ % used.size()], row, ServiceTier::standard, uplift_ppm);
    benchmark::DoNotOptimize(price);
  }
  for (const Usage& usage : used) sum += price_of(usage, row, ServiceTier::standard, uplift_ppm)->nano;
  state.SetLabel("sum of 4,096 prices $" + to_decimal(Usd{sum}));
}
void price_flat(benchmark::State& state) { price_requests(state, 1'000'000, 1); }
void price_with_context_tiers(benchmark::State& state) { price_requests(state, 1'000'000, 2); }
void price_with_surcharge(benchmark::State& state) { price_requests(state, 1'100'000, 2); }
BENCHMARK(price_flat);
BENCHMARK(price_with_context_tiers);
BENCHMARK(price_with_surcharge);

void read_a_list_of_1000_rows(benchmark::State& state) {
  const std::string row(kList + 6, std::string_view(kList).size() - 7);  // {...} of "m"
  std::string list = "{";
  for (int i = 0; i < 1000; ++i) list += (i == 0 ? "\"m" : ",\"m") + std::to_string(i) + "\":" + row;
  list += "}";
  std::size_t rows = 0;
  for (auto _ : state) rows = parse_prices(list, PriceDialect::community)->book.rows.size();
  state.SetBytesProcessed(static_cast<std::int64_t>(list.size()) * static_cast<std::int64_t>(state.iterations()));
  state.SetLabel(std::to_string(rows) + " rows");
}
BENCHMARK(read_a_list_of_1000_rows);

}  // namespace
}  // namespace ace
