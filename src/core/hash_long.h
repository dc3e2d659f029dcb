#pragma once
/// A 64-bit hash of long texts: some bytes a cycle, where hash_of() takes some cycles a byte. For tables of this
/// process: the same on every machine, but not promised for another version. Not for secrets: see perimeter/.
#include <bit>
#include <cstdint>
#include <string_view>

#include "core/hash.h"
#include "core/little_endian.h"

namespace ace {

/// A word at a time in four lanes, so that no multiplication waits for the one before it.
inline std::uint64_t hash_of_long(std::string_view bytes) {
  constexpr std::size_t kLanes = 4, kWord = sizeof(std::uint64_t);
  std::uint64_t lanes[kLanes] = {1, 2, 3, 4};
  std::size_t at = 0;
  for (; at + kLanes * kWord <= bytes.size(); at += kLanes * kWord)
    for (std::size_t i = 0; i < kLanes; ++i) {
      const auto word = little_endian::get<std::uint64_t>(bytes, at + i * kWord);
      lanes[i] = (std::rotl(lanes[i], 29) ^ word) * 0x9e37'79b9'7f4a'7c15ULL;
    }
  std::uint64_t h = hash_of(bytes.substr(at));
  for (const std::uint64_t lane : lanes) h = mix(h, lane);
  return mix(h, bytes.size());
}

}  // namespace ace
