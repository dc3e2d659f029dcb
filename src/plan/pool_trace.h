#pragma once
/// From a trace to sizing problems: the demand of each pool, on the stretch that a plan is made from and on the one
/// that judges it; and what a plan would have cost there, request by request.
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "plan/pools.h"

namespace ace {

struct PoolTraceOptions {
  Naming naming;
  Instant from = Instant::min(), to = Instant::max();  ///< of arrivals
  Duration step = kHour;
  double train = 0.5;  ///< share of the window that plans are made from, rounded up to whole steps; 1 = all: in-sample
  std::function<void(double, std::uint64_t)> progress{};
};

/// What a pool was asked for over a stretch of time.
struct PoolPart {
  Series demand;  ///< mean units of the first destination at work, each full at its knee
  BurstProfile burst;
  Usd payg{};  ///< of all of it, exactly
  std::uint64_t requests = 0;
  double payg_hourly = 0.0;  ///< USD for the work of one unit and hour without capacity
  /// Of each destination: a unit in units of the first, by the requests of this part; 0 where none could use it.
  std::vector<double> capacity;
  std::vector<double> variable;  ///< USD for the work of one unit of the first and an hour, done here
};

struct PoolTrace {
  Pool pool;
  PoolPart train, held_out;  ///< the latter without steps where all is trained on
  [[nodiscard]] bool in_sample() const { return held_out.demand.values.empty(); }
  [[nodiscard]] const PoolPart& judge() const { return in_sample() ? train : held_out; }
};

struct PoolReading {
  std::vector<PoolTrace> pools;                     ///< those that were asked for anything
  std::array<std::uint64_t, kUnpooled> left_out{};  ///< requests, by Unpooled
  std::uint64_t unknown = 0;                        ///< requests of models that the fleet has not
  std::uint64_t partly = 0;                         ///< requests that some destinations of their pool may not serve
};

/// Reads the source twice: for the means of each step, then for the bursts within.
/// @return bad_input for a window without a request that could be sized, or as source.next() and rewind()
Result<PoolReading> read_pools(const Snapshot& fleet, RequestSource& source, const PoolTraceOptions& options);

/// Sizing on one part. Fees are those of its start.
Result<SizingProblem> problem_of(const Snapshot& fleet, const Pool& pool, const PoolPart& part);

/// A single series of demand, in units of one supply: the even spread inside of each step.
struct SizingHalves {
  Series planned_on, judged_on;  ///< the same where one step is all there is, or all is trained on
  bool in_sample = false;
  SizingProblem train, judge;
};
/// @param train share of the steps to plan on, above 0 and at most 1; @param payg USD for a unit's work of an hour
/// @return bad_input for demand that is negative, or all of whose steps are gaps on one side
Result<SizingHalves> halves_of(const Series& series, double train, const Supply& supply, double payg);

/// Units of each destination of a pool, by position in PoolReading::pools.
struct HeldUnits {
  std::size_t pool = 0;
  std::vector<std::int64_t> units;
};
/// What holding them would have cost on the stretch that judges: every request whole, in merit order to the first
/// destination that still finishes it in time, else at its own price of PAYG. Exact but for the fees' one rounding.
struct ReplayedCost {
  Usd fixed{}, variable{}, payg{};
  std::uint64_t absorbed = 0, requests = 0;
  [[nodiscard]] Usd total() const { return fixed + variable + payg; }
};
Result<std::vector<ReplayedCost>> replay_plans(const Snapshot& fleet, RequestSource& source,
                                               const PoolTraceOptions& options, const PoolReading& reading,
                                               std::span<const HeldUnits> plans);

}  // namespace ace
