#include "fleet/hardware.h"

#include <algorithm>
#include <array>

namespace ace {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
constexpr double kGBps = 1e9, kTFLOPs = 1e12;

/// A datasheet row: memory in GiB as the driver reports the marketing GB, dense FLOP/s (a datasheet's "with sparsity"
/// halved), board power, and the bandwidth to one neighbour in one direction (NVLink totals are both ways: halved).
constexpr Accelerator row(std::string_view name, std::string_view family, double gib, double gbps, double bf16,
                          double fp8, double idle, double max, double link) {
  return {name, family, gib * kGiB, gbps * kGBps, bf16 * kTFLOPs, fp8 * kTFLOPs, idle, max, link * kGBps};
}

// Sorted by name. Idle watts are what nvidia-smi shows with a context and no work, rounded; published board powers are
// upper bounds. FP8 is 0 where the unit has no FP8 matrix path.
constexpr std::array kAccelerators = {
    // NVIDIA A100 datasheet (2021-06): 312 TFLOP/s BF16; 1,555 GB/s (40 GB), 2,039 GB/s (80 GB SXM); NVLink 600 GB/s.
    row("a100-40g", "ampere", 40, 1555, 312, 0, 50, 400, 300),
    row("a100-80g", "ampere", 80, 2039, 312, 0, 55, 400, 300),
    // NVIDIA A10 datasheet (A10G in AWS g5: 70 of 125 TFLOP/s BF16 dense, 600 GB/s, 300 W); PCIe 4.0 x16.
    row("a10g", "ampere", 24, 600, 70, 0, 20, 300, 32),
    // NVIDIA A40 datasheet (2020-10): 149.7 TFLOP/s BF16, 696 GB/s, 300 W; NVLink bridge 112.5 GB/s.
    row("a40", "ampere", 48, 696, 149.7, 0, 30, 300, 56),
    // NVIDIA B200 (DGX B200 datasheet 2024-03, an eighth): 2,250 BF16, 4,500 FP8, 8,000 GB/s; NVLink 1,800 GB/s.
    row("b200", "blackwell", 180, 8000, 2250, 4500, 140, 1000, 900),
    // Intel Gaudi 2 white paper (2022-06): 96 GB, 2,450 GB/s, 432 TFLOP/s BF16, 865 FP8, 600 W; 21 x 100 GbE.
    row("gaudi2", "gaudi", 96, 2450, 432, 865, 100, 600, 262),
    // NVIDIA GH200 datasheet (2023-08): Hopper GPU with 96 GB HBM3 at 4,000 GB/s; power shared with the CPU, GPU 700 W.
    row("gh200", "hopper", 96, 4000, 989, 1979, 100, 700, 450),
    // NVIDIA H100 datasheet (2023): SXM 989 BF16, 1,979 FP8, 3,350 GB/s, 700 W, NVLink 900 GB/s.
    row("h100-80g", "hopper", 80, 3350, 989, 1979, 70, 700, 450),
    // The same, NVL: 94 GB, 3,900 GB/s, 835 BF16, 1,671 FP8, 400 W, NVLink bridge 600 GB/s.
    row("h100-nvl", "hopper", 94, 3900, 835, 1671, 60, 400, 300),
    // The same, PCIe: 80 GB, 2,000 GB/s, 756 BF16, 1,513 FP8, 350 W; NVLink bridge 600 GB/s.
    row("h100-pcie", "hopper", 80, 2000, 756, 1513, 50, 350, 300),
    // NVIDIA H200 datasheet (2023-11): SXM 141 GB, 4,800 GB/s, compute as H100 SXM.
    row("h200", "hopper", 141, 4800, 989, 1979, 75, 700, 450),
    // NVIDIA L4 datasheet (2023): 24 GB, 300 GB/s, 121 BF16 dense, 242 FP8 dense, 72 W; PCIe 4.0 x16.
    row("l4", "ada", 24, 300, 121, 242, 15, 72, 32),
    // NVIDIA L40S datasheet (2023): 48 GB, 864 GB/s, 362 BF16 dense, 733 FP8 dense, 350 W; PCIe 4.0 x16.
    row("l40s", "ada", 48, 864, 362, 733, 35, 350, 32),
    // AMD MI250 datasheet (2021-11): 128 GB, 3,277 GB/s, 362 BF16, 560 W; Infinity Fabric 100 GB/s a link and way.
    row("mi250", "cdna2", 128, 3277, 362, 0, 90, 560, 50),
    // AMD MI300X datasheet (2023-12): 192 GB, 5,300 GB/s, 1,307 BF16, 2,615 FP8, 750 W; 7 links of 64 GB/s a way.
    row("mi300x", "cdna3", 192, 5300, 1307, 2615, 140, 750, 64),
    // NVIDIA RTX PRO 6000 Blackwell Server Edition datasheet (2025): 96 GB, 1,597 GB/s, 600 W; FP8 2 PFLOP/s and BF16
    // 1 PFLOP/s with sparsity; PCIe 5.0 x16.
    row("rtx-pro-6000", "blackwell", 96, 1597, 504, 1007, 40, 600, 64),
    // NVIDIA Ada architecture paper v2 (2023): 24 GB, 1,008 GB/s, 165.2 BF16 (FP32 accumulate), 330.3 FP8, 450 W.
    row("rtx4090", "ada", 24, 1008, 165.2, 330.3, 25, 450, 32),
    // NVIDIA T4 datasheet (2019): 16 GB, 320 GB/s, 65 TFLOP/s FP16 (no BF16), 70 W; PCIe 3.0 x16.
    row("t4", "turing", 16, 320, 65, 0, 10, 70, 16),
    // NVIDIA V100 datasheet (2020-01): SXM2 900 GB/s, 125 TFLOP/s FP16 (no BF16), 300 W, NVLink 300 GB/s.
    row("v100-16g", "volta", 16, 900, 125, 0, 40, 300, 150),
    row("v100-32g", "volta", 32, 900, 125, 0, 40, 300, 150),
};

/// KV bytes in bf16: 2 (key and value) x layers x kv heads x head size x 2 bytes.
constexpr Architecture dense(double parameters, double layers, double hidden, double kv_heads, double head) {
  return {parameters, parameters, 2.0 * layers * kv_heads * head * 2.0, layers, hidden};
}
constexpr Architecture sparse(double parameters, double active, double layers, double hidden, double kv_heads,
                              double head) {
  return {parameters, active, 2.0 * layers * kv_heads * head * 2.0, layers, hidden};
}
/// Multi-head latent attention keeps one compressed vector and one rotary key per layer instead of keys and values.
constexpr Architecture latent(double parameters, double active, double layers, double hidden, double width) {
  return {parameters, active, layers * width * 2.0, layers, hidden};
}

struct NamedArchitecture {
  std::string_view name;
  Architecture shape;
};

// Sorted by name. Shapes are those of the config.json that each publisher put beside the weights (num_hidden_layers,
// hidden_size, num_key_value_heads, head_dim); parameters are those of the model cards.
constexpr std::array kArchitectures = {
    NamedArchitecture{"bloom-176b", dense(176.2e9, 70, 14336, 112, 128)},
    // 61 layers, kv_lora_rank 512 + qk_rope_head_dim 64; 37 B of 671 B active (DeepSeek-V3 report, 2024-12).
    NamedArchitecture{"deepseek-r1", latent(671e9, 37e9, 61, 7168, 576)},
    NamedArchitecture{"deepseek-v3", latent(671e9, 37e9, 61, 7168, 576)},
    NamedArchitecture{"gemma-2-27b", dense(27.2e9, 46, 4608, 16, 128)},
    NamedArchitecture{"gemma-2-9b", dense(9.24e9, 42, 3584, 8, 256)},
    // 5.1 B of 116.8 B and 3.6 B of 20.9 B active (gpt-oss model card, 2025-08).
    NamedArchitecture{"gpt-oss-120b", sparse(116.8e9, 5.1e9, 36, 2880, 8, 64)},
    NamedArchitecture{"gpt-oss-20b", sparse(20.9e9, 3.6e9, 24, 2880, 8, 64)},
    NamedArchitecture{"llama-2-13b", dense(13.0e9, 40, 5120, 40, 128)},
    NamedArchitecture{"llama-2-70b", dense(69.0e9, 80, 8192, 8, 128)},
    NamedArchitecture{"llama-2-7b", dense(6.74e9, 32, 4096, 32, 128)},
    NamedArchitecture{"llama-3-70b", dense(70.6e9, 80, 8192, 8, 128)},
    NamedArchitecture{"llama-3-8b", dense(8.03e9, 32, 4096, 8, 128)},
    NamedArchitecture{"llama-3.1-405b", dense(405.9e9, 126, 16384, 8, 128)},
    NamedArchitecture{"llama-3.1-70b", dense(70.6e9, 80, 8192, 8, 128)},
    NamedArchitecture{"llama-3.1-8b", dense(8.03e9, 32, 4096, 8, 128)},
    NamedArchitecture{"llama-3.2-1b", dense(1.24e9, 16, 2048, 8, 64)},
    NamedArchitecture{"llama-3.2-3b", dense(3.21e9, 28, 3072, 8, 128)},
    NamedArchitecture{"llama-3.3-70b", dense(70.6e9, 80, 8192, 8, 128)},
    NamedArchitecture{"mistral-7b", dense(7.25e9, 32, 4096, 8, 128)},
    NamedArchitecture{"mixtral-8x22b", sparse(140.6e9, 39.1e9, 56, 6144, 8, 128)},
    NamedArchitecture{"mixtral-8x7b", sparse(46.7e9, 12.9e9, 32, 4096, 8, 128)},
    NamedArchitecture{"phi-2", dense(2.78e9, 32, 2560, 32, 80)},
    NamedArchitecture{"qwen-72b", dense(72.3e9, 80, 8192, 64, 128)},
    NamedArchitecture{"qwen2-72b", dense(72.7e9, 80, 8192, 8, 128)},
    NamedArchitecture{"qwen2-7b", dense(7.62e9, 28, 3584, 4, 128)},
    NamedArchitecture{"qwen2.5-32b", dense(32.8e9, 64, 5120, 8, 128)},
    NamedArchitecture{"qwen2.5-72b", dense(72.7e9, 80, 8192, 8, 128)},
    NamedArchitecture{"qwen2.5-7b", dense(7.62e9, 28, 3584, 4, 128)},
    NamedArchitecture{"qwen3-235b-a22b", sparse(235e9, 22e9, 94, 4096, 4, 128)},
    NamedArchitecture{"qwen3-30b-a3b", sparse(30.5e9, 3.3e9, 48, 2048, 4, 128)},
    NamedArchitecture{"qwen3-32b", dense(32.8e9, 64, 5120, 8, 128)},
    NamedArchitecture{"qwen3-8b", dense(8.19e9, 36, 4096, 8, 128)},
};

template <class Table>
constexpr bool sorted_by_name(const Table& table) {
  for (std::size_t i = 1; i < table.size(); ++i)
    if (table[i - 1].name >= table[i].name) return false;
  return true;
}
static_assert(sorted_by_name(kAccelerators));
static_assert(sorted_by_name(kArchitectures));

template <class Table>
auto find_in(const Table& table, std::string_view name) {
  const auto at = std::lower_bound(table.begin(), table.end(), name,
                                   [](const auto& entry, std::string_view wanted) { return entry.name < wanted; });
  return at != table.end() && at->name == name ? at : table.end();
}

}  // namespace

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return "bf16";
    case Precision::fp8:
      return "fp8";
    case Precision::int4:
      return "int4";
  }
  return "unknown";
}

double bytes_per_weight(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return 2.0;
    case Precision::fp8:
      return 1.0;
    case Precision::int4:
      return 0.5;
  }
  return 2.0;
}

std::span<const Accelerator> accelerators() { return kAccelerators; }

const Accelerator* find_accelerator(std::string_view name) {
  const auto at = find_in(kAccelerators, name);
  return at == kAccelerators.end() ? nullptr : &*at;
}

const Architecture* find_architecture(std::string_view model) {
  const auto at = find_in(kArchitectures, model);
  return at == kArchitectures.end() ? nullptr : &at->shape;
}

std::span<const std::string_view> interconnects() {
  static constexpr std::array<std::string_view, 7> words = {"nvlink", "nvswitch",   "pcie",    "infinity-fabric",
                                                            "roce",   "infiniband", "ethernet"};
  return words;
}

double link_bandwidth(const Accelerator& gpu, std::string_view interconnect) {
  // PCI-SIG: x16 carries 16 GB/s a way in generation 3 and twice that in each later one; families by their data sheets.
  const bool third = gpu.family == "volta" || gpu.family == "turing";
  const bool fourth = gpu.family == "ampere" || gpu.family == "ada" || gpu.family == "cdna2";
  const double pcie = third ? 16.0 : fourth ? 32.0 : 64.0;
  double limit = 0.0;
  if (interconnect == "pcie") limit = pcie;
  // One network card a GPU, as in NVIDIA DGX A100 (200 Gb/s) and DGX H100 (400 Gb/s).
  if (interconnect == "roce" || interconnect == "infiniband") limit = third || fourth ? 25.0 : 50.0;
  if (interconnect == "ethernet") limit = 12.5;  // 100 Gb/s
  return limit > 0.0 ? std::min(gpu.link_bandwidth, limit * kGBps) : gpu.link_bandwidth;
}

bool leaves_the_node(std::string_view interconnect) {
  return interconnect == "nvswitch" || interconnect == "roce" || interconnect == "infiniband" ||
         interconnect == "ethernet";
}

}  // namespace ace
