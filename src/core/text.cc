#include "core/text.h"

#include <algorithm>
#include <array>

namespace ace {
namespace {

constexpr std::size_t kWordMost = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string grouped(int128 value) {
  const bool negative = value < 0;
  const uint128 magnitude = negative ? -static_cast<uint128>(value) : static_cast<uint128>(value);
  std::string out;  // from the last digit to the first
  std::size_t digits = 0;
  for (uint128 rest = magnitude; digits == 0 || rest > 0; rest /= 10) {
    if (digits > 0 && digits % 3 == 0) out += ',';
    out += static_cast<char>('0' + static_cast<int>(rest % 10));
    ++digits;
  }
  if (negative) out += '-';
  std::reverse(out.begin(), out.end());
  return out;
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '<') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kWordMost);
  b = b.substr(0, kWordMost);
  std::array<std::array<std::size_t, kWordMost + 1>, 3> d{};  // three rows of the table are enough
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto &row = d[i % 3], &above = d[(i - 1) % 3], &two_above = d[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
        row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return d[a.size() % 3][b.size()];
}

}  // namespace ace
