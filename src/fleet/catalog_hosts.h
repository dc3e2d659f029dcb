#pragma once
/// Inside the reader of catalogs: machines whose vendor sells the host and its accelerators apart.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/catalog.h"

namespace ace {

/// The accelerators that a machine type cannot be had without.
struct BuiltIn {
  std::string accelerator;  ///< canonical
  std::int64_t count = 0;
};
/// Of Google's a2, a3, a4, g2 and g4 machines. Source: cloud.google.com/compute/docs/gpus (machine types and their
/// GPUs, read 2026-11); nothing for a type that is not in that table.
std::optional<BuiltIn> built_in(std::string_view machine);
/// Is it of one of those families, whatever its size?
bool of_gpu_family(std::string_view machine);

/// Adds the price of a machine's accelerators to that of its host, where the catalog lists both for one place: SkyPilot
/// keeps them on rows of their own (the host's without an accelerator, the accelerator's without a machine) and adds
/// them up in the same way. On-demand and spot are summed apart; a part that is missing leaves no price.
/// @param host priced for the host alone @param accelerators rows without a machine
/// @return not_found naming what is missing
Result<RentalOffer> with_accelerators(const RentalOffer& host, const std::vector<RentalOffer>& accelerators);

}  // namespace ace
