/// Group by tenant, team and model over one row per request. ACE_BENCH_ROWS=10000000 is the published size.
#include <cstdlib>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/rng.h"
#include "ledger/charge_table.h"

namespace ace {
namespace {

ChargeTable requests(std::size_t rows) {
  Rng rng(7, "charge_table_bench");
  ChargeTable table;
  table.reserve(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    ChargeSums sums{};
    sums[0] = 1;
    for (std::size_t m = 1; m < kMeasures; ++m) sums[m] = rng.between(0, 100'000);
    const auto hour = static_cast<std::uint32_t>(1 + i * 720 / rows);  // a month, in order of time
    const auto tenant = static_cast<std::uint32_t>(1 + rng.below(40));
    table.add(
        {0, hour, tenant, static_cast<std::uint32_t>(1 + rng.below(5)), static_cast<std::uint32_t>(1 + rng.below(8)),
         static_cast<std::uint32_t>(1 + rng.below(12)), static_cast<std::uint32_t>(1 + rng.below(3))},
        sums);
  }
  return table;
}

void Group(benchmark::State& state, const std::vector<By>& by) {
  const char* const asked = std::getenv("ACE_BENCH_ROWS");
  const ChargeTable table = requests(asked != nullptr ? std::strtoull(asked, nullptr, 10) : 100'000);
  std::size_t groups = 0;
  std::int64_t charged = 0;
  for (auto _ : state) {
    const std::vector<ChargeGroup> sums = grouped(table, by);
    groups = sums.size();
    charged = 0;
    for (const ChargeGroup& group : sums) charged += group.sums[static_cast<std::size_t>(Measure::charged)];
  }
  state.SetLabel(std::to_string(table.rows()) + " rows, " + std::to_string(groups) + " groups, charged " +
                 std::to_string(charged));
}
BENCHMARK_CAPTURE(Group, tenant_team_model, {By::tenant, By::team, By::model})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Group, every_key, {By::hour, By::tenant, By::team, By::model, By::destination, By::slo})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ace
