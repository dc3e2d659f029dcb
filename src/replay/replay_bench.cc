/// A whole replay by one brain on 16 destinations: requests per second, and a hash of what it settled.
#include <benchmark/benchmark.h>

#include "core/rng.h"
#include "dispatch/learn_testing.h"
#include "replay/replay_testing.h"
#include "replay/run.h"

namespace ace {
namespace {

/// Six pools, two commitments, eight APIs with quotas; about half of the load fits on the pools.
std::unique_ptr<Fleet> sixteen() {
  auto fleet = learn::models(1);
  ServerProfile profile;
  profile.prefill_tokens_per_s = 20'000.0;
  profile.step_base_s = 0.012;
  profile.step_per_sequence_s = 0.0001;
  profile.step_per_kv_token_s = 2e-8;
  profile.batch_max = 128;
  profile.kv_tokens_max = 400'000;
  profile.watts_idle = 400.0;
  profile.watts_busy = 1000.0;
  profile.measured = true;
  fleet->slo_classes.front().ttft = 2 * kSecond;
  fleet->electricity.flat = {80'000'000};
  for (int i = 0; i < 6; ++i) learn::add_pool(*fleet, "pool" + std::to_string(i), profile, {0}, 2);
  for (int i = 0; i < 2; ++i) {
    Destination& d = learn::add(*fleet, "ptu" + std::to_string(i), Tier::reserved);
    learn::serve(d, 0).ptu = PtuTerms{.units = 50, .tokens_per_minute_per_unit = 2500};
  }
  for (int i = 0; i < 8; ++i) {
    Destination& api = learn::add_api(*fleet, "api" + std::to_string(i), std::int64_t{1'000'000'000} * (i + 1));
    api.unlimited = false;
    api.tpm = 100'000'000;
    api.rpm = 1'000'000;
  }
  return fleet;
}

replay_testing::MemorySource requests(std::int64_t count) {
  Rng rng(7, "requests");
  double t = 1'700'000'000.0;
  return replay_testing::MemorySource::of(static_cast<std::size_t>(count), [&](std::size_t) {
    t += rng.exponential(1.0 / 250.0);
    return replay_testing::made(t, static_cast<std::int32_t>(rng.between(50, 2000)),
                                static_cast<std::int32_t>(1.0 + rng.exponential(200.0)));
  });
}

void a_replay(benchmark::State& state) {
  const auto fleet = sixteen();
  const Snapshot snapshot(*fleet);
  replay_testing::MemorySource source = requests(state.range(0));
  std::int64_t actual = 0, pools = 0, served = 0;
  for (auto _ : state) {
    if (!source.rewind()) state.SkipWithError("cannot rewind");
    RunOptions options;
    options.naming.model = "m0";
    const Result<RunResult> result = run(snapshot, source, options);
    if (!result) return state.SkipWithError("cannot replay");
    actual = result->statement.c4.nano;
    pools = served = 0;
    for (const SeriesBucket& bucket : result->series.buckets())
      for (std::size_t d = 0; d < bucket.requests.size(); ++d) (d < 6 ? pools : served) += bucket.requests[d];
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["actual_nano"] = static_cast<double>(actual);
  state.counters["on_pools"] = static_cast<double>(pools) / static_cast<double>(pools + served);
}
BENCHMARK(a_replay)->Arg(10'000)->Arg(300'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ace
