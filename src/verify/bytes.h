#pragma once
/// Little-endian integers at a place in bytes that are known to be there.
#include <cstdint>
#include <string>
#include <string_view>

namespace ace::verify {

template <class T>
T integer(std::string_view bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;)
    value = static_cast<T>(static_cast<std::uint64_t>(value) << 8 | static_cast<unsigned char>(bytes[at + i]));
  return value;
}

template <class T>
void append_integer(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
}

}  // namespace ace::verify
