#pragma once
/// Integers in little endian, for formats at rest.
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace ace::little_endian {

static_assert(std::endian::native == std::endian::little, "our formats are little endian, and so are our machines");

template <class T>
void put(std::string& out, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

/// @pre bytes holds a T at `at`
template <class T>
T get(std::string_view bytes, std::size_t at) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

}  // namespace ace::little_endian
