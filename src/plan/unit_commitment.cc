#include "plan/unit_commitment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plan/unit_commitment_program.h"

namespace ace {
namespace {

Error wrong(const CommitUnit& unit, const std::string& what) {
  return {Errc::bad_input, fmt::format("unit {}: {}", unit.name, what)};
}

Result<void> check_curve(const CommitUnit& unit) {
  if (unit.curve.empty()) return wrong(unit, "has no cost curve");
  constexpr double kClose = 1e-6;
  if (std::abs(unit.curve.front().load - unit.least) > kClose || std::abs(unit.curve.back().load - unit.most) > kClose)
    return wrong(unit, fmt::format("its cost curve goes from {} to {}, but it carries {} to {}",
                                   unit.curve.front().load, unit.curve.back().load, unit.least, unit.most));
  double slope = -kInfinite;
  for (std::size_t k = 1; k < unit.curve.size(); ++k) {
    const double width = unit.curve[k].load - unit.curve[k - 1].load;
    const double next = (unit.curve[k].cost - unit.curve[k - 1].cost) / width;
    if (!(width > 0)) return wrong(unit, fmt::format("its cost curve does not rise in load at point {}", k + 1));
    if (!(next >= slope - kClose * std::abs(slope)))
      return wrong(unit, fmt::format("its cost curve is not convex at {}", unit.curve[k - 1].load));
    slope = next;
  }
  return {};
}

Result<void> check_unit(const CommitUnit& u) {
  if (!(u.least >= 0 && u.most >= u.least && u.most < kInfinite))
    return wrong(u, fmt::format("carries {} to {}; expected 0 <= least <= most", u.least, u.most));
  if (u.count < 1) return wrong(u, fmt::format("there are {} of it; expected at least 1", u.count));
  if (!(u.ramp_up > 0 && u.ramp_down > 0)) return wrong(u, "a limit of its changes is not positive");
  if (!(u.at_start >= u.least && u.at_stop >= u.least))
    return wrong(u, fmt::format("could never start or stop: {} and {} allowed then, it carries at least {}", u.at_start,
                                u.at_stop, u.least));
  if (u.least_up < 1 || u.least_down < 1) return wrong(u, "is on and off for at least one period");
  if (u.on_before < 0 || u.on_before > u.count || u.unchanged_before < 1)
    return wrong(u, fmt::format("{} of {} were on before, for {} periods", u.on_before, u.count, u.unchanged_before));
  if (!(u.stop_cost >= 0)) return wrong(u, "stopping it costs less than nothing");
  for (std::size_t s = 0; s < u.starts.size(); ++s)
    if (!(u.starts[s].cost >= 0) || u.starts[s].after < 0 ||
        (s > 0 && (u.starts[s].after <= u.starts[s - 1].after || u.starts[s].cost < u.starts[s - 1].cost)))
      return wrong(u, "its start costs do not rise with the time that it was off");
  const bool limited = u.ramp_up < u.most - u.least || u.ramp_down < u.most - u.least || u.at_start < u.most ||
                       u.at_stop < u.most || u.starts.size() > 1;
  if (u.count > 1 && limited)
    return wrong(u, "several alike have no limits on their changes and one start cost; list them one by one");
  return check_curve(u);
}

Result<void> check(const UnitCommitment& c) {
  const auto bad = [](std::string what) { return Error(Errc::bad_input, std::move(what)); };
  if (c.demand.empty()) return bad("a commitment has at least one period");
  if (!c.reserve.empty() && c.reserve.size() != c.demand.size())
    return bad(fmt::format("reserve has {} periods, demand {}", c.reserve.size(), c.demand.size()));
  for (std::size_t t = 0; t < c.demand.size(); ++t)
    if (!(c.demand[t] >= 0 && c.demand[t] < kInfinite) || !(c.reserve.empty() || c.reserve[t] >= 0))
      return bad(fmt::format("period {}: demand {} and its reserve are not both 0 or more", t + 1, c.demand[t]));
  for (const CommitUnit& unit : c.units)
    if (Result<void> sound = check_unit(unit); !sound) return sound;
  for (const CommitSource& s : c.sources) {
    if (s.least.size() != c.demand.size() || s.most.size() != c.demand.size())
      return bad(fmt::format("source {}: has limits for {} and {} periods, demand for {}", s.name, s.least.size(),
                             s.most.size(), c.demand.size()));
    if (!std::isfinite(s.cost)) return bad(fmt::format("source {}: costs {}", s.name, s.cost));
    for (std::size_t t = 0; t < s.least.size(); ++t)
      if (!(s.least[t] >= 0 && s.most[t] >= s.least[t]))
        return bad(fmt::format("source {}, period {}: from {} to {}", s.name, t + 1, s.least[t], s.most[t]));
  }
  return {};
}

/// Where the relaxation has a unit wholly on or off, it mostly is in the best plan too; what is left is small. @return
/// what the best of these plans costs, or why there is none
Result<LpSolution> near_relaxed(LinearProgram program, const LpSolution& relaxed, const LpSolver& solver, double gap) {
  for (std::size_t c = 0; c < program.columns.size(); ++c) {
    if (!program.integer[c]) continue;
    const double whole = std::round(relaxed.columns[c]);
    if (std::abs(relaxed.columns[c] - whole) < 1e-6) program.columns[c] = {whole, whole};
  }
  return solver.solve(program, {.gap = gap});
}

}  // namespace

Result<CommitPlan> commit_units(const UnitCommitment& commitment, const LpSolver& solver,
                                const LpSolver::Options& options) {
  if (Result<void> sound = check(commitment); !sound) return std::move(sound).error();
  const UnitCommitmentProgram program(commitment);
  const Result<LpSolution> relaxed = solver.solve(program.relaxed());
  if (!relaxed) return Error(relaxed.error());
  Result<LpSolution> solved = near_relaxed(program.whole(), *relaxed, solver, options.gap / 10);
  if (solved) solved->bound = relaxed->cost;
  if (!solved || solved->cost - relaxed->cost > options.gap * std::abs(solved->cost))
    solved = solver.solve(program.whole(), options);
  if (!solved) return Error(solved.error());
  return program.plan(*solved);
}

Result<double> commit_bound(const UnitCommitment& commitment, const LpSolver& solver) {
  if (Result<void> sound = check(commitment); !sound) return std::move(sound).error();
  const Result<LpSolution> solved = solver.solve(UnitCommitmentProgram(commitment).relaxed());
  if (!solved) return Error(solved.error());
  return solved->cost;
}

}  // namespace ace
