#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

#include "core/rng.h"
#include "plan/valley.h"

namespace ace {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;

/// A week of hours with a daily valley, energy prices that differ by the hour, and jobs that fill most of it.
struct Load {
  Trough trough;
  std::vector<DeferrableJob> jobs;
};

Load load_of(std::int64_t jobs, double blocks = 0.0) {
  constexpr std::int64_t kHours = 168;
  Rng rng(1, "valley");
  Load load;
  std::int64_t room = 0;
  for (std::int64_t h = 0; h < kHours; ++h) {
    load.trough.room.push_back(jobs * (h % 24 < 8 ? 12 : 4) * kHourMs / 100);
    load.trough.price.push_back(Usd{rng.between(10, 90) * 10'000'000});
    room += load.trough.room.back();
  }
  load.trough.bought = Usd{4'000'000'000};
  for (std::int64_t j = 0; j < jobs; ++j) {
    DeferrableJob job;
    job.name = "job";
    const std::int64_t first = rng.between(0, kHours - 12);
    job.earliest = instant(first * nanos(kHour));
    job.deadline = instant(rng.between(first + 8, kHours) * nanos(kHour));
    job.units_max = rng.between(2, 8);
    job.work = rng.between(room / jobs / 2, room / jobs);
    job.preemptible = !rng.chance(blocks);
    load.jobs.push_back(job);
  }
  return load;
}

/// What a moved forecast costs: all jobs planned again, at least cost.
void BM_replan(benchmark::State& state) {
  const Load load = load_of(state.range(0));
  std::int64_t cost = 0, bought = 0;
  for (auto _ : state) {
    ValleyPlanner planner(load.trough);
    if (!planner.take(load.jobs)) state.SkipWithError("a job was not taken");
    const ValleyPlan plan = planner.plan();
    cost = plan.cost.nano;
    bought = 0;
    for (const std::int64_t b : plan.bought) bought += b;
  }
  state.counters["cost_usd"] = static_cast<double>(cost) * 1e-9;
  state.counters["bought_unit_hours"] = static_cast<double>(bought) / kHourMs;
}
BENCHMARK(BM_replan)->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

/// The same where one job in ten cannot pause.
void BM_replan_blocks(benchmark::State& state) {
  const Load load = load_of(state.range(0), 0.1);
  std::int64_t unplaced = 0;
  for (auto _ : state) {
    ValleyPlanner planner(load.trough);
    if (!planner.take(load.jobs)) state.SkipWithError("a job was not taken");
    const ValleyPlan plan = planner.plan();
    unplaced = std::accumulate(plan.unplaced.begin(), plan.unplaced.end(), std::int64_t{0});
  }
  state.counters["unplaced_unit_hours"] = static_cast<double>(unplaced) / kHourMs;
}
BENCHMARK(BM_replan_blocks)->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

/// One by one, each promised or refused.
void BM_admit(benchmark::State& state) {
  const Load load = load_of(state.range(0));
  std::int64_t admitted = 0;
  for (auto _ : state) {
    ValleyPlanner planner(load.trough);
    admitted = 0;
    for (const DeferrableJob& job : load.jobs) admitted += planner.admit(job) ? 1 : 0;
  }
  state.counters["admitted"] = static_cast<double>(admitted);
}
BENCHMARK(BM_admit)->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ace
