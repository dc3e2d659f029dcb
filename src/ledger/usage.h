#pragma once
/// Usage taken apart: kinds of tokens, and the same tokens under another cache.
#include <algorithm>

#include "fleet/fleet.h"

namespace ace {

/// Tokens of a prompt that are not plain uncached text, and of a completion that are not visible text.
struct TokenParts {
  std::int64_t cache_write = 0, audio_input = 0, image_input = 0, video_input = 0;
  std::int64_t reasoning = 0, audio_output = 0, image_output = 0;
  [[nodiscard]] std::int64_t of_input() const { return cache_write + audio_input + image_input + video_input; }
  [[nodiscard]] std::int64_t of_output() const { return reasoning + audio_output + image_output; }
  TokenParts& operator+=(const TokenParts& o) { return add(o, 1); }
  TokenParts& operator-=(const TokenParts& o) { return add(o, -1); }
  friend bool operator==(const TokenParts&, const TokenParts&) = default;

 private:
  TokenParts& add(const TokenParts& o, std::int64_t sign) {
    for (std::int64_t TokenParts::*part :
         {&TokenParts::cache_write, &TokenParts::audio_input, &TokenParts::image_input, &TokenParts::video_input,
          &TokenParts::reasoning, &TokenParts::audio_output, &TokenParts::image_output})
      this->*part += sign * (o.*part);
    return *this;
  }
};
inline TokenParts parts_of(const Usage& used) {
  TokenParts parts;
  parts.cache_write = used[Unit::cache_write] + used[Unit::cache_write_1h];
  parts.audio_input = used[Unit::audio_input];
  parts.image_input = used[Unit::image_input];
  parts.video_input = used[Unit::video_input];
  parts.reasoning = used[Unit::reasoning];
  parts.audio_output = used[Unit::audio_output];
  parts.image_output = used[Unit::image_output];
  return parts;
}

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
