#pragma once
/// The way to each destination of a world, and what can be asked there.
#include <array>
#include <memory>
#include <vector>

#include "adapters/provider.h"
#include "gateway/world.h"

namespace ace::gateway {

class Upstreams {
 public:
  /// @return bad_input naming the destination that cannot be called as its fleet file says
  static Result<std::shared_ptr<const Upstreams>> make(const Snapshot& snapshot, const ReadSecret& read);

  /// Null where the fleet file says nothing of how it is called.
  [[nodiscard]] const Upstream* at(DestinationId destination) const { return upstreams_[destination.value].get(); }
  [[nodiscard]] std::vector<bool> callable() const;
  /// Offers whose destination does not answer this operation.
  [[nodiscard]] std::span<const OfferId> unable(wire::Operation operation) const {
    return unable_[static_cast<std::size_t>(operation)];
  }
  /// Destinations that a path goes to unread, in the order of the fleet.
  [[nodiscard]] std::vector<DestinationId> passing(std::string_view path) const;
  /// Whether anybody answers it for a model or its equivalents.
  [[nodiscard]] bool able(const Snapshot& snapshot, wire::Operation operation, ModelId model) const;

 private:
  std::vector<std::unique_ptr<Upstream>> upstreams_;            ///< by destination
  std::array<std::vector<OfferId>, wire::kOperations> unable_;  ///< sorted
};

/// Compiles a fleet with all that calling it takes.
/// @param routes as configured @return as compile_fleet(), Upstreams::make(), static_routes()
Result<std::shared_ptr<const World>> make_world(FleetReading reading, std::vector<FleetText> files,
                                                const std::map<std::string, std::string>& routes,
                                                const ReadSecret& read);

}  // namespace ace::gateway
