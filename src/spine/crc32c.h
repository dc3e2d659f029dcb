#pragma once
/// CRC-32C (Castagnoli): finds accidents, not attackers.
#include <cstdint>
#include <string_view>

namespace ace {

/// @param seed of an earlier call, to go on: crc32c(b, crc32c(a)) == crc32c(a + b)
/// Source: RFC 3720, appendix B.4 (the test vectors too). Uses SSE 4.2 where the CPU has it; the value is the same.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed = 0);

}  // namespace ace
