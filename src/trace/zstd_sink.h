#pragma once
/// Zstandard on the way out.
#include "trace/binary.h"

namespace ace {

/// Runs `write` with a sink whose bytes arrive compressed at `sink`, as one frame (level 12: generated traces are
/// written once and kept). @return what `write` says, or the first error of the sink
Result<std::uint64_t> through_zstd(const ByteSink& sink,
                                   const std::function<Result<std::uint64_t>(const ByteSink&)>& write);

}  // namespace ace
