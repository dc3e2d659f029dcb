#pragma once
/// Hardware and model shapes: published figures of accelerators and of open-weight models, and what was measured of a
/// replica.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ace {

enum class Precision : std::uint8_t { bf16, fp8, int4 };
std::string_view name_of(Precision precision);
double bytes_per_weight(Precision precision);

/// Published figures of one GPU.
struct Accelerator {
  std::string_view name;    ///< "h100-80g"
  std::string_view family;  ///< "hopper"
  double vram_bytes = 0.0;
  double bandwidth = 0.0;   ///< HBM bytes/s
  double flops_bf16 = 0.0;  ///< dense FLOP/s
  double flops_fp8 = 0.0;   ///< 0 where the hardware has none
  double watts_idle = 0.0, watts_max = 0.0;
  double link_bandwidth = 0.0;  ///< bytes/s to a neighbour GPU, one way, over the fastest link of its data sheet
};
/// The built-in table, sorted by name, each row with its source in hardware.cc.
std::span<const Accelerator> accelerators();
const Accelerator* find_accelerator(std::string_view name);
/// What links the GPUs of one replica, by the words of the fleet file.
std::span<const std::string_view> interconnects();
/// Bytes/s, one way, from a GPU to its neighbour over such a link; an empty word means the fastest of its data sheet,
/// which no other exceeds. Sources in hardware.cc.
double link_bandwidth(const Accelerator& gpu, std::string_view interconnect);
/// Does it reach GPUs of other nodes?
bool leaves_the_node(std::string_view interconnect);

/// Shape of a transformer, for the roofline.
struct Architecture {
  double parameters = 0.0;          ///< all weights
  double parameters_active = 0.0;   ///< weights that one token passes through (mixture of experts: fewer)
  double kv_bytes_per_token = 0.0;  ///< 2 x layers x kv heads x head size x bytes per element (bf16 cache)
  double layers = 0.0, hidden = 0.0;
  friend bool operator==(const Architecture&, const Architecture&) = default;
};
/// Built-in shapes of well-known open-weight models by canonical name, e.g. "llama-3.3-70b".
const Architecture* find_architecture(std::string_view model);

/// What one replica (one TP group) does, measured or predicted. The engine's step takes
///   step_base + step_per_sequence x sequences + step_per_kv_token x KV tokens in use
/// and yields one token per running sequence; prefill work shares the engine with it.
struct ServerProfile {
  double prefill_tokens_per_s = 0.0;
  double step_base_s = 0.0, step_per_sequence_s = 0.0, step_per_kv_token_s = 0.0;
  std::int64_t batch_max = 256;               ///< running sequences
  std::int64_t kv_tokens_max = 0;             ///< KV tokens that fit beside the weights
  std::int64_t prefill_chunk = 2048;          ///< prompt tokens per step while decoding
  double watts_idle = 0.0, watts_busy = 0.0;  ///< of all GPUs of the replica
  bool measured = false;                      ///< stated by the operator; a roofline otherwise
  friend bool operator==(const ServerProfile&, const ServerProfile&) = default;
};

}  // namespace ace
