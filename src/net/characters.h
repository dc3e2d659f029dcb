#pragma once
/// Classes of bytes in HTTP's grammar, by table.
#include <array>
#include <cstdint>
#include <string_view>

namespace ace::net {

enum CharacterClass : std::uint8_t {
  kToken = 1,   ///< names and methods (RFC 9110, 5.6.2)
  kValue = 2,   ///< field values: visible, space, tab, and bytes of 0x80 and above
  kTarget = 4,  ///< a path and its query: pchar, "/" and "?" (RFC 3986)
  kHost = 8,    ///< a registered name or IPv4 address, as those that exist are spelt
};

constexpr std::array<std::uint8_t, 256> character_table() {
  std::array<std::uint8_t, 256> table{};
  const auto mark = [&](std::string_view characters, std::uint8_t bits) {
    for (const char c : characters) table[static_cast<unsigned char>(c)] |= bits;
  };
  mark("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", kToken | kTarget | kHost);
  mark("!#$%&'*+-.^_`|~", kToken);
  mark("-._~!$&'()*+,;=:@/?%", kTarget);
  mark("-._", kHost);
  for (unsigned c = 0x20; c < 256; ++c) {
    if (c != 0x7f) table[c] |= kValue;
  }
  table['\t'] |= kValue;
  return table;
}
inline constexpr std::array<std::uint8_t, 256> kCharacters = character_table();

constexpr bool is_all(std::string_view text, CharacterClass wanted) {
  for (const char c : text) {
    if ((kCharacters[static_cast<unsigned char>(c)] & wanted) == 0) return false;
  }
  return true;
}

/// Value of a hex digit, or -1.
constexpr int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace ace::net
