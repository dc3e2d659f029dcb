#pragma once
/// Islands: parts of a fleet that share nothing, so they can be replayed side by side with the same result.
#include <cstdint>
#include <vector>

#include "dispatch/dispatch.h"

namespace ace {

/// Connected components of (model, equivalents, destinations, shared limits), numbered by their smallest model.
struct Islands {
  std::vector<std::uint32_t> of_model;  ///< by ModelId
  std::vector<std::uint32_t>
      of_destination;  ///< by DestinationId; destinations without a model are an island of their own
  std::uint32_t count = 0;
};
Islands find_islands(const Snapshot& fleet);

}  // namespace ace
