#include "verify/hash.h"

// A digest of a hundred bytes is half as dear without the look-ups of the newer calls; these stay for ABI's sake.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <cstring>

#include "core/check.h"

namespace ace::verify {
namespace {

/// Eight tables, so that eight bytes are folded in one step ("slicing by 8", Kounavis and Berry 2005).
struct Tables {
  std::array<std::array<std::uint32_t, 256>, 8> by{};
  constexpr Tables() {
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::uint32_t crc = byte;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f6'3b78U : 0U);
      by[0][byte] = crc;
    }
    for (std::size_t t = 1; t < 8; ++t)
      for (std::size_t byte = 0; byte < 256; ++byte)
        by[t][byte] = (by[t - 1][byte] >> 8) ^ by[0][by[t - 1][byte] & 0xff];
  }
};
constexpr Tables kTables;

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

Hash Hasher::operator()(std::initializer_list<std::string_view> parts) const {
  Hash hash{};
  SHA256_CTX context;
  bool good = SHA256_Init(&context) == 1;
  for (const std::string_view part : parts) good = good && SHA256_Update(&context, part.data(), part.size()) == 1;
  good = good && SHA256_Final(hash.data(), &context) == 1;
  ACE_CHECK(good, "OpenSSL failed to hash");
  return hash;
}

Hash hash_from(std::string_view bytes) {
  Hash hash{};
  ACE_CHECK(bytes.size() == hash.size(), "a digest has 32 bytes");
  std::memcpy(hash.data(), bytes.data(), hash.size());
  return hash;
}

std::uint32_t checksum(std::string_view bytes) {
  const auto& t = kTables.by;
  std::uint32_t crc = ~0U;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint32_t low = 0, high = 0;
    std::memcpy(&low, bytes.data(), 4);
    std::memcpy(&high, bytes.data() + 4, 4);
    low ^= crc;
    crc = t[7][low & 0xff] ^ t[6][low >> 8 & 0xff] ^ t[5][low >> 16 & 0xff] ^ t[4][low >> 24] ^ t[3][high & 0xff] ^
          t[2][high >> 8 & 0xff] ^ t[1][high >> 16 & 0xff] ^ t[0][high >> 24];
  }
  for (const char c : bytes) crc = (crc >> 8) ^ t[0][(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

bool signed_by(const PublicKey& key, std::string_view text, std::string_view signature) {
  if (signature.size() != 64) return false;
  const auto bytes = [](std::string_view s) { return reinterpret_cast<const unsigned char*>(s.data()); };
  EVP_PKEY* const public_key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size());
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  const bool good = public_key != nullptr && context != nullptr &&
                    EVP_DigestVerifyInit(context, nullptr, nullptr, nullptr, public_key) == 1 &&
                    EVP_DigestVerify(context, bytes(signature), signature.size(), bytes(text), text.size()) == 1;
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(public_key);
  return good;
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

std::string base64(std::string_view bytes) {
  std::string text;
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 3))) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= bytes.size() ? kAlphabet[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const std::size_t digit = kAlphabet.find(c);
    if (digit == kAlphabet.npos) return std::nullopt;
    bits = (bits << 6 | static_cast<std::uint32_t>(digit)) & 0xfff;
    if (held += 6; held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xff);
  }
  if (base64(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace ace::verify
