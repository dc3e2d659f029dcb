#pragma once
/// What a replica should do by its data sheet: the prior that measurement overrides.
#include "core/result.h"
#include "fleet/fleet.h"

namespace ace {

/// A replica of `tp` GPUs serving `model`.
///
///   step(b, kv) = weights / (tp x bandwidth x eff) + layers x overhead
///               + b x (1 / prefill + overhead) + kv x KV bytes per token / (tp x bandwidth x eff)
///   1 / prefill = 2 x active parameters / (tp x flops x eff)
///               + 8 x layers x hidden x (tp - 1) / tp / (link x eff)     seconds per prompt token
///
/// with efficiencies and overheads fitted once by GPU family against published measurements (docs/ROOFLINE.md). Prompts
/// are priced by their tokens; attention within the prompt, 2 x layers x hidden x tokens FLOP per token, is left out
/// (at 8k tokens 13% of the rest for 8B, 8% for 70B).
/// @param interconnect  what links the GPUs of the replica (fleet/hardware.h); empty = the fastest of the data sheet
/// @return bad_input if the weights do not fit the memory of `tp` GPUs.
Result<ServerProfile> roofline(const Architecture& model, const Accelerator& gpu, std::int64_t tp, Precision precision,
                               std::string_view interconnect = {});

/// Seconds to produce one token with `batch` sequences holding `kv_tokens` together.
inline double step_seconds(const ServerProfile& p, double batch, double kv_tokens) {
  return p.step_base_s + p.step_per_sequence_s * batch + p.step_per_kv_token_s * kv_tokens;
}

/// Does this prompt rate pass what the hardware can compute at all (2 x parameters FLOP per token at 100% of peak)?
bool plausible_prefill(const Architecture& model, const Accelerator& gpu, std::int64_t tp, Precision precision,
                       double tokens_per_s);

}  // namespace ace
