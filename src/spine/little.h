#pragma once
/// Integers in little endian, for the formats of this room.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ace::spine {

template <class T>
void put(std::string& out, T value) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ACE runs on little-endian machines");
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}
/// @param at with sizeof(T) bytes from there on
template <class T>
T get(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

}  // namespace ace::spine
