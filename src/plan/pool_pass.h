#pragma once
/// Within the planner: one pass over a trace, weighing each request for its pool.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/pool_trace.h"

namespace ace {

/// Calls `each(at, use)` for every request of the window that a pool is asked for; counts the others.
template <class Each>
Result<void> pool_pass(const Snapshot& fleet, RequestSource& source, const PoolTraceOptions& options, PoolScale& scale,
                       PoolReading& counts, const Each& each) {
  Resolver resolve(fleet, source, options.naming);
  std::vector<Arrival> batch(4096);
  std::uint64_t done = 0;
  while (true) {
    const Result<std::size_t> got = source.next(batch);
    if (!got) return Error(got.error());
    if (*got == 0) return {};
    for (std::size_t i = 0; i < *got; ++i) {
      const Arrival& arrival = batch[i];
      if (arrival.at < options.from || arrival.at >= options.to || arrival.failed || arrival.cache_hit) continue;
      const std::optional<Demand> demand = resolve(arrival);
      Unpooled why{};
      if (!demand)
        ++counts.unknown;
      else if (const PoolUse* use = scale.weigh(*demand, why))
        each(arrival.at, *use);
      else
        ++counts.left_out[static_cast<std::size_t>(why)];
    }
    if (options.progress) options.progress(source.progress(), done += *got);
  }
}

}  // namespace ace
