#include "verify/repeats.h"

#include <algorithm>

#include "core/hash.h"
#include "core/ids.h"

namespace ace::verify {
namespace {

/// A protobuf integer at the front, taken off; nothing if there is none.
std::optional<std::uint64_t> varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 10); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if (byte >= 0x80) continue;
    bytes.remove_prefix(i + 1);
    return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<EventKey> key_of(std::string_view payload) {
  constexpr std::uint64_t kId = 1, kTenant = 2, kOrdinal = 5, kFirstKind = 6;
  std::string_view id;
  std::uint64_t tenant = 0, ordinal = 0, kind = 0;
  while (!payload.empty()) {
    const std::optional<std::uint64_t> tag = varint(payload);
    if (!tag) return std::nullopt;
    const std::uint64_t field = *tag >> 3;
    switch (*tag & 7) {
      case 0: {
        const std::optional<std::uint64_t> value = varint(payload);
        if (!value) return std::nullopt;
        if (field == kTenant) tenant = *value;
        if (field == kOrdinal) ordinal = *value;
        break;
      }
      case 2: {
        const std::optional<std::uint64_t> length = varint(payload);
        if (!length || *length > payload.size()) return std::nullopt;
        if (field == kId) id = payload.substr(0, *length);
        if (field >= kFirstKind) kind = field;
        payload.remove_prefix(*length);
        break;
      }
      default: {
        const std::size_t size = (*tag & 7) == 1 ? 8 : 4;
        if (((*tag & 7) != 1 && (*tag & 7) != 5) || payload.size() < size) return std::nullopt;
        payload.remove_prefix(size);
      }
    }
  }
  if (id.size() != 16) return std::nullopt;
  const auto word = [&](std::size_t from) {
    std::uint64_t value = 0;
    for (std::size_t i = from; i < from + 8; ++i) value = value << 8 | static_cast<unsigned char>(id[i]);
    return value;
  };
  return EventKey{word(0), word(8), tenant, ordinal, kind};
}

namespace {

std::uint64_t hash_of(const EventKey& key) {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : key) hash = mix(hash, word);
  return hash;
}

}  // namespace

void Repeats::hear(std::string_view payload) {
  const std::optional<EventKey> key = key_of(payload);
  if (!key) return;
  const std::uint64_t hash = hash_of(*key);
  hashes_[hash >> 56].push_back(hash);
}

bool Repeats::suspected() {
  for (std::vector<std::uint64_t>& some : hashes_) {
    std::sort(some.begin(), some.end());
    for (std::size_t i = 1; i < some.size(); ++i)
      if (some[i] == some[i - 1] && (twice_.empty() || twice_.back() != some[i])) twice_.push_back(some[i]);
    some = {};
  }
  return !twice_.empty();
}

std::optional<Mismatch> Repeats::hear_again(std::string_view payload) {
  const std::optional<EventKey> key = key_of(payload);
  if (!key || !std::binary_search(twice_.begin(), twice_.end(), hash_of(*key))) return std::nullopt;
  if (keys_.insert(*key).second) return std::nullopt;
  const auto& [high, low, tenant, ordinal, kind] = *key;
  return Mismatch{"each event once", "a second one of tenant " + std::to_string(tenant) + ", id " +
                                         to_base32(high, low) + ", kind " + std::to_string(kind) + ", ordinal " +
                                         std::to_string(ordinal)};
}

}  // namespace ace::verify
