#pragma once
/// Unit commitment: which replicas are on in each of the next periods, at least cost. In the words of the power
/// industry: a pool's replica is a generator, load is demand, loading a model is a start, an API is what needs none.
#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "plan/lp.h"

namespace ace {

/// One machine that is on or off, or `count` alike of which any number may be on. Load is in a unit of the caller's
/// choice per period, cost in one of its choice, time in periods.
struct CommitUnit {
  std::string name;
  std::int64_t count = 1;  ///< more than one only without limits on its changes and with one start cost
  bool must_run = false;
  double least = 0, most = 0;                         ///< what one carries while it is on
  double ramp_up = kInfinite, ramp_down = kInfinite;  ///< most that it may take on or lose from one period to the next
  double at_start = kInfinite, at_stop = kInfinite;   ///< most that it may carry in its first and its last period on
  std::int64_t least_up = 1, least_down = 1;          ///< periods, once it was started or stopped
  std::int64_t on_before = 0;                         ///< how many of `count` were on before the first period
  std::int64_t unchanged_before = 1'000'000;          ///< for how many periods that had been so
  double load_before = 0;                             ///< what they carried then, together
  double stop_cost = 0;
  struct Start {
    std::int64_t after = 0;  ///< for one that was off at least so many periods
    double cost = 0;
  };
  std::vector<Start> starts;  ///< ascending in both; the first is for any that may start at all. Empty: a start is free
  struct Point {
    double load = 0, cost = 0;  ///< total cost of a period in which it carries that much
  };
  std::vector<Point> curve;  ///< convex, from `least` to `most`
};

/// What may carry load without having been started: an API, work that may wait, what has to be taken when it is there.
struct CommitSource {
  std::string name;
  std::vector<double> least, most;  ///< by period
  double cost = 0;                  ///< of one unit of load
};

struct UnitCommitment {
  std::vector<double> demand;   ///< by period, all of which is carried
  std::vector<double> reserve;  ///< room on units that are on, beyond what they carry, by period; empty: none
  std::vector<CommitUnit> units;
  std::vector<CommitSource> sources;
};

struct CommitPlan {
  struct Unit {
    std::vector<std::int64_t> on;  ///< how many, by period
    std::vector<double> load;      ///< together, by period
    std::int64_t starts = 0;
  };
  std::vector<Unit> units;                   ///< as in the commitment
  std::vector<std::vector<double>> sources;  ///< load by source and period
  double cost = 0;
  double bound = 0;  ///< no plan costs less
};

/// The three-binary formulation with tightened limits (Knueven, Ostrowski, Watson 2020, "On mixed-integer programming
/// formulations for the unit commitment problem"; the reference model of pglib-uc has the same solutions).
/// @return bad_input naming the unit and what is wrong with it; out_of_range where nothing can carry the demand;
/// unavailable where the solver gave up
Result<CommitPlan> commit_units(const UnitCommitment& commitment, const LpSolver& solver,
                                const LpSolver::Options& options = {});
/// What its relaxation costs in which a part of a unit may be on: a lower bound, and far faster.
Result<double> commit_bound(const UnitCommitment& commitment, const LpSolver& solver);

/// Everything of a plan that does not hold, or nothing: for tests, and for plans that come from elsewhere.
/// @param cost  if not null, what the plan costs by its own account
std::vector<std::string> broken_rules(const UnitCommitment& commitment, const CommitPlan& plan, double* cost = nullptr);

}  // namespace ace
