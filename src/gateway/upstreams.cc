#include "gateway/upstreams.h"

#include <algorithm>

#include "gateway/config.h"

namespace ace::gateway {

Result<std::shared_ptr<const Upstreams>> Upstreams::make(const Snapshot& snapshot, const ReadSecret& read) {
  const Fleet& fleet = snapshot.fleet();
  auto upstreams = std::make_shared<Upstreams>();
  for (std::uint32_t d = 0; d < fleet.destinations.size(); ++d) {
    std::unique_ptr<Upstream>& upstream = upstreams->upstreams_.emplace_back();
    const Destination& destination = fleet.destinations[d];
    if (fleet.providers[destination.provider.value].api == Api::none) continue;
    Result<std::unique_ptr<Upstream>> made = make_upstream(fleet, DestinationId{d}, read);
    if (!made) return std::move(made).error().with("destination " + destination.name);
    upstream = *std::move(made);
  }
  for (std::size_t operation = 0; operation < wire::kOperations; ++operation)
    for (std::uint32_t o = 0; o < snapshot.offers().size(); ++o) {
      const Upstream* const upstream = upstreams->at(snapshot.offers()[o].destination);
      if (upstream == nullptr || !upstream->speaks(static_cast<wire::Operation>(operation)))
        upstreams->unable_[operation].push_back(OfferId{o});
    }
  return std::shared_ptr<const Upstreams>(std::move(upstreams));
}

std::vector<bool> Upstreams::callable() const {
  std::vector<bool> callable;
  for (const auto& upstream : upstreams_) callable.push_back(upstream != nullptr);
  return callable;
}

std::vector<DestinationId> Upstreams::passing(std::string_view path) const {
  std::vector<DestinationId> passing;
  for (std::uint32_t d = 0; d < upstreams_.size(); ++d)
    if (upstreams_[d] != nullptr && upstreams_[d]->passes(path)) passing.push_back(DestinationId{d});
  return passing;
}

bool Upstreams::able(const Snapshot& snapshot, wire::Operation operation, ModelId model) const {
  const std::span<const OfferId> out = unable(operation);
  const std::span<const OfferId> candidates = snapshot.candidates(model);
  return std::any_of(candidates.begin(), candidates.end(),
                     [&](OfferId offer) { return !std::binary_search(out.begin(), out.end(), offer); });
}

Result<std::shared_ptr<const World>> make_world(FleetReading reading, std::vector<FleetText> files,
                                                const std::map<std::string, std::string>& routes,
                                                const ReadSecret& read) {
  auto world = std::make_shared<World>(std::move(reading.fleet));
  world->files = std::move(files);
  Result<std::shared_ptr<const Upstreams>> upstreams = Upstreams::make(world->snapshot, read);
  if (!upstreams) return std::move(upstreams).error();
  world->upstreams = *std::move(upstreams);
  Result<std::vector<OfferId>> fixed = static_routes(world->snapshot, routes, world->upstreams->callable());
  if (!fixed) return std::move(fixed).error();
  world->routes = *std::move(fixed);
  return std::shared_ptr<const World>(std::move(world));
}

}  // namespace ace::gateway
