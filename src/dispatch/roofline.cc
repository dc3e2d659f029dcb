#include "dispatch/roofline.h"

#include <algorithm>
#include <string>

namespace ace {
namespace {

/// What software gets out of a GPU family, and what a step costs before any byte moves. Fitted once, by family, against
/// the public measurements in docs/ROOFLINE.md; `kOther` stands for every family without measurements there.
struct Efficiency {
  std::string_view family;
  double flops;                ///< share of the dense peak while prefilling
  double bandwidth;            ///< share of HBM bandwidth while decoding
  double link;                 ///< share of link bandwidth in all-reduces of prompts
  double layer_overhead_s;     ///< launches and synchronisation per layer and step
  double shard_overhead_s;     ///< latency of two all-reduces per layer and step, with tp > 1
  double sequence_overhead_s;  ///< sampling and scheduling per sequence and step
};
constexpr Efficiency kEfficiencies[] = {
    {"ampere", 0.70, 0.73, 0.16, 17e-6, 80e-6, 8e-6},
    {"cdna3", 0.075, 0.87, 0.58, 114e-6, 126e-6, 67e-6},
    {"hopper", 0.58, 0.66, 0.29, 7e-6, 70e-6, 8e-6},
};
constexpr Efficiency kOther{"other", 0.60, 0.65, 0.25, 12e-6, 75e-6, 8e-6};

const Efficiency& efficiency_of(std::string_view family) {
  for (const Efficiency& e : kEfficiencies)
    if (e.family == family) return e;
  return kOther;
}

/// Dense FLOP/s of the arithmetic that a precision runs in. int4 weights are unpacked and multiplied in bf16.
double peak_flops(const Accelerator& gpu, Precision precision) {
  return precision == Precision::fp8 && gpu.flops_fp8 > 0.0 ? gpu.flops_fp8 : gpu.flops_bf16;
}

/// Memory left to the engine after the CUDA context, activations and fragmentation; vLLM's default.
constexpr double kMemoryShare = 0.90;

}  // namespace

Result<ServerProfile> roofline(const Architecture& model, const Accelerator& gpu, std::int64_t tp, Precision precision,
                               std::string_view interconnect) {
  if (tp < 1) return Error(Errc::bad_input, "a replica needs at least one GPU, got tp " + std::to_string(tp));
  const Efficiency& e = efficiency_of(gpu.family);
  const double gpus = static_cast<double>(tp);
  const double weights = model.parameters * bytes_per_weight(precision);
  const double memory = gpus * gpu.vram_bytes * kMemoryShare;
  const double room = memory - weights;
  if (weights <= 0.0 || model.kv_bytes_per_token <= 0.0 || room < model.kv_bytes_per_token)
    return Error(Errc::bad_input, "weights of " + std::to_string(static_cast<std::int64_t>(weights / 1e9)) +
                                      " GB and their KV cache do not fit " + std::to_string(tp) + " x " +
                                      std::string(gpu.name) + "; use more GPUs, or a lower precision");
  const double bandwidth = gpus * gpu.bandwidth * e.bandwidth;
  const double flops = gpus * peak_flops(gpu, precision) * e.flops;

  ServerProfile p;
  // Two all-reduces per layer move each token's activations in bf16, 2 (tp - 1) / tp times over the link.
  const double exchanged = 2.0 * model.layers * model.hidden * 2.0 * 2.0 * (gpus - 1.0) / gpus;
  const double link = link_bandwidth(gpu, interconnect);
  const double exchange_s = exchanged > 0.0 && link > 0.0 ? exchanged / (link * e.link) : 0.0;
  p.prefill_tokens_per_s = 1.0 / (2.0 * model.parameters_active / flops + exchange_s);
  p.step_base_s = weights / bandwidth + model.layers * (e.layer_overhead_s + (tp > 1 ? e.shard_overhead_s : 0.0));
  p.step_per_sequence_s = 1.0 / p.prefill_tokens_per_s + e.sequence_overhead_s;
  p.step_per_kv_token_s = model.kv_bytes_per_token / bandwidth;
  p.kv_tokens_max = static_cast<std::int64_t>(room / model.kv_bytes_per_token);
  p.watts_idle = gpus * gpu.watts_idle;
  p.watts_busy = gpus * gpu.watts_max;
  return p;
}

bool plausible_prefill(const Architecture& model, const Accelerator& gpu, std::int64_t tp, Precision precision,
                       double tokens_per_s) {
  const double peak = static_cast<double>(tp) * peak_flops(gpu, precision) / (2.0 * model.parameters_active);
  return tokens_per_s > 0.0 && tokens_per_s <= peak;
}

}  // namespace ace
