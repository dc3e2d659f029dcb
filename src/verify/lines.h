#pragma once
/// Lines of the texts that logs are published in.
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "verify/hash.h"

namespace ace::verify {

/// Takes a line off `rest`, without its end, which must be there.
inline std::optional<std::string_view> line_of(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  if (end == rest.npos) return std::nullopt;
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return line;
}

/// Decimal without sign, leading zeros or anything behind it.
inline std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || std::to_string(value) != text) return std::nullopt;
  return value;
}

/// A digest in base64.
inline bool read_hash(std::string_view text, Hash& hash) {
  const std::optional<std::string> bytes = from_base64(text);
  if (!bytes || bytes->size() != hash.size()) return false;
  hash = hash_from(*bytes);
  return true;
}

}  // namespace ace::verify
