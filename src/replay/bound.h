#pragma once
/// What no dispatch, and no plan, could have beaten: true lower bounds on the cost of serving what a run served.
///
/// **Dispatch bound.** The fleet, its unit states, its fixed cost and the cache policy are as they were; the choice is
/// where and when. For request r, destination d and stretch of time t let x[r,d,t] be the share of r that is done
/// there, cost[r,d] its booked marginal cost at the price of its admission hour with every block seen before cached
/// where that is cheaper, use[r,d] what it takes of d's limited resources and C[d,t] what d can give (caps, not knees;
/// both as in bound_world.h). Any schedule the plant could run is a point of
///
///   min  sum x cost    s.t.  sum over (d, t) of x[r] = 1,  sum over r of x use <= C[d,t],  x >= 0,
///
/// where t ranges over [arrival, arrival + limit + longest residence]. For every lambda >= 0, duality gives
///
///   LB(lambda) = sum over r of min over (d, t) of (cost[r,d] + lambda[d,t] use[r,d])  -  sum over (d, t) of lambda C
///             <= the minimum.
///
/// So each choice of lambda is a bound. lambda starts at 0 and is improved over a few passes (shadow_prices.h); the
/// best LB of all passes is kept. Time costs a range minimum over lambda, memory is destinations x stretches.
///
/// **Plan bound.** What is held is chosen too, with foresight, at most what the fleet file may ever run: n[d,t] in
/// [0, 1] of it. Fixed cost is at least once[d] h[d] + sum over t of running[d,t] n[d,t] with n <= h <= 1 (amortization
/// and fees for the whole run, idle power and rent by time; billing increments and whole units only add), capacity is
/// n C. Hosts of ACE stay. Minimising over n and h inside the dual gives
///
///   LB_plan(lambda) = sum over r of min(...) + sum over d of min(0, once[d] + sum over t of min(0, running - lambda
///   C))
///                     - sum lambda x (one request over, of a meter) + hosts
///
/// with C now the most that may be held. A pay-as-you-go quota is a destination that is held for nothing.
#include <functional>

#include "replay/run.h"

namespace ace {

struct BoundOptions {
  Naming naming;
  Instant from = Instant::min(), to = Instant::max();  ///< of arrivals, as in the run
  Slowdown slowdown;                                   ///< of the plant, as in the run
  std::uint64_t passes = 12;                           ///< over the source
  std::uint64_t block_bits = std::uint64_t{1} << 27;   ///< memory of blocks seen: 16 MB; fewer bits loosen the bound
  std::function<void(double)> progress;                ///< share done
};

/// @param run of the same fleet and source, with facts
/// @param uncached C0 without the provider's own cache, for that baseline
/// @return as the source; unavailable if it can be read only once
Result<BoundResult> bound(const Snapshot& fleet, RequestSource& source, const RunResult& run,
                          const BoundOptions& options, bool uncached = false);

}  // namespace ace
