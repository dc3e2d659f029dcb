#pragma once
/// Valley filling: deferrable work goes under the knee of the troughs of online traffic. ECONOMICS 3, 10.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/money.h"
#include "core/result.h"
#include "core/time.h"
#include "plan/series.h"
#include "plan/step_flow.h"

namespace ace {

/// Work that may wait. Only whole steps within [earliest, deadline) are used, so that a promise does not rest on where
/// in a step the room is.
struct DeferrableJob {
  std::string name;
  std::int64_t work = 0;                      ///< unit-milliseconds (GPU-milliseconds where a unit is a GPU)
  Instant earliest{}, deadline{};             ///< deadline after earliest
  std::int64_t units_min = 1, units_max = 1;  ///< side by side while it runs; 1 <= units_min <= units_max
  bool preemptible = true;
  Duration
      restart{};  ///< each of its units loses this when the job goes on after a pause; at most a step of the trough
  /// May it run on any number of units up to units_max in any steps, at no cost? Then its plan is exact.
  [[nodiscard]] bool divisible() const { return preemptible && units_min == 1 && restart == Duration{}; }
  friend bool operator==(const DeferrableJob&, const DeferrableJob&) = default;
};

/// Room for deferrable work, step by step.
struct Trough {
  Instant start{};
  Duration step = kHour;
  std::vector<std::int64_t> room;  ///< unit-milliseconds that stay free under the knee
  std::vector<Usd> price;          ///< of a unit-hour there, energy as a rule; empty = nothing
  std::optional<Usd> bought;       ///< of a unit-hour that can always be had (on demand); nothing = none can
  [[nodiscard]] Instant at(std::size_t i) const { return start + static_cast<std::int64_t>(i) * step; }
  [[nodiscard]] std::int64_t step_ms() const { return nanos(step) / 1'000'000; }
};

/// The room of a forecast of free units; a gap has none.
/// @return bad_input for a negative number of units, more than a million, or a step below a millisecond or above a day
Result<Trough> trough_of(const Series& free_units);

struct Slot {
  std::size_t job, step;
  std::int64_t work;  ///< unit-milliseconds; of a job that is not divisible: what is kept for it
  friend bool operator==(const Slot&, const Slot&) = default;
};

struct ValleyPlan {
  std::vector<Slot> slots;             ///< by job, then step
  std::vector<std::int64_t> load;      ///< by step, under the knee
  std::vector<std::int64_t> bought;    ///< by step, beside it
  std::vector<std::int64_t> unplaced;  ///< by job: work that lies nowhere
  Usd cost{};                          ///< of load and bought, each step rounded once
  [[nodiscard]] std::span<const Slot> of(std::size_t job) const;
};

/// Jobs, a forecast of the room, and where each job goes. A job that is admitted fits, by a plan that was made, beside
/// all that were admitted before; when the forecast moves, the plan is made again.
///
/// Exact for divisible jobs (StepFlow): a job is refused only if no arrangement holds it, and plan() costs least. The
/// others are placed in whole steps, earliest deadline first, and exchanged where one does not fit: whoever is admitted
/// has a place, but one that had none may have had one.
class ValleyPlanner {
 public:
  explicit ValleyPlanner(Trough trough) : flow_(0) { forecast(std::move(trough)); }

  /// @return the job's number; conflict if it does not fit under the knee, saying from when on it would be done;
  /// bad_input for a job outside of the bounds of DeferrableJob
  Result<std::size_t> admit(const DeferrableJob& job);
  /// Jobs that were admitted elsewhere, all at once: no promise, but unplaced() says what does not fit.
  Result<void> take(std::span<const DeferrableJob> jobs);

  /// A new forecast; its start is the present. Jobs that are not divisible keep their places while these hold. What no
  /// longer fits under the knee is bought as late as it can be, if anything can be; else it is unplaced.
  void forecast(Trough trough);
  /// The present step has gone by as planned; the next forecast() starts after it.
  void worked();

  [[nodiscard]] const std::vector<DeferrableJob>& jobs() const { return jobs_; }
  /// What is left of a job's work.
  [[nodiscard]] std::int64_t left(std::size_t job) const { return jobs_[job].work; }
  /// The plan of least cost, given where the jobs are that are not divisible.
  [[nodiscard]] ValleyPlan plan() const;

 private:
  /// Steps in which a job that is not divisible runs, on how many units.
  struct Run {
    std::vector<std::size_t> steps;
    std::int64_t units = 0;
    bool is_bought = false;
  };
  struct Window {
    std::size_t first = 0, last = 0;
  };
  [[nodiscard]] Window window(const DeferrableJob& job) const;
  [[nodiscard]] std::int64_t steps_needed(std::size_t job, std::int64_t units, bool resumed) const;
  void open_by_price();
  void replan(const std::vector<Run>& kept);
  void lay_out(const std::vector<Run>& kept);
  [[nodiscard]] bool serves(const Run& run, std::size_t job) const;
  [[nodiscard]] std::size_t without_room() const;
  std::optional<Instant> earliest_end(std::size_t job);
  bool reserve(std::span<const std::size_t> steps, std::int64_t units);
  void release(const Run& run);
  bool place_run(std::size_t job, bool soonest = false);
  bool place_block(std::size_t job, std::int64_t units, bool soonest);
  bool place_pieces(std::size_t job, std::int64_t units);
  bool exchange(std::size_t job);
  bool buy(std::size_t job);

  Trough trough_;
  StepFlow flow_;  ///< of the divisible jobs, in the room that the runs leave
  std::vector<DeferrableJob> jobs_;
  std::vector<std::size_t> node_;  ///< of each divisible job in the flow
  std::vector<Run> runs_;
  struct State {
    bool begun = false, running = false;  ///< of a job that is not divisible: at all; in the step before this one
    std::int64_t units = 0;               ///< a block that has begun keeps them
  };
  std::vector<State> states_;
  bool cheapest_ = false;  ///< the flow is the one of least cost under the knee, and there are no runs
};

/// One hour of what could be given away: free under the knee, planned, and left.
struct DonatableHour {
  Instant hour{};
  double free_unit_hours = 0.0, planned_unit_hours = 0.0;
  [[nodiscard]] double left_unit_hours() const { return free_unit_hours - planned_unit_hours; }
};
std::vector<DonatableHour> donatable(const Trough& trough, const ValleyPlan& plan);

}  // namespace ace
