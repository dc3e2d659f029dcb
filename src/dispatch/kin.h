#pragma once
/// Which things of a fleet are the same in the one before it, so that what was learnt of one is believed of the other.
#include <vector>

#include "core/units.h"
#include "dispatch/snapshot.h"

namespace ace {

/// By number in the later fleet: the number in the earlier one, or none.
///
/// Models and tenants are the same by name. So is an SLO class whose limits and predicted miss rate are the same, and a
/// destination of which nothing has changed but its place in the file and what it costs: provider (with where and how
/// it is called), hardware, units, models, limits. An offer is the same if its destination and model are, and its
/// latency curve would begin at the same prior.
struct Kin {
  Kin(const Snapshot& before, const Snapshot& now);

  std::vector<ModelId> models;
  std::vector<TenantId> tenants;
  std::vector<SloId> slo_classes;
  std::vector<DestinationId> destinations;
  std::vector<OfferId> offers;
};

}  // namespace ace
