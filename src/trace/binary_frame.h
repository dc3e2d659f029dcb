#pragma once
/// What the two sides of the binary trace format share.
#include <bit>
#include <cstdint>
#include <string_view>

#include "core/hash.h"
#include "core/little_endian.h"

namespace ace::binary {

enum Frame : std::uint32_t { kHead = 1, kName = 2, kClass = 3, kRows = 4, kEnd = 5 };
enum Extra : std::uint32_t {
  kRowNumber = 1,
  kReasoningTokens = 2,
  kCachedTokens = 4,
  kCacheWriteTokens = 8,
  kCost = 16,
  kTtft = 32,
  kDuration = 64,
  kBlocks = 128,
  kParts = 256,
  kExtraMax = 511
};
inline constexpr std::uint32_t kHasExtras = 0x8000'0000;
inline constexpr std::uint32_t kBatch = 1;
inline constexpr std::uint32_t kFailed = 2;
inline constexpr std::uint32_t kCacheHit = 4;
inline constexpr std::size_t kTables = 5;  ///< of names: models, tenants, teams, projects, keys
inline constexpr std::size_t kRowBytes = 24;
inline constexpr std::size_t kFrameMax = std::size_t{16} << 20;

struct Class {
  std::uint32_t model = 0, tenant = 0, team = 0, needs = 0, flags = 0, project = 0, key = 0;
  friend bool operator==(const Class&, const Class&) = default;
  friend auto operator<=>(const Class&, const Class&) = default;
};

using little_endian::get, little_endian::put;

/// A running check over frames: four lanes of eight bytes, so that it keeps up with memory.
inline std::uint64_t check(std::uint64_t so_far, std::string_view bytes) {
  std::uint64_t lanes[4] = {so_far, so_far ^ 1, so_far ^ 2, so_far ^ 3};
  std::size_t i = 0;
  const auto step = [](std::uint64_t lane, std::uint64_t word) {
    return std::rotl((lane ^ word) * 0x9e37'79b9'7f4a'7c15ULL, 29);
  };
  for (; i + 32 <= bytes.size(); i += 32)
    for (std::size_t lane = 0; lane < 4; ++lane)
      lanes[lane] = step(lanes[lane], get<std::uint64_t>(bytes, i + 8 * lane));
  for (; i < bytes.size(); ++i) lanes[i % 4] = step(lanes[i % 4], static_cast<unsigned char>(bytes[i]));
  return mix(mix(lanes[0], lanes[1]), mix(mix(lanes[2], lanes[3]), bytes.size()));
}

}  // namespace ace::binary
