/// One request through settle() and add(): the ledger's part of a replay.
#include <algorithm>

#include <benchmark/benchmark.h>

#include "ledger/ledger_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

std::vector<Settled> requests(const World& w) {
  Rng rng(7, "ledger_bench");
  std::vector<Settled> made;
  for (int i = 0; i < 4096; ++i) made.push_back(any_request(w, rng));
  std::sort(made.begin(), made.end(),
            [](const Settled& a, const Settled& b) { return a.admitted.at < b.admitted.at; });  // as a replay has them
  return made;
}

void Add(benchmark::State& state) {
  const World w;
  const std::vector<Settled> stream = requests(w);
  Ledger::Options options;
  options.shapley = state.range(0) != 0;
  Ledger ledger(w.snapshot, options);
  std::size_t i = 0;
  for (auto _ : state) ledger.add(stream[i++ & 4095]);
  state.SetLabel("c4 per request " + std::to_string(ledger.close(names()).c4.nano / static_cast<std::int64_t>(i)));
}
BENCHMARK(Add)->ArgName("shapley")->Arg(0)->Arg(1);

void SettleOne(benchmark::State& state, DestinationId where) {
  const World w;
  const Events e(w, where, kLarge, text(1000, 400, 100));
  std::int64_t sum = 0;
  for (auto _ : state) sum += w.settler.settle(e.admitted, e.decided, e.attempts, e.completed).chain.c[4].nano;
  state.SetLabel("c4 per request " + std::to_string(sum / static_cast<std::int64_t>(state.iterations())));
}
BENCHMARK_CAPTURE(SettleOne, payg, kAlt);
BENCHMARK_CAPTURE(SettleOne, owned, kGpu);

}  // namespace
}  // namespace ace
