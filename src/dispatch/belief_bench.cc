/// What the learners cost per request: predict, live, dispatched, completed, with 16 destinations at 200 requests/s.
#include <benchmark/benchmark.h>

#include <deque>

#include "core/rng.h"
#include "dispatch/learn_testing.h"

namespace ace {
namespace {

void a_request_through_the_beliefs(benchmark::State& state) {
  auto fleet = learn::models(1);
  ServerProfile profile = learn::slots_only(256);
  profile.prefill_tokens_per_s = 20'000;
  profile.step_base_s = 0.01;
  profile.kv_tokens_max = 1'000'000;
  fleet->slo_classes.front().ttft = kSecond;
  for (int i = 0; i < 8; ++i) learn::add_pool(*fleet, "pool" + std::to_string(i), profile, {0}, 2);
  for (int i = 0; i < 8; ++i) {
    Destination& api = learn::add_api(*fleet, "api" + std::to_string(i), 1'000'000'000);
    api.unlimited = false;
    api.tpm = 100'000'000;
    api.rpm = 1'000'000;
  }
  const Snapshot snapshot(*fleet);
  Belief belief(snapshot);
  Rng rng(7, "bench");
  struct Running {
    double until;
    Claim claim;
  };
  std::deque<Running> running;
  double t = 0.0, checksum = 0.0;
  Decision decision;
  decision.verdict = Verdict::dispatched;
  decision.reference_price = 1'000'000;
  std::uint32_t turn = 0;
  for (auto _ : state) {
    t += 0.005;
    const Instant now = learn::at(t);
    if (!running.empty() && running.front().until <= t) {
      belief.completed(now, running.front().claim, learn::answer(200), true);
      running.pop_front();
    }
    Request request = learn::request(800, 0);
    request.predicted = belief.predict(request.model, request.tenant, request.slo, Tokens{1024});
    decision.chosen = decision.cheapest_uncongested = OfferId{turn++ % 16};
    checksum += belief.live(now).use[1][decision.chosen.value];
    running.push_back({t + 5.0, belief.dispatched(now, request, decision)});
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["checksum"] = checksum / static_cast<double>(state.iterations());
}
BENCHMARK(a_request_through_the_beliefs);

}  // namespace
}  // namespace ace
