#pragma once
/// Pseudonyms: what names or reaches a person enters as raw bytes and leaves as a keyed token.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/result.h"

namespace ace {

/// The secret behind the tokens. Who has it can link tokens to guesses of names, so it never leaves the perimeter.
using MaskKey = std::array<std::uint8_t, 32>;

/// A key from the contents of a salt file: 64 hexadecimal digits (blanks around them are ignored), or at least 32 bytes
/// of anything else, of which the key is the SHA-256.
/// @return bad_input if it is shorter, or all hexadecimal with another number of digits (a slip of the pen would
/// otherwise
///         become another key in silence). The message never repeats the contents.
Result<MaskKey> key_from(std::string_view text);

/// HMAC-SHA256. Source: RFC 2104, FIPS 198-1. @param key up to 2^31 - 1 bytes
std::array<std::uint8_t, 32> hmac_sha256(std::string_view key, std::string_view message);

/// Turns raw identities into tokens: `t_` and 10 base32 characters, the first 50 bits of HMAC-SHA256(key, raw). The
/// same raw bytes under the same key give the same token in every run and on every machine; two of a million names
/// share one with a probability of about 4e-4. Not for several threads at once: give each its own.
class Masker {
 public:
  /// @param memo_max tokens kept for speed; when it is full it starts again, so memory stays bounded
  explicit Masker(const MaskKey& key, std::size_t memo_max = 1 << 16);
  Masker(const Masker&) = default;
  Masker& operator=(const Masker&) = default;
  ~Masker();  // wipes the key

  /// A tenant, team, project or model name of the fleet file: a label, not an identity, so it passes as it is.
  void declare(std::string_view label);

  /// The token of `raw`; a declared label is its own token, and no identity (empty) stays empty.
  std::string token(std::string_view raw);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  MaskKey key_;
  std::size_t memo_max_;
  std::unordered_set<std::string, Hash, std::equal_to<>> declared_;
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> memo_;  // looked up only, never iterated
};

}  // namespace ace
