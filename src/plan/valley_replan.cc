/// All jobs again, where the forecast has moved.
#include <algorithm>

#include "plan/valley.h"

namespace ace {

void ValleyPlanner::forecast(Trough trough) {
  ACE_CHECK(trough.price.empty() || trough.price.size() == trough.room.size(), "a price for each step, or none");
  // The same steps as before have other numbers now; on another grid there are none.
  const std::int64_t apart = nanos(trough.start - trough_.start), step = nanos(trough.step);
  const bool same_grid = trough.step == trough_.step && apart >= 0 && apart % step == 0;
  const auto gone = same_grid ? static_cast<std::size_t>(apart / step) : 0;
  std::vector<Run> kept = std::move(runs_);
  for (Run& run : kept) {
    if (!same_grid) run = {};
    std::erase_if(run.steps, [&](std::size_t s) { return s < gone || s - gone >= trough.room.size(); });
    for (std::size_t& s : run.steps) s -= gone;
  }
  trough_ = std::move(trough);
  replan(kept);
}

/// Would the job be done if it ran in these steps?
bool ValleyPlanner::serves(const Run& run, std::size_t job) const {
  const DeferrableJob& j = jobs_[job];
  const Window w = window(j);
  std::int64_t left = j.work;
  bool begun = states_[job].begun, running = states_[job].running;
  std::size_t before = static_cast<std::size_t>(-1);  // the step before step 0
  for (const std::size_t s : run.steps) {
    if (s < w.first || s >= w.last) return false;
    running = running && s == before + 1;
    if (begun && !running && !j.preemptible) return false;
    const std::int64_t lost = begun && !running ? run.units * (nanos(j.restart) / 1'000'000) : 0;
    left -= std::max<std::int64_t>(0, run.units * trough_.step_ms() - lost);
    begun = running = true;
    before = s;
  }
  return left <= 0;
}

/// Places every job anew, but those that are not divisible where they were, if that is possible and would do.
void ValleyPlanner::lay_out(const std::vector<Run>& kept) {
  flow_ = StepFlow(trough_.room.size());
  node_.assign(jobs_.size(), static_cast<std::size_t>(-1));
  runs_.assign(jobs_.size(), {});
  std::vector<std::size_t> undivided;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    if (!jobs_[j].divisible()) {
      if (jobs_[j].work > 0) undivided.push_back(j);
      continue;
    }
    const Window w = window(jobs_[j]);
    node_[j] = flow_.add({w.first, w.last, jobs_[j].units_max * trough_.step_ms(), jobs_[j].work});
  }
  open_by_price();
  cheapest_ = undivided.empty();
  for (const std::size_t j : undivided)
    if (j < kept.size() && !kept[j].is_bought && serves(kept[j], j) && reserve(kept[j].steps, kept[j].units))
      runs_[j] = kept[j];
  // What has begun and cannot pause comes first, then the earliest deadline.
  std::stable_sort(undivided.begin(), undivided.end(), [&](std::size_t a, std::size_t b) {
    const bool first = states_[a].begun && !jobs_[a].preemptible, second = states_[b].begun && !jobs_[b].preemptible;
    return first != second ? first : jobs_[a].deadline < jobs_[b].deadline;
  });
  for (const std::size_t j : undivided)
    if (runs_[j].steps.empty() && !place_run(j) && !exchange(j) && trough_.bought) buy(j);
}

std::size_t ValleyPlanner::without_room() const {
  std::size_t count = 0;
  for (std::size_t j = 0; j < jobs_.size(); ++j)
    if (!jobs_[j].divisible() && jobs_[j].work > 0 && (runs_[j].steps.empty() || runs_[j].is_bought)) ++count;
  return count;
}

/// Who has a place keeps it while it holds: a search from nothing may miss what is known to exist. Only where that
/// leaves a job without room is all laid out from nothing, and taken if fewer are without.
void ValleyPlanner::replan(const std::vector<Run>& kept) {
  lay_out(kept);
  const std::size_t without = without_room();
  if (without == 0) return;
  StepFlow flow = flow_;
  std::vector<std::size_t> node = node_;
  std::vector<Run> runs = runs_;
  lay_out({});
  if (without_room() < without) return;
  flow_ = std::move(flow);
  node_ = std::move(node);
  runs_ = std::move(runs);
}

}  // namespace ace
