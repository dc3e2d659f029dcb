#pragma once
/// Inside the readers and writers: the counts of a row that are parts of others.
#include <cstdint>

#include "replay/source.h"

namespace ace {

/// Parts that few logs tell apart, by the names under which we write and read them.
struct Part {
  const char* name;
  std::int32_t Arrival::*member;
};
inline constexpr Part kRareParts[] = {{"cache_write_1h", &Arrival::cache_write_1h},
                                      {"audio_prompt", &Arrival::audio_prompt},
                                      {"image_prompt", &Arrival::image_prompt},
                                      {"audio_output", &Arrival::audio_output},
                                      {"image_output", &Arrival::image_output}};

/// Are all of them absent?
inline bool only_common_parts(const Arrival& row) {
  for (const Part& part : kRareParts)
    if (row.*part.member != 0) return false;
  return true;
}

/// Why these counts cannot all be true, as a phrase without values; null if they can. A token is read from a cache or
/// written to it, and is text, audio or image; clipping one part would move money to another.
inline const char* parts_fault(const Arrival& row) {
  const std::int64_t cached = row.cached > 0 ? row.cached : 0, written = row.cache_write, prompt = row.prompt;
  if (cached > prompt) return "more cached tokens than prompt tokens";
  if (written > prompt) return "more cache-write tokens than prompt tokens";
  if (row.cache_write_1h > written) return "more cache-write tokens of one hour than cache-write tokens";
  if (cached + written > prompt) return "more cached and cache-write tokens than prompt tokens";
  if (cached + written + row.audio_prompt + row.image_prompt > prompt)
    return "more cached, cache-write, audio and image tokens than prompt tokens";
  if (row.reasoning > row.output) return "more reasoning tokens than output tokens";
  if (std::int64_t{row.reasoning} + row.audio_output + row.image_output > row.output)
    return "more reasoning, audio and image tokens than output tokens";
  return nullptr;
}

}  // namespace ace
