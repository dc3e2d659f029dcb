#pragma once
/// The same tokens under another cache.
#include <algorithm>

#include "fleet/fleet.h"

namespace ace {

/// `used` with `cached` of its text prompt tokens read from a provider's cache; all other counts stand.
/// @param writes keep its cache writes (which then cannot be read), else they are plain input
/// @return `used` itself where nothing changes, else `scratch`, which then holds the answer
inline const Usage& with_cached(const Usage& used, Tokens cached, bool writes, Usage& scratch) {
  const std::int64_t stored = used[Unit::cache_write] + used[Unit::cache_write_1h];
  const std::int64_t prompt = used[Unit::input] + used[Unit::cached_input] + stored;
  const std::int64_t written = writes ? stored : 0;
  const std::int64_t read = std::clamp<std::int64_t>(cached.value, 0, prompt - written);
  if (written == stored && read == used[Unit::cached_input]) return used;
  scratch = used;
  if (!writes) {
    scratch.set(Unit::cache_write, 0);
    scratch.set(Unit::cache_write_1h, 0);
  }
  scratch.set(Unit::cached_input, read);
  scratch.set(Unit::input, prompt - written - read);
  return scratch;
}

}  // namespace ace
