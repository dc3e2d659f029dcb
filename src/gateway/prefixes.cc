#include "gateway/prefixes.h"

#include <algorithm>

#include "core/hash_long.h"

namespace ace::gateway {

std::vector<std::uint32_t> prompt_blocks(wire::JsonValue root) {
  std::vector<std::uint32_t> blocks;
  std::uint64_t chain = 0;
  std::string held;  // the end of one part with the beginning of the next
  const auto take = [&](std::string_view bytes) {
    while (!bytes.empty() && blocks.size() < kBlocksMost) {
      std::string_view block = bytes.substr(0, kBlockBytes - held.size());
      bytes.remove_prefix(block.size());
      if (held.size() + block.size() < kBlockBytes || !held.empty()) {
        held += block;
        if (held.size() < kBlockBytes) return;
        block = held;
      }
      chain = mix(chain, hash_of_long(block));
      blocks.push_back(static_cast<std::uint32_t>(chain));
      held.clear();
    }
  };
  for (const char* name : {"tools", "system", "instructions", "messages", "input", "prompt"})
    if (const auto part = root.get(name)) take(part->raw());
  return blocks;
}

PrefixIndex* Prefixes::held(std::map<std::string, Held>& in, const std::string& name, const PromptCache& cache,
                            bool gpu) {
  const auto found = in.find(name);
  if (found != in.end() && found->second.rules == cache && found->second.gpu == gpu) return &found->second.index;
  PrefixIndex::Rules rules{.block = Tokens{kBlockTokens}};
  if (!gpu) {
    rules.min_prefix = cache.min_prefix;
    rules.granularity = cache.block;
    rules.ttl = cache.ttl;
  }
  if (found == in.end()) return &in.emplace(name, Held{cache, gpu, PrefixIndex(rules)}).first->second.index;
  found->second.rules = cache;
  found->second.gpu = gpu;
  found->second.index = PrefixIndex(rules);
  return &found->second.index;
}

Prefixes::Of Prefixes::of(const World& world) {
  Of out;
  const Fleet& fleet = world.fleet;
  for (const Destination& d : fleet.destinations) {
    const PromptCache& cache = fleet.providers[d.provider.value].cache;
    const bool gpu = runs_on_gpus(d.tier);
    out.destination.push_back(gpu || cache.enabled ? held(destinations_, d.name, cache, gpu) : nullptr);
  }
  for (const Model& model : fleet.models) {
    PrefixIndex* index = nullptr;
    if (model.baseline) {
      const Provider& provider = fleet.providers[fleet.destinations[model.baseline->destination.value].provider.value];
      if (provider.cache.enabled) index = held(providers_, provider.name + " " + model.name, provider.cache, false);
    }
    out.baseline.push_back(index);
  }
  return out;
}

}  // namespace ace::gateway
