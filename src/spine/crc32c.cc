#include "spine/crc32c.h"

#include <array>
#include <cstring>

namespace ace {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables t{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f6'3b78U : 0U);
    t[0][i] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t i = 0; i < 256; ++i) t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 0xff];
  return t;
}
constexpr Tables kTables = make_tables();

/// Eight tables, eight bytes at a time.
std::uint32_t portable(const unsigned char* at, std::size_t n, std::uint32_t crc) {
  for (; n >= 8; at += 8, n -= 8) {
    std::uint64_t word = 0;
    for (std::size_t i = 8; i-- > 0;) word = word << 8 | at[i];
    word ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][word >> (8 * i) & 0xff];
  }
  for (; n > 0; ++at, --n) crc = crc >> 8 ^ kTables[0][(crc ^ *at) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_cpu(const unsigned char* at, std::size_t n, std::uint32_t crc) {
  std::uint64_t wide = crc;
  for (; n >= 8; at += 8, n -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  crc = static_cast<std::uint32_t>(wide);
  for (; n > 0; ++at, --n) crc = __builtin_ia32_crc32qi(crc, *at);
  return crc;
}
const bool kByCpu = __builtin_cpu_supports("sse4.2") != 0;
#endif

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
#if defined(__x86_64__)
  if (kByCpu) return ~by_cpu(at, bytes.size(), ~seed);
#endif
  return ~portable(at, bytes.size(), ~seed);
}

}  // namespace ace
