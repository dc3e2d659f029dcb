#pragma once
/// Stable 64-bit hashes for sampling, digests of tables and filters. Not for secrets: see perimeter/.
#include <cstdint>
#include <string_view>

namespace ace {

/// Two words into one (the finaliser of splitmix64 over their combination).
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + 0x9e37'79b9'7f4a'7c15ULL * (b + 1);
  z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebULL;
  return z ^ (z >> 31);
}

/// FNV-1a over the bytes, then mixed; the same on every machine and in every version.
constexpr std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t h = 0xcbf2'9ce4'8422'2325ULL;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3ULL;
  return mix(h, bytes.size());
}

}  // namespace ace
