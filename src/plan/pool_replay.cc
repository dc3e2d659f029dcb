/// What plans would have cost, request by request.
#include <algorithm>
#include <limits>
#include <numeric>

#include "plan/pool_pass.h"

namespace ace {

Result<std::vector<ReplayedCost>> replay_plans(const Snapshot& fleet, RequestSource& source,
                                               const PoolTraceOptions& options, const PoolReading& reading,
                                               std::span<const HeldUnits> plans) {
  struct Running {
    std::vector<std::size_t> order;  // of destinations, cheapest at work first
    std::vector<double> units, backlog_s;
    Instant last{};
  };
  std::vector<ReplayedCost> costs(plans.size());
  std::vector<Running> running(plans.size());
  PoolScale scale(fleet);
  PoolReading again;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const PoolTrace& trace = reading.pools[plans[i].pool];
    const PoolPart& part = trace.judge();
    Running& r = running[i];
    r.last = part.demand.start;
    const std::size_t places = trace.pool.destinations.size();
    r.backlog_s.resize(places);
    r.order.resize(places);
    std::iota(r.order.begin(), r.order.end(), std::size_t{0});
    std::stable_sort(r.order.begin(), r.order.end(),
                     [&](std::size_t a, std::size_t b) { return part.variable[a] < part.variable[b]; });
    const std::int64_t length = nanos(part.demand.end() - part.demand.start);
    for (std::size_t k = 0; k < places; ++k) {
      const Supply supply = supply_of(fleet, trace.pool.destinations[k], part.demand.start);
      r.units.push_back(static_cast<double>(plans[i].units[k]) * supply.capacity);  // availability-weighted
      const int128 fee = divide_half_away(int128{supply.fee_hourly.nano} * plans[i].units[k] * length, nanos(kHour));
      if (fee > std::numeric_limits<std::int64_t>::max())
        return Error(Errc::out_of_range, "the fees of a plan exceed 9.2 billion USD");
      costs[i].fixed += Usd{static_cast<std::int64_t>(fee)};
    }
  }
  if (Result<void> back = source.rewind(); !back) return std::move(back).error().with("reading the trace again");
  Result<void> read = pool_pass(fleet, source, options, scale, again, [&](Instant at, const PoolUse& use) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const PoolTrace& trace = reading.pools[plans[i].pool];
      if (trace.pool.name != scale.pools()[use.pool].name) continue;
      const Series& judged = trace.judge().demand;
      if (at < judged.start || at >= judged.end()) continue;
      Running& r = running[i];
      const double passed = to_seconds(at - r.last);
      r.last = at;
      for (double& backlog : r.backlog_s) backlog = std::max(0.0, backlog - passed);
      const auto takes = std::find_if(r.order.begin(), r.order.end(), [&](std::size_t k) {
        const PoolUse::At& here = use.at[k];
        if (!(r.units[k] > 0.0) || !here.can() || here.at_work >= use.payg) return false;
        if (here.metered) return r.backlog_s[k] < here.patience_s;
        return r.backlog_s[k] + here.unit_s / r.units[k] <= here.patience_s;
      });
      ++costs[i].requests;
      if (takes == r.order.end()) {
        costs[i].payg += use.payg;
        continue;
      }
      ++costs[i].absorbed;
      costs[i].variable += use.at[*takes].at_work;
      r.backlog_s[*takes] += use.at[*takes].unit_s / r.units[*takes];
    }
  });
  if (!read) return std::move(read).error();
  return costs;
}

}  // namespace ace
