#pragma once
/// Which prompts begin alike: blocks of a prompt's bytes, and what caches hold of them. For what a destination is
/// believed to have (affinity), and for what the default provider would have had (h0).
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/dispatch.h"
#include "gateway/world.h"
#include "wire/json.h"
#include "wire/request.h"

namespace ace::gateway {

inline constexpr std::int64_t kBlockTokens = 512;  ///< of a block
inline constexpr std::size_t kBlockBytes = 4 * kBlockTokens;
inline constexpr std::size_t kBlocksMost = 512;  ///< of a prompt; what is beyond is taken as new

/// Hashes of the whole blocks of a prompt, each of all bytes up to its end: tools and instructions first, then what was
/// said, as they stand in the request.
/// @param root of a body that was read
std::vector<std::uint32_t> prompt_blocks(wire::JsonValue root);

/// Caches by the name of what has them, so that a reload forgets nothing of what it did not touch.
class Prefixes {
 public:
  /// Of one world; null where there is no cache.
  struct Of {
    std::vector<PrefixIndex*> destination;  ///< GPUs, and APIs whose provider has an automatic cache
    std::vector<PrefixIndex*> baseline;     ///< by model: of the provider that asks its default price
  };
  Of of(const World& world);

 private:
  struct Held {
    PromptCache rules;
    bool gpu = false;
    PrefixIndex index;
  };
  PrefixIndex* held(std::map<std::string, Held>& in, const std::string& name, const PromptCache& rules, bool gpu);
  std::map<std::string, Held> destinations_, providers_;
};

}  // namespace ace::gateway
