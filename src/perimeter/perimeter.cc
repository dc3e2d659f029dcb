#include "perimeter/perimeter.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>

#include "core/check.h"
#include "core/ids.h"

namespace ace {
namespace {

constexpr std::size_t kRawBytesMin = 32;
constexpr std::size_t kHexDigits = 64;
constexpr std::size_t kTokenDigits = 10;  // of 5 bits
constexpr std::size_t kMemoRawMax = 256;  // longer identities are rare and not worth keeping
constexpr std::string_view kMend = "make one with `openssl rand -hex 32`";

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// 0 to 15, or -1.
int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());  // NOLINT: OpenSSL takes unsigned bytes
}

}  // namespace

Result<MaskKey> key_from(std::string_view text) {
  const std::string_view digits = trimmed(text);
  const bool hex =
      !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) { return hex_value(c) >= 0; });
  if (hex && digits.size() != kHexDigits) {
    return Error(Errc::bad_input, "the salt has " + std::to_string(digits.size()) + " hexadecimal digits, expected " +
                                      std::to_string(kHexDigits) + "; " + std::string(kMend));
  }
  MaskKey key{};
  if (hex) {
    for (std::size_t i = 0; i < key.size(); ++i) {
      key[i] = static_cast<std::uint8_t>(hex_value(digits[2 * i]) * 16 + hex_value(digits[2 * i + 1]));
    }
    return key;
  }
  if (text.size() < kRawBytesMin) {
    return Error(Errc::bad_input, "the salt has " + std::to_string(text.size()) +
                                      " bytes, expected 64 hexadecimal digits or at least " +
                                      std::to_string(kRawBytesMin) + " bytes; " + std::string(kMend));
  }
  unsigned int size = 0;
  ACE_CHECK(EVP_Digest(text.data(), text.size(), key.data(), &size, EVP_sha256(), nullptr) == 1 && size == key.size(),
            "SHA-256 is not available");
  return key;
}

std::array<std::uint8_t, 32> hmac_sha256(std::string_view key, std::string_view message) {
  std::array<std::uint8_t, 32> digest{};
  unsigned int size = 0;
  const unsigned char* done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(message),
                                   message.size(), digest.data(), &size);
  ACE_CHECK(done != nullptr && size == digest.size(), "HMAC-SHA256 is not available");
  return digest;
}

Masker::Masker(const MaskKey& key, std::size_t memo_max) : key_(key), memo_max_(memo_max) {}

Masker::~Masker() { OPENSSL_cleanse(key_.data(), key_.size()); }

void Masker::declare(std::string_view label) { declared_.emplace(label); }

std::string Masker::token(std::string_view raw) {
  if (raw.empty()) return {};
  if (const auto label = declared_.find(raw); label != declared_.end()) return *label;
  if (const auto known = memo_.find(raw); known != memo_.end()) return known->second;

  const std::string_view key(reinterpret_cast<const char*>(key_.data()), key_.size());
  const std::array<std::uint8_t, 32> digest = hmac_sha256(key, raw);
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < 8; ++i) first = first << 8 | digest[i];
  // The last 10 of 26 characters are the low 50 bits.
  const std::string token = "t_" + to_base32(0, first >> (64 - 5 * kTokenDigits)).substr(26 - kTokenDigits);

  if (raw.size() <= kMemoRawMax && memo_max_ > 0) {
    if (memo_.size() >= memo_max_) memo_.clear();
    memo_.emplace(raw, token);
  }
  return token;
}

}  // namespace ace
