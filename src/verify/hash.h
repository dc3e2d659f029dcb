#pragma once
/// Digests, checksums, signatures and their texts.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace ace::verify {

using Hash = std::array<std::uint8_t, 32>;
using PublicKey = std::array<std::uint8_t, 32>;  ///< Ed25519, RFC 8032

inline std::string_view view(const Hash& hash) { return {reinterpret_cast<const char*>(hash.data()), hash.size()}; }
/// @param bytes 32 of them
Hash hash_from(std::string_view bytes);

/// SHA-256.
struct Hasher {
  /// Of the parts, one after the other.
  Hash operator()(std::initializer_list<std::string_view> parts) const;
};

/// CRC-32C (Castagnoli) as in RFC 3720.
std::uint32_t checksum(std::string_view bytes);

/// @param signature 64 bytes; any other count is no signature
bool signed_by(const PublicKey& key, std::string_view text, std::string_view signature);

std::string hex(std::string_view bytes);
/// RFC 4648, with padding.
std::string base64(std::string_view bytes);
/// @return nothing unless it is exactly what base64() makes of some bytes
std::optional<std::string> from_base64(std::string_view text);

}  // namespace ace::verify
