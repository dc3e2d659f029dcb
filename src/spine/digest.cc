#include "spine/digest.h"

// A digest of a hundred bytes is half as dear without the look-ups of the newer calls; these stay for ABI's sake.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>

namespace ace {

struct Sha256::State {
  SHA256_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Digest Sha256::operator()(std::initializer_list<std::string_view> parts) {
  Digest out{};
  SHA256_CTX* const context = &state_->context;
  bool ok = SHA256_Init(context) == 1;
  for (const std::string_view part : parts) ok = ok && SHA256_Update(context, part.data(), part.size()) == 1;
  ok = ok && SHA256_Final(out.data(), context) == 1;
  ACE_CHECK(ok, "SHA-256 failed");
  return out;
}

Digest digest_from(std::string_view bytes) {
  Digest out{};
  ACE_CHECK(bytes.size() == out.size(), "a digest has 32 bytes");
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(out.data()));
  return out;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

std::string to_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

Result<std::string> from_base64(std::string_view text) {
  const Error bad(Errc::bad_input, "expected canonical base64");
  if (text.size() % 4 != 0 || text.size() > 1 << 20) return bad;
  std::string bytes(text.size() / 4 * 3 + 1, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (length < 0) return bad;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  bytes.resize(static_cast<std::size_t>(length) - padding);
  if (to_base64(bytes) != text) return bad;
  return bytes;
}

}  // namespace ace
