#include "replay/islands.h"

#include <numeric>

namespace ace {

Islands find_islands(const Snapshot& fleet) {
  const std::size_t models = fleet.fleet().models.size();
  const std::size_t destinations = fleet.fleet().destinations.size();
  std::vector<std::uint32_t> parent(models + destinations);
  std::iota(parent.begin(), parent.end(), 0U);
  const auto root = [&](std::uint32_t node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
  };
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    if (a != b) parent[std::max(a, b)] = std::min(a, b);  // the smallest model names the island
  };
  const auto node_of = [&](DestinationId d) { return static_cast<std::uint32_t>(models) + d.value; };
  for (const Offer& offer : fleet.offers()) join(offer.model.value, node_of(offer.destination));
  for (std::uint32_t m = 0; m < models; ++m) {
    for (const OfferId id : fleet.candidates(ModelId{m})) join(m, node_of(fleet[id].destination));
    if (const auto& baseline = fleet.fleet().models[m].baseline) join(m, node_of(baseline->destination));
  }
  for (std::uint32_t d = 0; d < destinations; ++d)
    if (const auto spill = fleet.fleet().destinations[d].native_spill) join(node_of(DestinationId{d}), node_of(*spill));

  Islands islands;
  islands.of_model.resize(models);
  islands.of_destination.resize(destinations);
  std::vector<std::uint32_t> number(parent.size(), 0xffff'ffff);
  for (std::uint32_t node = 0; node < parent.size(); ++node) {
    std::uint32_t& n = number[root(node)];
    if (n == 0xffff'ffff) n = islands.count++;
    (node < models ? islands.of_model[node] : islands.of_destination[node - models]) = n;
  }
  return islands;
}

}  // namespace ace
