/// The GPUs of a destination, and what an SLO class may ask of them.
#include <fmt/format.h>

#include <algorithm>

#include "fleet/reading.h"

namespace ace::fleet_file {
namespace {

constexpr std::int64_t kNodeGpus = 8;  // of one node without a switch between nodes: HGX, MI300X, Gaudi 2

std::vector<std::string> words_of(std::span<const std::string_view> words) { return {words.begin(), words.end()}; }

std::vector<std::string> accelerator_names() {
  std::vector<std::string> names;
  for (const Accelerator& accelerator : accelerators()) names.emplace_back(accelerator.name);
  return names;
}

std::vector<std::string> accelerator_families() {
  std::vector<std::string> families;
  for (const Accelerator& accelerator : accelerators())
    if (std::find(families.begin(), families.end(), accelerator.family) == families.end())
      families.emplace_back(accelerator.family);
  return families;
}

}  // namespace

void read_gpus(Reading& reading, Map& map, Destination& destination) {
  Findings& findings = reading.findings;
  const Place name = map.need("accelerator", "name the GPU, e.g. accelerator: h100-80g");
  const Place vram = map.get("vram"), interconnect = map.get("interconnect"), tp = map.get("tp");
  const Place count = map.need("count", "write the GPUs of one unit: count: 8");
  const Accelerator* known = nullptr;
  if (const auto accelerator = findings.name(name)) {
    destination.accelerator = *accelerator;
    known = find_accelerator(*accelerator);
    if (known != nullptr) destination.vram_bytes = known->vram_bytes;
  }
  if (const auto bytes = findings.value<double>(vram, parse_bytes)) {
    if (known != nullptr && (*bytes > known->vram_bytes * 1.1 || *bytes < known->vram_bytes * 0.9))
      findings.mistake(
          vram,
          fmt::format("a {} has {:.0f}GiB, got \"{}\"", known->name, known->vram_bytes / 1073741824.0, vram.text()),
          "remove vram or name the right accelerator");
    destination.vram_bytes = *bytes;
  }
  if (const auto link = findings.word(interconnect, words_of(interconnects())))
    destination.interconnect = interconnects()[*link];
  if (const auto gpus = findings.count(count, 1, 1024)) destination.gpus_per_unit = *gpus;
  if (const auto shards = findings.count(tp, 1, 1024)) {
    destination.tp = *shards;
    if (destination.gpus_per_unit > 0 && destination.gpus_per_unit % *shards != 0)
      findings.mistake(
          tp,
          fmt::format("tp must divide count: {} GPUs make no whole replicas of {}", destination.gpus_per_unit, *shards),
          "write 1, 2, 4 or 8");
    if (*shards > kNodeGpus && !leaves_the_node(destination.interconnect))
      findings.mistake(tp,
                       fmt::format("the {} GPUs of a replica are in more than one node of {}, and nothing links them",
                                   *shards, kNodeGpus),
                       "write interconnect: infiniband, roce, ethernet or nvswitch, or a smaller tp");
  }
  if (const auto precision = findings.word(map.get("precision"), {"bf16", "fp8", "int4"}))
    destination.precision = static_cast<Precision>(*precision);
  const Place bandwidth = map.get("load_bandwidth");
  if (const auto rate = findings.value<double>(bandwidth, parse_bandwidth)) {
    if (*rate < 1e6 || *rate > 1e13)
      findings.mistake(bandwidth, fmt::format("weights load at 1 MB/s to 10 TB/s, got \"{}\"", bandwidth.text()),
                       "write what a node reads from its storage, e.g. 2 GB/s");
    else
      destination.load_bytes_per_s = *rate;
  }
  const Place chunk = map.get("prefill_chunk");
  if (const auto tokens = findings.count(chunk, 1, 10'000'000)) destination.prefill_chunk = *tokens;
  if (chunk && std::all_of(destination.serving.begin(), destination.serving.end(),
                           [](const Serving& serving) { return serving.measured.has_value(); }))
    findings.mistake(chunk, "everything here is measured, and what is measured says its own prefill_chunk",
                     "write it under measured");
  // What cannot be predicted must have been measured.
  for (const Serving& serving : destination.serving) {
    const Model& model = reading.fleet.models[serving.model.value];
    if (serving.measured) continue;
    if (name && known == nullptr && !destination.accelerator.empty())
      findings.mistake(name,
                       fmt::format("accelerator \"{}\" is not known and \"{}\" is not measured here",
                                   destination.accelerator, model.name),
                       suggestion(destination.accelerator, accelerator_names()));
    else if (known != nullptr && !model.architecture)
      findings.mistake(map.get("models"), fmt::format("the shape of \"{}\" is not known", model.name),
                       fmt::format("add models.{}.architecture, or measured here", model.name));
  }
}

Requirements read_requirements(Reading& reading, const Place& at) {
  Requirements needs;
  if (!at) return needs;
  Findings& findings = reading.findings;
  Map map(findings, at);
  if (!map.readable()) return needs;
  if (const auto bytes = findings.value<double>(map.get("vram"), parse_bytes)) needs.vram_bytes_min = *bytes;
  const std::vector<std::string> families = accelerator_families();
  if (const auto family = findings.word(map.get("accelerator"), families)) needs.accelerator_family = families[*family];
  if (const auto link = findings.word(map.get("interconnect"), words_of(interconnects())))
    needs.interconnect = interconnects()[*link];
  map.done();
  return needs;
}

}  // namespace ace::fleet_file
