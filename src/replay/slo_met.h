#pragma once
/// Whether an answer came as its class was promised.
#include "core/time.h"
#include "fleet/fleet.h"

namespace ace {

/// Time per output token after the first; 0 for a single one.
inline Duration per_token(Duration total, std::int64_t tokens) {
  return tokens > 1 ? total / (tokens - 1) : Duration{0};
}

/// @param total from arrival to the last token
inline bool met(const SloClass& slo, Duration ttft, Duration tpot, Duration total) {
  return (!slo.ttft || ttft <= *slo.ttft) && (!slo.tpot || tpot <= *slo.tpot) &&
         (!slo.deadline || total <= *slo.deadline);
}

}  // namespace ace
