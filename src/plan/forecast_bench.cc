/// The bar of issue 5: a thousand cells in less than ten seconds.
#include <benchmark/benchmark.h>

#include "core/hash.h"
#include "plan/forecast.h"
#include "plan/forecast_testing.h"

namespace ace {
namespace {

/// Four weeks of hours, a week ahead, backtest included. The label is a hash of what came out.
void forecast_cells(benchmark::State& state) {
  const auto cells = static_cast<std::size_t>(state.range(0));
  std::vector<Series> all;
  for (std::size_t i = 0; i < cells; ++i) {
    Rng rng(i + 1, "bench");
    all.push_back(gen::demand(rng, 28 * 24));
  }
  std::uint64_t digest = 0;
  for (auto _ : state) {
    digest = 0;
    for (const Series& series : all) digest = mix(digest, hash_of(to_json(*forecast(series))));
  }
  state.SetLabel("answer " + std::to_string(digest));
  state.counters["cells_per_s"] =
      benchmark::Counter(static_cast<double>(cells), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(forecast_cells)->Arg(10)->Arg(1000)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace ace
