#include "plan/step_flow.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"

namespace ace {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

}  // namespace

StepFlow::StepFlow(std::size_t steps) : steps_(steps), limit_(steps), load_(steps), opened_(steps) {}

std::size_t StepFlow::add(const Job& job, std::size_t reach) {
  reach = std::max(reach, job.last);
  ACE_CHECK(job.first <= job.last && reach <= steps() && job.most >= 0 && job.work >= 0, "a job outside of the steps");
  Node node;
  static_cast<Job&>(node) = job;
  node.offset = placed_.size();
  node.unplaced = job.work;
  placed_.resize(placed_.size() + reach - job.first);
  node.reach = reach;
  jobs_.push_back(node);
  waiting_ += job.work;
  stale_ = true;
  return jobs_.size() - 1;
}

std::int64_t StepFlow::at(std::size_t job, std::size_t step) const {
  const Node& node = jobs_[job];
  return covers(node, step) ? placed_[node.offset + step - node.first] : 0;
}

void StepFlow::push(Node& job, std::size_t step, std::int64_t amount) {
  placed(job, step) += amount;
  load_[step] += amount;
  job.unplaced -= amount;
  waiting_ -= amount;
}

/// Jobs with the least freedom left come first, so that seldom anything must be moved later.
void StepFlow::fill_directly(std::size_t step) {
  std::vector<std::int64_t> closed(steps() + 1);  // steps before i that are not open yet
  for (std::size_t i = 0; i < steps(); ++i) closed[i + 1] = closed[i] + (opened_[i] ? 0 : 1);
  struct Candidate {
    std::int64_t freedom;
    std::size_t job;
  };
  std::vector<Candidate> candidates;
  for (const std::size_t j : live_) {
    const Node& job = jobs_[j];
    if (job.unplaced == 0 || !covers(job, step) || placed(job, step) == job.most) continue;
    // In units of the job's own pace: how many steps it could still stay away from.
    const std::int64_t later = closed[job.last] - closed[job.first];
    candidates.push_back({later * job.most - job.unplaced, j});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.freedom != b.freedom ? a.freedom < b.freedom : a.job < b.job;
  });
  for (const Candidate& c : candidates) {
    Node& job = jobs_[c.job];
    const std::int64_t amount = std::min({job.unplaced, job.most - placed(job, step), spare(step)});
    if (amount == 0) break;  // the step is full
    push(job, step, amount);
  }
}

/// Moves as much along the path as it takes. @param path  the first hop leaves no step; the last enters one with room
bool StepFlow::move(const std::vector<Hop>& path) {
  std::int64_t amount = std::min(jobs_[path.front().job].unplaced, spare(path.back().enters));
  for (const Hop& hop : path) {
    amount = std::min(amount, jobs_[hop.job].most - placed(jobs_[hop.job], hop.enters));
    if (hop.leaves != kNowhere) amount = std::min(amount, placed(jobs_[hop.job], hop.leaves));
  }
  for (const Hop& hop : path) {
    push(jobs_[hop.job], hop.enters, amount);
    if (hop.leaves != kNowhere) push(jobs_[hop.job], hop.leaves, -amount);
  }
  return amount > 0;
}

/// Numbers steps and jobs by how many moves they are away from `step`, as far as the nearest jobs with unplaced work.
/// @return false if there is none. Then no later search can pass what this one has seen: whoever could would have been
/// found now.
bool StepFlow::find_levels(std::size_t step) {
  ++search_;
  std::vector<std::size_t> queue = {step};
  steps_[step] = {search_, 0, 0, 0};
  std::vector<std::size_t> unseen = live_;
  std::size_t nearest = kNowhere;  // level of the first job with unplaced work
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::size_t into = queue[at], level = steps_[into].level + 1;
    if (level > nearest) return true;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < unseen.size(); ++i) {
      const std::size_t j = unseen[i];
      Node& job = jobs_[j];
      if (!covers(job, into) || placed(job, into) == job.most) {
        unseen[kept++] = j;
        continue;
      }
      job.seen = search_;
      job.level = level;
      job.arc = job.first;
      if (job.unplaced > 0) nearest = level;
      if (nearest == level || queue.size() == steps()) continue;
      for (std::size_t s = job.first; s < job.last; ++s) {
        if (steps_[s].seen == search_ || placed(job, s) == 0) continue;
        steps_[s] = {search_, 0, level, 0};
        queue.push_back(s);
      }
    }
    unseen.resize(kept);
  }
  if (nearest != kNowhere) return true;
  live_ = std::move(unseen);
  return false;
}

/// Brings work into a step along the levels, each arc tried once (Dinic 1970). @return how much, at most `want`
std::int64_t StepFlow::bring_into(std::size_t step, std::int64_t want) {
  std::int64_t brought = 0;
  for (std::size_t& arc = steps_[step].arc; arc < live_.size(); ++arc) {
    Node& job = jobs_[live_[arc]];
    if (job.seen != search_ || job.level != steps_[step].level + 1 || !covers(job, step)) continue;
    const std::int64_t moved = free_of(job, std::min(want - brought, job.most - placed(job, step)));
    placed(job, step) += moved;
    load_[step] += moved;
    brought += moved;
    if (brought == want) break;  // this job may have more
  }
  return brought;
}

/// Work of a job that it may put elsewhere: what lies nowhere, and what others would fill up behind it.
std::int64_t StepFlow::free_of(Node& job, std::int64_t want) {
  const std::int64_t nowhere = std::min(want, job.unplaced);
  job.unplaced -= nowhere;
  waiting_ -= nowhere;
  std::int64_t freed = nowhere;
  for (; freed < want && job.arc < job.last; ++job.arc) {
    if (steps_[job.arc].seen != search_ || steps_[job.arc].level != job.level || placed(job, job.arc) == 0) continue;
    const std::int64_t behind = bring_into(job.arc, std::min(want - freed, placed(job, job.arc)));
    placed(job, job.arc) -= behind;
    load_[job.arc] -= behind;
    freed += behind;
    if (freed == want) break;
  }
  return freed;
}

void StepFlow::open(std::size_t step, std::int64_t room) {
  ACE_CHECK(room >= 0, "a step is opened, not closed");
  if (stale_) {
    live_.resize(jobs_.size());
    std::iota(live_.begin(), live_.end(), std::size_t{0});
    stale_ = false;
  }
  limit_[step] += room;
  opened_[step] = true;
  if (spare(step) == 0) return;
  fill_directly(step);
  while (spare(step) > 0 && waiting_ > 0 && find_levels(step)) bring_into(step, spare(step));
}

/// Searches forwards from a job with unplaced work for a step with room. @return whether it moved some
bool StepFlow::send(std::size_t job) {
  ++search_;
  std::vector<std::size_t> queue, unseen;
  const auto look = [&](std::size_t j) {  // where it could put more; the first such step with room, if any
    Node& node = jobs_[j];
    for (std::size_t s = node.first; s < node.last; ++s) {
      if (steps_[s].seen == search_ || placed(node, s) == node.most) continue;
      steps_[s] = {search_, j, 0, 0};
      if (spare(s) > 0) return s;
      queue.push_back(s);
    }
    return kNowhere;
  };
  jobs_[job].seen = search_;
  std::size_t end = look(job);
  if (end == kNowhere) {
    unseen.resize(jobs_.size());
    std::iota(unseen.begin(), unseen.end(), std::size_t{0});
  }
  for (std::size_t at = 0; end == kNowhere && at < queue.size(); ++at) {
    const std::size_t step = queue[at];
    std::size_t kept = 0;
    for (std::size_t i = 0; end == kNowhere && i < unseen.size(); ++i) {
      const std::size_t j = unseen[i];
      if (jobs_[j].seen == search_) continue;
      if (!covers(jobs_[j], step) || placed(jobs_[j], step) == 0) {
        unseen[kept++] = j;
        continue;
      }
      jobs_[j].seen = search_;
      jobs_[j].via = step;
      end = look(j);
    }
    unseen.resize(kept);
  }
  if (end == kNowhere) return false;
  std::vector<Hop> path;
  for (std::size_t enters = end; enters != kNowhere; enters = path.back().leaves) {
    const std::size_t j = steps_[enters].via;
    path.push_back({j, j == job ? kNowhere : jobs_[j].via, enters});
  }
  std::reverse(path.begin(), path.end());
  return move(path);
}

std::int64_t StepFlow::place(std::size_t job) {
  while (jobs_[job].unplaced > 0 && send(job)) {
  }
  return jobs_[job].unplaced;
}

bool StepFlow::reserve(std::size_t step, std::int64_t amount) {
  if (amount > limit_[step]) return false;
  stale_ = true;
  const std::int64_t before = limit_[step], total = std::accumulate(load_.begin(), load_.end(), std::int64_t{0});
  limit_[step] -= amount;
  std::vector<std::size_t> displaced;
  for (std::size_t j = 0; j < jobs_.size() && spare(step) < 0; ++j) {
    if (!covers(jobs_[j], step)) continue;
    const std::int64_t out = std::min(placed(jobs_[j], step), -spare(step));
    if (out == 0) continue;
    push(jobs_[j], step, -out);
    displaced.push_back(j);
  }
  const auto all_placed = [&] {
    for (const std::size_t j : displaced) place(j);
    return std::accumulate(load_.begin(), load_.end(), std::int64_t{0}) == total;
  };
  if (all_placed()) return true;
  limit_[step] = before;  // with the old room everything fits again
  ACE_CHECK(all_placed(), "work that was placed before a reservation is lost");
  return false;
}

void StepFlow::remove(std::size_t job) {
  Node& node = jobs_[job];
  for (std::size_t s = node.first; s < node.last; ++s) push(node, s, -placed(node, s));
  waiting_ -= node.unplaced;
  node.last = node.first;
  node.unplaced = 0;
  stale_ = true;
}

void StepFlow::extend(std::size_t job, std::size_t last) {
  ACE_CHECK(last >= jobs_[job].last && last <= jobs_[job].reach, "a window that shrinks, or beyond its reach");
  jobs_[job].last = last;
  stale_ = true;
}

}  // namespace ace
