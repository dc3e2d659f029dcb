#include "gateway/standing_cost.h"

#include <algorithm>

namespace ace::gateway {
namespace {

std::int64_t ms_of(Instant at) { return nanos(at) / 1'000'000; }

std::size_t units_of(const Destination& d) {
  return runs_on_gpus(d.tier) ? static_cast<std::size_t>(std::max<std::int64_t>(d.units.units, 0)) : 0;
}

}  // namespace

bool StandingCost::any() const {
  const std::vector<Destination>& all = world_->fleet.destinations;
  return std::any_of(all.begin(), all.end(), [](const Destination& d) { return units_of(d) > 0; }) ||
         has_fixed_cost(world_->snapshot, since_);
}

std::vector<event::Event> StandingCost::until(Instant now) const {
  std::vector<event::Event> said, costs;
  if (now <= told_ || ms_of(now) == ms_of(since_)) return said;
  const std::vector<Destination>& destinations = world_->fleet.destinations;
  for (std::uint32_t d = 0; d < destinations.size(); ++d) {
    const std::vector<UnitLife> lives(units_of(destinations[d]), UnitLife{since_});
    for (event::GpuBooking& booking : gpu_bookings(destinations[d], lives, told_, now))
      said.emplace_back(std::move(booking));
    for (const event::FixedCost& cost : fixed_cost(world_->snapshot, DestinationId{d}, lives, since_, now))
      costs.emplace_back(cost);
  }
  said.insert(said.end(), costs.begin(), costs.end());
  if (const auto hosts = hosts_cost(world_->fleet, since_, now)) said.emplace_back(*hosts);
  return said;
}

}  // namespace ace::gateway
