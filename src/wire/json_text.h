#pragma once
/// Inside json.h: the escapes of JSON strings.
#include <string_view>

namespace ace::wire {

inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Four hex digits at the front, or -1.
inline int code_unit(std::string_view text) {
  if (text.size() < 4) return -1;
  int value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const int digit = hex_digit(text[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

inline bool is_high(int unit) { return unit >= 0xd800 && unit < 0xdc00; }
inline bool is_low(int unit) { return unit >= 0xdc00 && unit < 0xe000; }

}  // namespace ace::wire
