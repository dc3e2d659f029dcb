#include "gateway/keys.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <zlib.h>

#include <algorithm>

#include "spine/spine.h"

namespace ace::gateway {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kPrefix = 7, kRandom = 32, kChecksum = 6;

std::string_view prefix_of(Role role) { return role == Role::client ? "ace_sk_" : "ace_ak_"; }

/// @param covered  prefix and random part: a client's key with the prefix changed is no admin's key
std::string checksum_of(std::string_view covered) {
  std::uint64_t crc = crc32(0L, reinterpret_cast<const Bytef*>(covered.data()), static_cast<uInt>(covered.size()));
  std::string out(kChecksum, '0');
  for (std::size_t i = kChecksum; i-- > 0; crc /= kDigits.size()) out[i] = kDigits[crc % kDigits.size()];
  return out;
}

}  // namespace

std::string make_key(Role role, std::span<const std::uint8_t, 32> entropy) {
  // The digits of one number of 256 bits in base 62: what is left after 32 of them would show a bias only beyond 2^65
  // keys.
  std::array<std::uint8_t, 32> number{};
  std::copy(entropy.begin(), entropy.end(), number.begin());
  std::string key(prefix_of(role));
  for (std::size_t i = 0; i < kRandom; ++i) {
    unsigned rest = 0;
    for (std::uint8_t& byte : number) {
      const unsigned value = rest << 8U | byte;
      byte = static_cast<std::uint8_t>(value / kDigits.size());
      rest = static_cast<unsigned>(value % kDigits.size());
    }
    key += kDigits[rest];
  }
  OPENSSL_cleanse(number.data(), number.size());
  return key + checksum_of(key);
}

std::optional<Role> role_of(std::string_view key) {
  if (key.size() != kPrefix + kRandom + kChecksum) return std::nullopt;
  const std::string_view prefix = key.substr(0, kPrefix);
  const Role role = prefix == prefix_of(Role::admin) ? Role::admin : Role::client;
  if (prefix != prefix_of(role)) return std::nullopt;
  if (key.find_first_not_of(kDigits, kPrefix) != std::string_view::npos) return std::nullopt;
  if (checksum_of(key.substr(0, kPrefix + kRandom)) != key.substr(kPrefix + kRandom)) return std::nullopt;
  return role;
}

KeyDigest digest_of(std::string_view key) { return Sha256()({key}); }

std::string key_id_of(std::string_view key) {
  return "k_" + to_hex(view(Sha256()({"ace key id\n", key})).substr(0, 4));
}

bool Key::may(wire::Operation operation) const {
  return operations.empty() || std::find(operations.begin(), operations.end(), operation) != operations.end();
}

bool Key::may_ask(std::string_view model) const {
  return models.empty() || std::find(models.begin(), models.end(), model) != models.end();
}

std::string_view name_of(KeyRefusal why) {
  switch (why) {
    case KeyRefusal::none_given:
      return "none_given";
    case KeyRefusal::malformed:
      return "malformed";
    case KeyRefusal::unknown:
      return "unknown";
    case KeyRefusal::not_yet:
      return "not_yet";
    case KeyRefusal::expired:
      return "expired";
    case KeyRefusal::revoked:
      return "revoked";
    case KeyRefusal::wrong_role:
      return "wrong_role";
  }
  return "";
}

std::variant<const Key*, KeyRefusal> KeyRing::find(std::string_view presented, Role role, Instant now) const {
  if (presented.empty()) return KeyRefusal::none_given;
  const std::optional<Role> claimed = role_of(presented);
  if (!claimed) return KeyRefusal::malformed;
  const KeyDigest digest = digest_of(presented);
  // The search sees digests alone, which nobody can choose; the last comparison takes the same time for all.
  const auto found =
      std::lower_bound(by_digest_.begin(), by_digest_.end(), digest,
                       [](const Entry& entry, const KeyDigest& wanted) { return entry.digest < wanted; });
  if (found == by_digest_.end() || CRYPTO_memcmp(found->digest.data(), digest.data(), digest.size()) != 0)
    return KeyRefusal::unknown;
  const Key& key = keys_[found->key];
  const auto secret =
      std::find_if(key.secrets.begin(), key.secrets.end(), [&](const Key::Secret& s) { return s.digest == digest; });
  if (key.role != role) return KeyRefusal::wrong_role;
  if (key.revoked && now >= *key.revoked) return KeyRefusal::revoked;
  if (now < secret->from) return KeyRefusal::not_yet;
  if (now >= secret->until) return KeyRefusal::expired;
  return &key;
}

const Key* KeyRing::at(std::string_view id) const {
  const auto found = std::find_if(keys_.begin(), keys_.end(), [&](const Key& key) { return key.id == id; });
  return found == keys_.end() ? nullptr : &*found;
}

/// Puts ids and digests in order.
Result<void> KeyRing::index() {
  std::sort(keys_.begin(), keys_.end(), [](const Key& a, const Key& b) { return a.id < b.id; });
  by_digest_.clear();
  for (std::uint32_t i = 0; i < keys_.size(); ++i) {
    if (i > 0 && keys_[i].id == keys_[i - 1].id)
      return Error(Errc::conflict, fmt::format("two keys have the id {}", keys_[i].id));
    for (const Key::Secret& secret : keys_[i].secrets) by_digest_.push_back({secret.digest, i});
  }
  std::sort(by_digest_.begin(), by_digest_.end(), [](const Entry& a, const Entry& b) { return a.digest < b.digest; });
  const auto twice = std::adjacent_find(by_digest_.begin(), by_digest_.end(),
                                        [](const Entry& a, const Entry& b) { return a.digest == b.digest; });
  if (twice != by_digest_.end())
    return Error(Errc::conflict,
                 fmt::format("one secret opens {} and {}", keys_[twice->key].id, keys_[(twice + 1)->key].id));
  return {};
}

Result<void> KeyRing::add(Key key) {
  KeyRing next = *this;
  next.keys_.push_back(std::move(key));
  Result<void> indexed = next.index();
  if (indexed) *this = std::move(next);
  return indexed;
}

Result<void> KeyRing::rotate(std::string_view id, std::string_view new_key, Duration overlap, Instant now) {
  const Key* found = at(id);
  if (found == nullptr) return Error(Errc::not_found, fmt::format("there is no key {}", id));
  if (found->revoked) return Error(Errc::conflict, fmt::format("{} is revoked; make a new key", id));
  if (role_of(new_key) != found->role)
    return Error(Errc::bad_input, "the new key is not of the form that its role has");
  KeyRing next = *this;
  Key& key = next.keys_[static_cast<std::size_t>(found - keys_.data())];
  for (Key::Secret& secret : key.secrets) secret.until = std::min(secret.until, now + overlap);
  std::erase_if(key.secrets, [&](const Key::Secret& secret) { return secret.until <= now; });
  key.secrets.push_back({digest_of(new_key), now, Instant::max()});
  Result<void> indexed = next.index();
  if (indexed) *this = std::move(next);
  return indexed;
}

Result<void> KeyRing::revoke(std::string_view id, Instant now) {
  const Key* found = at(id);
  if (found == nullptr) return Error(Errc::not_found, fmt::format("there is no key {}", id));
  Key& key = keys_[static_cast<std::size_t>(found - keys_.data())];
  if (!key.revoked || *key.revoked > now) key.revoked = now;
  return {};
}

}  // namespace ace::gateway
