/// Jobs that are not divisible: whole steps on a fixed number of units, found by search and exchange.
#include <algorithm>
#include <numeric>

#include "plan/valley.h"

namespace ace {

std::int64_t ValleyPlanner::steps_needed(std::size_t job, std::int64_t units, bool resumed) const {
  const std::int64_t restart = resumed ? nanos(jobs_[job].restart) / 1'000'000 : 0;
  return -floor_div(-(jobs_[job].work + units * restart), units * trough_.step_ms());
}

/// All of these steps or none.
bool ValleyPlanner::reserve(std::span<const std::size_t> steps, std::int64_t units) {
  const std::int64_t amount = units * trough_.step_ms();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (flow_.reserve(steps[i], amount)) continue;
    while (i-- > 0) flow_.open(steps[i], amount);
    return false;
  }
  return true;
}

void ValleyPlanner::release(const Run& run) {
  if (run.is_bought) return;
  for (const std::size_t step : run.steps) flow_.open(step, run.units * trough_.step_ms());
}

/// Steps in a row. Of all that fit the cheapest, of these the first; or the soonest at any price.
bool ValleyPlanner::place_block(std::size_t job, std::int64_t units, bool soonest) {
  const Window w = window(jobs_[job]);
  const State& state = states_[job];
  // Wherever it goes on, it may have paused before: counted too long rather than too short.
  const auto length = static_cast<std::size_t>(steps_needed(job, units, state.begun && jobs_[job].preemptible));
  if (length == 0 || w.last - w.first < length) return false;
  const std::size_t last = state.begun && !jobs_[job].preemptible ? w.first : w.last - length;
  struct Candidate {
    std::int64_t price;
    std::size_t first;
  };
  std::vector<Candidate> candidates;
  std::size_t fitting = 0;  // steps before this one, in a row, that have the units
  for (std::size_t s = w.first; s < last + length; ++s) {
    fitting = flow_.room(s) >= units * trough_.step_ms() ? fitting + 1 : 0;
    if (fitting < length) continue;
    std::int64_t price = 0;
    if (!soonest && !trough_.price.empty())
      for (std::size_t i = s + 1 - length; i <= s; ++i) price += trough_.price[i].nano;
    candidates.push_back({price, s + 1 - length});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.price < b.price; });
  std::vector<std::size_t> steps(length);
  for (const Candidate& c : candidates) {
    std::iota(steps.begin(), steps.end(), c.first);
    if (!reserve(steps, units)) continue;
    runs_[job] = {steps, units, false};
    return true;
  }
  return false;
}

/// Every step that has the units, from the first on, until the work is done; each pause costs a restart.
bool ValleyPlanner::place_pieces(std::size_t job, std::int64_t units) {
  const Window w = window(jobs_[job]);
  Run run{{}, units, false};
  std::int64_t left = jobs_[job].work;
  bool begun = states_[job].begun, running = states_[job].running && w.first == 0;
  for (std::size_t s = w.first; s < w.last && left > 0; ++s) {
    const bool here = flow_.reserve(s, units * trough_.step_ms());
    if (here) {
      const std::int64_t lost = begun && !running ? units * (nanos(jobs_[job].restart) / 1'000'000) : 0;
      left -= std::max<std::int64_t>(0, units * trough_.step_ms() - lost);
      run.steps.push_back(s);
      begun = true;
    }
    running = here;
  }
  if (left > 0) return release(run), false;
  runs_[job] = std::move(run);
  return true;
}

/// The most units first: the sooner it is done, the more is left to move.
bool ValleyPlanner::place_run(std::size_t job, bool soonest) {
  const DeferrableJob& j = jobs_[job];
  const bool keeps = states_[job].begun && !j.preemptible;
  const std::int64_t most = keeps ? states_[job].units : j.units_max, least = keeps ? most : j.units_min;
  for (std::int64_t units = most;; units = std::max(least, units / 2)) {
    if (place_block(job, units, soonest)) return true;
    if (j.preemptible && place_pieces(job, units)) return true;
    if (units == least) return false;
  }
}

/// Lets one job with a later deadline go elsewhere.
bool ValleyPlanner::exchange(std::size_t job) {
  std::vector<std::size_t> later;
  for (std::size_t k = 0; k < jobs_.size(); ++k)
    if (k != job && !runs_[k].steps.empty() && !runs_[k].is_bought && !states_[k].begun &&
        jobs_[k].deadline > jobs_[job].deadline)
      later.push_back(k);
  std::stable_sort(later.begin(), later.end(),
                   [&](std::size_t a, std::size_t b) { return jobs_[a].deadline > jobs_[b].deadline; });
  constexpr std::size_t kTries = 16;
  for (std::size_t i = 0; i < std::min(later.size(), kTries); ++i) {
    const Run before = runs_[later[i]];
    release(before);
    runs_[later[i]] = {};
    if (place_run(job)) {
      if (place_run(later[i])) return true;
      release(runs_[job]);
      runs_[job] = {};
    }
    ACE_CHECK(reserve(before.steps, before.units), "a run has lost its place");
    runs_[later[i]] = before;
  }
  return false;
}

/// Units beside the troughs, as late as the deadline allows; a job that cannot pause, or cannot afford to, goes on now.
bool ValleyPlanner::buy(std::size_t job) {
  const Window w = window(jobs_[job]);
  const State& state = states_[job];
  const bool keeps = state.begun && !jobs_[job].preemptible;
  const std::int64_t units = keeps ? state.units : jobs_[job].units_max;
  const auto later = static_cast<std::size_t>(steps_needed(job, units, state.begun));
  const auto now = static_cast<std::size_t>(steps_needed(job, units, state.begun && !state.running));
  const bool waits = !keeps && w.last - w.first >= later;
  const std::size_t length = waits ? later : now;
  if (w.last - w.first < length) return false;
  std::vector<std::size_t> steps(length);
  std::iota(steps.begin(), steps.end(), waits ? w.last - length : w.first);
  runs_[job] = {std::move(steps), units, true};
  return true;
}

}  // namespace ace
