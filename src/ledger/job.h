#pragma once
/// Deferrable work that asks for GPU time: what it would have cost to rent, and what it cost in a trough. ECONOMICS 6.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/time.h"
#include "ledger/counterfactual.h"
#include "spine/spine.h"

namespace ace {

/// A job in GPU-hours, as it was submitted.
struct GpuJob {
  std::int64_t row = 0;
  std::uint32_t tenant = 0;  ///< symbol
  Instant submitted{}, deadline{};
  std::string accelerator;     ///< GPU class: a name of the hardware table
  GpuMillis work{0};           ///< of all its GPUs together
  std::int64_t gpus = 1;       ///< that run side by side
  Duration checkpoint{kHour};  ///< an eviction loses what was done since the last one
  friend bool operator==(const GpuJob&, const GpuJob&) = default;
};

/// A stretch of one of its GPUs. `booking.use` is valley; the ledger refuses a millisecond that is booked already.
struct JobStretch {
  DestinationId destination;
  event::GpuBooking booking;
};

struct SettledJob {
  Chain chain;
  GpuMillis booked{0};             ///< of its stretches: its work, and what was done twice
  Reason excluded = Reason::none;  ///< no_baseline: nobody rents out its GPU class on demand
  Reason withheld = Reason::none;  ///< slo_request: finished after its deadline
  bool finished = false;
  [[nodiscard]] Usd claimed() const { return chain.saving(); }
  /// What counts of it: losses always, savings only of what kept its deadline.
  [[nodiscard]] Usd counted() const {
    return withheld == Reason::none && excluded == Reason::none ? claimed() : std::min(claimed(), Usd{});
  }
};

/// How much longer than its work a job is expected to run where a unit is taken with this chance within an hour, and
/// each loss means that the segment since the last checkpoint is done again:
///
///   (e^(r s) - 1) / (r s),  r = -ln(1 - hazard) per hour, s = the lesser of checkpoint interval and running time
///
/// @param hazard_per_hour  in [0, 1)
/// Source: mean time to complete under exponential failures, Daly 2006, eq. 5 without restart cost.
double expected_redo(double hazard_per_hour, Duration segment);

/// Settles one job by what it asked for and the stretches it ran in.
///
///   C0 = C1 = C2   its work at the cheapest on-demand price of its GPU class when it was submitted
///   C3             the cheapest spot of that class that was to be had then, expected redo included; C2 if there was
///   none C4             what its stretches cost at the margin: energy on owned GPUs (busy less idle power, PUE, the
///   price of
///                  the hour in which each begins), nothing on rented ones whose hour is in the fixed cost
///
/// Each amount is rounded once, half away from zero. A job that did not finish has C0..C3 = 0. One without a baseline
/// has C0..C3 := C4. Levers: arbitrage = C2 - C3, utilization = C3 - C4.
/// @param finished  when its last stretch ended the work; none if it never did
/// @return bad_input if a stretch is empty, is no valley, is on another GPU class or before the submission, or if fewer
///         GPU-milliseconds were booked than a finished job asked for.
Result<SettledJob> settle(const Snapshot& fleet, const GpuJob& job, std::span<const JobStretch> stretches,
                          std::optional<Instant> finished);

}  // namespace ace
