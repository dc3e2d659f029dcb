#include "plan/valley.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/int128.h"

namespace ace {
namespace {

constexpr std::int64_t kMillisPerHour = 3'600'000;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::int64_t kWorkMost = std::int64_t{1} << 45;  // of a job, so that sums over 200,000 fit

Usd cost_of(std::int64_t unit_ms, Usd hourly) {
  return {static_cast<std::int64_t>(divide_half_away(int128{unit_ms} * hourly.nano, kMillisPerHour))};
}

Usd price_at(const Trough& trough, std::size_t step) { return trough.price.empty() ? Usd{} : trough.price[step]; }

Result<void> check(const DeferrableJob& job, Duration step) {
  const auto bad = [&](std::string_view what) {
    return Error(Errc::bad_input, fmt::format("job \"{}\": {}", job.name, what));
  };
  if (job.work <= 0 || job.work > kWorkMost) return bad("expected work above 0 and below 9 million unit-hours");
  if (job.deadline <= job.earliest) return bad("its deadline is not after its earliest start");
  if (job.units_min < 1 || job.units_max < job.units_min || job.units_max > 1'000'000)
    return bad("expected 1 <= units_min <= units_max <= 1,000,000");
  if (job.restart < Duration{} || job.restart > step)
    return bad("expected a restart from 0 to one step of the forecast");
  return {};
}

/// Room that opens at one price: under the knee, or bought.
struct Tier {
  Usd price;
  bool bought;
  std::size_t step;
};

/// The order of least cost. Of equal prices the earliest step comes first, but what is bought comes last and as late as
/// possible: the next forecast may have room after all.
std::vector<Tier> tiers_of(const Trough& trough) {
  std::vector<Tier> tiers;
  for (std::size_t s = 0; s < trough.room.size(); ++s) tiers.push_back({price_at(trough, s), false, s});
  if (trough.bought)
    for (std::size_t s = trough.room.size(); s-- > 0;) tiers.push_back({*trough.bought, true, s});
  std::stable_sort(tiers.begin(), tiers.end(), [](const Tier& a, const Tier& b) {
    return a.price != b.price ? a.price < b.price : a.bought < b.bought;
  });
  return tiers;
}

}  // namespace

Result<Trough> trough_of(const Series& free_units) {
  const auto bad = [&](const std::string& what) {
    return Error(Errc::bad_input, fmt::format("free units \"{}\": {}", free_units.name, what));
  };
  if (free_units.step < Duration{1'000'000} || free_units.step > kDay) return bad("expected steps of 1ms to 24h");
  Trough trough{free_units.start, free_units.step, {}, {}, {}};
  for (std::size_t i = 0; i < free_units.values.size(); ++i) {
    const double units = is_gap(free_units.values[i]) ? 0.0 : free_units.values[i];
    if (!(units >= 0.0 && units <= 1e6))
      return bad(fmt::format("expected 0 to 1,000,000 units, got {} at {}", units, to_rfc3339(free_units.at(i))));
    trough.room.push_back(static_cast<std::int64_t>(std::floor(units * static_cast<double>(trough.step_ms()))));
  }
  return trough;
}

void ValleyPlanner::open_by_price() {
  for (const Tier& tier : tiers_of(trough_))
    if (!tier.bought) flow_.open(tier.step, trough_.room[tier.step]);
}

std::span<const Slot> ValleyPlan::of(std::size_t job) const {
  const auto [first, last] = std::equal_range(slots.begin(), slots.end(), Slot{job, 0, 0},
                                              [](const Slot& a, const Slot& b) { return a.job < b.job; });
  return {first, last};
}

ValleyPlanner::Window ValleyPlanner::window(const DeferrableJob& job) const {
  const auto steps = static_cast<std::int64_t>(trough_.room.size());
  const std::int64_t step = nanos(trough_.step);
  const std::int64_t first = -floor_div(-nanos(job.earliest - trough_.start), step);
  const std::int64_t last = floor_div(nanos(job.deadline - trough_.start), step);
  Window w{static_cast<std::size_t>(std::clamp<std::int64_t>(first, 0, steps)), 0};
  w.last = std::max(w.first, static_cast<std::size_t>(std::clamp<std::int64_t>(last, 0, steps)));
  return w;
}

Result<std::size_t> ValleyPlanner::admit(const DeferrableJob& job) {
  if (Result<void> fine = check(job, trough_.step); !fine) return Error(fine.error());
  cheapest_ = false;
  const std::size_t number = jobs_.size();
  jobs_.push_back(job);
  node_.push_back(kNone);
  runs_.emplace_back();
  states_.emplace_back();
  bool fits = false;
  if (job.divisible()) {
    const Window w = window(job);
    node_[number] = flow_.add({w.first, w.last, job.units_max * trough_.step_ms(), job.work}, trough_.room.size());
    fits = flow_.place(node_[number]) == 0;
  } else {
    fits = place_run(number) || exchange(number);
  }
  if (fits) return number;
  const std::optional<Instant> earliest = earliest_end(number);
  if (node_[number] != kNone) flow_.remove(node_[number]);
  release(runs_[number]);
  jobs_.pop_back();
  node_.pop_back();
  runs_.pop_back();
  states_.pop_back();
  return Error(Errc::conflict, fmt::format("job \"{}\" does not fit under the knee before its deadline {}; {}",
                                           job.name, to_rfc3339(job.deadline),
                                           earliest ? "the earliest that it can be done is " + to_rfc3339(*earliest)
                                                    : "nor by the end of the forecast, " +
                                                          to_rfc3339(trough_.at(trough_.room.size()))));
}

Result<void> ValleyPlanner::take(std::span<const DeferrableJob> jobs) {
  for (const DeferrableJob& job : jobs)
    if (Result<void> fine = check(job, trough_.step); !fine) return fine;
  jobs_.insert(jobs_.end(), jobs.begin(), jobs.end());
  states_.resize(jobs_.size());
  runs_.resize(jobs_.size());
  replan(runs_);
  return {};
}

/// When a job that does not fit would be done if its deadline were later, beside all others.
std::optional<Instant> ValleyPlanner::earliest_end(std::size_t job) {
  if (node_[job] == kNone) {
    const Instant deadline = jobs_[job].deadline;
    jobs_[job].deadline = trough_.at(trough_.room.size());
    const bool fits = place_run(job, true);
    jobs_[job].deadline = deadline;
    if (!fits) return std::nullopt;
    return trough_.at(runs_[job].steps.back() + 1);
  }
  for (std::size_t last = window(jobs_[job]).last + 1; last <= trough_.room.size(); ++last) {
    flow_.extend(node_[job], last);
    if (flow_.place(node_[job]) == 0) return trough_.at(last);
  }
  return std::nullopt;
}

void ValleyPlanner::worked() {
  const ValleyPlan now = plan();
  std::vector<bool> paused(states_.size());
  for (std::size_t j = 0; j < states_.size(); ++j) {
    paused[j] = states_[j].begun && !states_[j].running;
    states_[j].running = false;
  }
  for (const Slot& slot : now.slots) {
    if (slot.step != 0) continue;
    DeferrableJob& job = jobs_[slot.job];
    State& state = states_[slot.job];
    if (job.divisible()) {
      job.work -= slot.work;
      continue;
    }
    const std::int64_t lost = paused[slot.job] ? runs_[slot.job].units * nanos(job.restart) / 1'000'000 : 0;
    job.work = std::max<std::int64_t>(0, job.work - std::max<std::int64_t>(0, slot.work - lost));
    state = {true, true, runs_[slot.job].units};
  }
}

ValleyPlan ValleyPlanner::plan() const {
  const std::size_t steps = trough_.room.size();
  ValleyPlan plan;
  plan.load.resize(steps);
  plan.bought.resize(steps);
  plan.unplaced.resize(jobs_.size());
  // Nothing was admitted one by one since all was placed by price: what lies under the knee is as it should be.
  const bool placed = cheapest_ && (!trough_.bought || std::all_of(trough_.price.begin(), trough_.price.end(),
                                                                   [&](Usd p) { return p <= *trough_.bought; }));
  StepFlow flow = placed ? flow_ : StepFlow(steps);
  std::vector<std::size_t> node = placed ? node_ : std::vector<std::size_t>(jobs_.size(), kNone);
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    if (jobs_[j].divisible()) {
      if (placed) continue;
      const Window w = window(jobs_[j]);
      node[j] = flow.add({w.first, w.last, jobs_[j].units_max * trough_.step_ms(), jobs_[j].work});
    } else if (runs_[j].steps.empty()) {
      plan.unplaced[j] = jobs_[j].work;
    }
    for (const std::size_t s : runs_[j].steps)
      (runs_[j].is_bought ? plan.bought : plan.load)[s] += runs_[j].units * trough_.step_ms();
  }
  const std::vector<std::int64_t> taken = plan.load;
  const std::int64_t all = std::accumulate(jobs_.begin(), jobs_.end(), std::int64_t{0},
                                           [](std::int64_t sum, const DeferrableJob& job) { return sum + job.work; });
  for (const Tier& tier : tiers_of(trough_)) {
    const bool done = placed && !tier.bought;
    const std::int64_t before = done ? 0 : flow.load(tier.step);
    if (!done) flow.open(tier.step, tier.bought ? all : trough_.room[tier.step] - taken[tier.step]);
    (tier.bought ? plan.bought : plan.load)[tier.step] += flow.load(tier.step) - before;
  }
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    for (const std::size_t s : runs_[j].steps) plan.slots.push_back({j, s, runs_[j].units * trough_.step_ms()});
    if (node[j] == kNone) continue;
    plan.unplaced[j] = flow.unplaced(node[j]);
    const Window w = window(jobs_[j]);
    for (std::size_t s = w.first; s < w.last; ++s)
      if (const std::int64_t work = flow.at(node[j], s); work > 0) plan.slots.push_back({j, s, work});
  }
  for (std::size_t s = 0; s < steps; ++s) {
    plan.cost += cost_of(plan.load[s], price_at(trough_, s));
    if (trough_.bought) plan.cost += cost_of(plan.bought[s], *trough_.bought);
  }
  return plan;
}

std::vector<DonatableHour> donatable(const Trough& trough, const ValleyPlan& plan) {
  std::vector<DonatableHour> hours;
  for (std::size_t s = 0; s < trough.room.size(); ++s) {
    const Instant hour = instant(hour_of(trough.at(s)) * nanos(kHour));
    if (hours.empty() || hours.back().hour != hour) hours.push_back({hour, 0.0, 0.0});
    hours.back().free_unit_hours += static_cast<double>(trough.room[s]) / kMillisPerHour;
    hours.back().planned_unit_hours += static_cast<double>(plan.load[s]) / kMillisPerHour;
  }
  return hours;
}

}  // namespace ace
