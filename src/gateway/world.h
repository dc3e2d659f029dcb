#pragma once
/// A fleet as the gateway runs it. Immutable once made; requests under way keep the one they came in under.
#include <memory>
#include <vector>

#include "adapters/fleet_files.h"
#include "dispatch/dispatch.h"

namespace ace::gateway {

class Upstreams;

struct World {
  explicit World(Fleet f) : fleet(std::move(f)), snapshot(fleet) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Fleet fleet;
  Snapshot snapshot;                           ///< of it
  std::vector<FleetText> files;                ///< it was read from, the fleet file first
  std::vector<OfferId> routes;                 ///< the static one, by model; none = nobody can be called
  std::shared_ptr<const Upstreams> upstreams;  ///< the way to its destinations; null where nothing is sent (tests)
};

}  // namespace ace::gateway
