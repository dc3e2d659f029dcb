#include <benchmark/benchmark.h>

#include <vector>

#include "core/hash.h"
#include "trace/generate.h"
#include "trace/servegen.h"

namespace ace {
namespace {

/// 160 clients with the spread of shapes seen in production, `rate` requests/s in all, for `windows` x 600 s.
Servegen clients_like_production(double rate, int windows) {
  Servegen tables;
  for (std::uint32_t i = 0; i < 160; ++i) {
    ServegenClient& client = tables.clients.emplace_back();
    client.number = i;
    for (int w = 0; w < windows; ++w)
      client.rates.push_back({w * kServegenWindowSeconds, rate / 160.0,
                              i % 5 == 0 ? GapFamily::weibull : GapFamily::gamma,
                              0.05 + 0.01 * static_cast<double>(i)});
    client.tokens.push_back({0, 1200, 800, 2400, 6900, 170, 80, 410, 1500});
  }
  return tables;
}

void generates_servegen(benchmark::State& state) {
  const auto tables = std::make_shared<const Servegen>(clients_like_production(200.0, 24));
  ServegenOptions options;
  options.generate.limit = 500'000;
  std::vector<Arrival> batch(4096);
  std::uint64_t requests = 0, hash = 0;
  for (auto _ : state) {
    auto source = generate(tables, options);
    hash = 0;
    while (true) {
      const auto n = (*source)->next(batch);
      if (!n || *n == 0) break;
      requests += *n;
      hash = mix(hash, static_cast<std::uint64_t>(batch[*n - 1].at.time_since_epoch().count()));
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(requests));
  state.SetLabel("hash " + std::to_string(hash));
}
BENCHMARK(generates_servegen)->Unit(benchmark::kMillisecond);

void generates_conversations(benchmark::State& state) {
  Profile profile;
  profile.rate_per_s = 50.0;
  TenantProfile& tenant = profile.tenants.emplace_back();
  tenant.prompt.mixture = {{1.0, 3000.0, 1.0}};
  tenant.output.mixture = {{1.0, 200.0, 1.0}};
  tenant.prefix.system_blocks = 2;
  tenant.prefix.continued = 0.5;
  GenerateOptions options;
  options.limit = 100'000;
  std::vector<Arrival> batch(4096);
  std::uint64_t requests = 0, hash = 0;
  for (auto _ : state) {
    auto source = generate(profile, options);
    hash = 0;
    while (true) {
      const auto n = (*source)->next(batch);
      if (!n || *n == 0) break;
      requests += *n;
      hash = mix(hash, batch[*n - 1].blocks.size());
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(requests));
  state.SetLabel("hash " + std::to_string(hash));
}
BENCHMARK(generates_conversations)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ace
