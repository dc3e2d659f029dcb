#pragma once
/// Requests in the shape of the Mooncake traces.
#include <cstdint>

#include "core/result.h"
#include "replay/source.h"
#include "trace/binary.h"

namespace ace {

/// {"timestamp": ms since the first request, "input_length", "output_length", "hash_ids"} per line. What that shape has
/// no place for (models, tenants, costs, fractions of a millisecond) is left out.
/// @return rows written, or the first error of either side
Result<std::uint64_t> write_mooncake(RequestSource& source, const ByteSink& sink);

}  // namespace ace
