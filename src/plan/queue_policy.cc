#include "plan/queue_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/int128.h"

namespace ace {
namespace {

/// Nanoseconds x units.
using UnitTime = std::int64_t;
constexpr UnitTime kForever = std::numeric_limits<UnitTime>::max();

struct Running {
  std::size_t job = 0;
  Duration remaining{};
  UnitTime attained = 0;
  UnitTime mark = kForever;  ///< of attained: where its level or guess ends
  bool on = false, begun = false;
};

class Queue {
 public:
  Queue(QueuePolicy policy, const QueueOptions& options, std::span<const QueuedJob> jobs)
      : policy_(policy), options_(options), jobs_(jobs) {
    outcome_.completion.resize(jobs.size());
  }

  QueueOutcome run() && {
    std::size_t next = 0;
    while (next < jobs_.size() || !waiting_.empty()) {
      if (waiting_.empty()) now_ = std::max(now_, jobs_[next].arrival);
      for (; next < jobs_.size() && jobs_[next].arrival <= now_; ++next) waiting_.push_back(arrived(next));
      give_out();
      Duration until = next < jobs_.size() ? jobs_[next].arrival : Duration::max();
      for (const Running& r : waiting_)
        if (r.on) until = std::min(until, now_ + next_event(r));
      advance(until - now_);
    }
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] std::int64_t units(const Running& r) const { return jobs_[r.job].units; }

  Running arrived(std::size_t j) const {
    Running r;
    r.job = j;
    r.remaining = jobs_[j].length;
    if (policy_ == QueuePolicy::feedback) r.mark = nanos(options_.quantum);
    if (policy_ == QueuePolicy::interval)
      r.mark = jobs_[j].low > Duration{} ? nanos(jobs_[j].low) * jobs_[j].units : nanos(options_.quantum);
    return r;
  }

  /// The end of the next level or guess.
  [[nodiscard]] UnitTime after(const Running& r) const {
    if (r.mark > kForever / 2) return kForever;
    const UnitTime high = nanos(jobs_[r.job].high) * units(r);
    return policy_ == QueuePolicy::interval && r.mark < high ? std::min(2 * r.mark, high) : 2 * r.mark;
  }

  [[nodiscard]] UnitTime rank(const Running& r) const {
    switch (policy_) {
      case QueuePolicy::fifo:
        return 0;
      case QueuePolicy::srpt:
        return nanos(r.remaining) * units(r);
      case QueuePolicy::feedback:
        return r.mark;
      case QueuePolicy::interval:
        break;
    }
    return r.mark - r.attained;
  }

  void give_out() {
    std::vector<std::pair<UnitTime, std::size_t>> order;
    for (std::size_t i = 0; i < waiting_.size(); ++i) order.emplace_back(rank(waiting_[i]), i);
    std::sort(order.begin(), order.end());  // waiting_ is in order of arrival
    std::int64_t left = options_.units;
    for (const auto& [ignored, i] : order) {
      Running& r = waiting_[i];
      const bool on = units(r) <= left;
      if (on) left -= units(r);
      if (r.on && !on) ++outcome_.interruptions;
      if (!r.on && on && r.begun) r.remaining += options_.restart;
      r.on = on;
      r.begun = r.begun || on;
    }
  }

  [[nodiscard]] Duration next_event(const Running& r) const {
    if (r.mark == kForever) return r.remaining;
    return std::min(r.remaining, Duration{-floor_div(-(r.mark - r.attained), units(r))});
  }

  void advance(Duration by) {
    now_ += by;
    for (Running& r : waiting_) {
      if (!r.on) continue;
      r.remaining -= by;
      r.attained += nanos(by) * units(r);
      while (r.attained >= r.mark && r.mark != kForever) r.mark = after(r);
      if (r.remaining == Duration{}) outcome_.completion[r.job] = now_ - jobs_[r.job].arrival;
    }
    std::erase_if(waiting_, [](const Running& r) { return r.remaining == Duration{}; });
  }

  QueuePolicy policy_;
  QueueOptions options_;
  std::span<const QueuedJob> jobs_;
  std::vector<Running> waiting_;
  QueueOutcome outcome_;
  Duration now_{};
};

}  // namespace

std::string_view name_of(QueuePolicy policy) {
  constexpr std::string_view kNames[] = {"fifo", "srpt", "feedback", "interval"};
  return kNames[static_cast<std::size_t>(policy)];
}

Duration QueueOutcome::mean() const {
  if (completion.empty()) return {};
  int128 sum = 0;
  for (const Duration d : completion) sum += nanos(d);
  return Duration{static_cast<std::int64_t>(sum / static_cast<int128>(completion.size()))};
}

Duration QueueOutcome::quantile(double q) const {
  if (completion.empty()) return {};
  std::vector<Duration> sorted = completion;
  std::sort(sorted.begin(), sorted.end());
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

Result<QueueOutcome> run_queue(QueuePolicy policy, const QueueOptions& options, std::span<const QueuedJob> jobs) {
  if (options.units < 1 || options.units > 100'000 || options.quantum <= Duration{} || options.restart < Duration{})
    return Error(Errc::bad_input, "expected 1 to 100,000 units, a quantum above 0 and a restart from 0 up");
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const QueuedJob& job = jobs[j];
    const auto bad = [&](std::string_view what) { return Error(Errc::bad_input, fmt::format("job {}: {}", j, what)); };
    if (job.arrival < Duration{} || (j > 0 && job.arrival < jobs[j - 1].arrival))
      return bad("it arrives before the one above");
    if (job.length <= Duration{}) return bad("expected a length above 0");
    if (job.units < 1 || job.units > options.units) return bad("it asks for no unit, or for more than there are");
    if (job.low < Duration{} || job.high < job.low) return bad("expected an interval from low to high");
    if (std::max(job.length, job.high) > 10 * 365 * kDay / job.units) return bad("expected less than ten unit-years");
  }
  return Queue(policy, options, jobs).run();
}

}  // namespace ace
