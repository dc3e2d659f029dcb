#pragma once
/// Long runs of zeros, as files have them that were allocated before they are written.
#include <cstddef>
#include <cstring>
#include <string_view>

namespace ace {

/// Offset of the first byte that is not zero; npos if there is none. A run of zeros is compared with itself, a byte
/// along, which goes at the speed of memory; looking at one byte after the other takes ten times as long.
inline std::size_t first_not_zero(std::string_view bytes) {
  if (bytes.empty()) return std::string_view::npos;
  if (bytes.front() == '\0' && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0)
    return std::string_view::npos;
  return bytes.find_first_not_of('\0');
}

}  // namespace ace
