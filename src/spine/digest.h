#pragma once
/// SHA-256 of bytes, for the chain and the tree.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "spine/event.h"

namespace ace {

using event::Digest;

/// Keeps OpenSSL's context between digests, because making one costs more than hashing a record. One per thread.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  /// Of the parts, one after the other.
  Digest operator()(std::initializer_list<std::string_view> parts);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

inline std::string_view view(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}
/// @param bytes 32 of them
Digest digest_from(std::string_view bytes);
std::string to_hex(std::string_view bytes);
/// RFC 4648, with padding.
std::string to_base64(std::string_view bytes);
/// @return bad_input unless it is canonical base64 with its padding
Result<std::string> from_base64(std::string_view text);

}  // namespace ace
