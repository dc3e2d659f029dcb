#include "spine/keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/hash.h"
#include "core/little_endian.h"
#include "spine/crc32c.h"

namespace ace::spine {
using namespace little_endian;
namespace {
constexpr std::string_view kKeysMagic = "ACEKEYS1";
constexpr std::size_t kEntry = 24, kHeadBytes = 24;
}  // namespace

Fingerprint fingerprint_of(const event::Key& key) {
  // The id is random already; the rest is mixed in so that kinds and ordinals of one id differ.
  const std::uint64_t rest = mix(std::uint64_t{key.tenant} << 32 | key.ordinal, static_cast<std::uint64_t>(key.kind));
  return {mix(key.id.high, rest), mix(key.id.low, rest ^ key.id.high)};
}

std::string Keys::name_of(std::uint32_t segment) { return fmt::format("{:08}.keys", segment); }

void Keys::add(const Fingerprint& key, Address address) { open_[key].push_back(address); }

Result<void> Keys::write(std::uint32_t segment, const Table& table) {
  std::string entries;
  entries.reserve(table.size() * kEntry);
  for (const auto& [key, offset] : table) {
    put(entries, key.high);
    put(entries, key.low);
    put(entries, std::uint64_t{offset});
  }
  std::string bytes(kKeysMagic);
  put(bytes, crc32c(entries));
  put(bytes, segment);
  put(bytes, std::uint64_t{table.size()});
  return write_whole(*disk_, name_of(segment), bytes + entries);
}

Result<void> Keys::seal(std::uint32_t segment, std::uint64_t id_ms_min, std::uint64_t id_ms_max) {
  Table table;
  for (const auto& [key, places] : open_)
    for (const Address& place : places)
      if (place.segment == segment) table.emplace_back(key, place.offset);
  std::sort(table.begin(), table.end());
  // Where there is no room for it, it is made again when somebody needs it: what must not be lost is that it is needed.
  if (Result<void> done = write(segment, table); !done && done.error().code() != Errc::out_of_range) return done;
  open_.clear();
  sealed(segment, id_ms_min, id_ms_max);
  return {};
}

void Keys::sealed(std::uint32_t segment, std::uint64_t id_ms_min, std::uint64_t id_ms_max) {
  sealed_[segment] = {id_ms_min, id_ms_max};
}

void Keys::sealed_as(std::uint32_t segment, std::uint64_t id_ms_min, std::uint64_t id_ms_max) {
  open_.clear();
  if (id_ms_min <= id_ms_max) sealed(segment, id_ms_min, id_ms_max);
}

Result<void> Keys::restore(std::uint32_t segment, std::vector<std::pair<Fingerprint, std::uint32_t>> keys) {
  std::sort(keys.begin(), keys.end());
  Result<void> done = write(segment, keys);
  if (!done && done.error().code() != Errc::out_of_range) return done;
  load(segment, std::move(keys));
  return {};
}

const Keys::Table& Keys::load(std::uint32_t segment, Table table) {
  if (loaded_.size() >= kLoaded) loaded_.erase(loaded_.begin());
  return loaded_[segment] = std::move(table);
}

Result<const Keys::Table*> Keys::table(std::uint32_t segment) {
  if (const auto found = loaded_.find(segment); found != loaded_.end()) return &found->second;
  const Result<std::string> bytes = read_whole(*disk_, name_of(segment));
  if (!bytes && bytes.error().code() != Errc::not_found) return Error(bytes.error());
  const bool sound = bytes && bytes->size() >= kHeadBytes && bytes->starts_with(kKeysMagic) &&
                     get<std::uint32_t>(*bytes, 12) == segment &&
                     bytes->size() == kHeadBytes + kEntry * get<std::uint64_t>(*bytes, 16) &&
                     crc32c(std::string_view(*bytes).substr(kHeadBytes)) == get<std::uint32_t>(*bytes, 8);
  if (!sound) return Error(Errc::not_found, name_of(segment) + ": the keys of this segment must be made again");
  Table table;
  table.reserve((bytes->size() - kHeadBytes) / kEntry);
  for (std::size_t at = kHeadBytes; at < bytes->size(); at += kEntry) {
    table.push_back({{get<std::uint64_t>(*bytes, at), get<std::uint64_t>(*bytes, at + 8)},
                     static_cast<std::uint32_t>(get<std::uint64_t>(*bytes, at + 16))});
  }
  return &load(segment, std::move(table));
}

Result<std::vector<Address>> Keys::find(const Fingerprint& key, std::uint64_t id_ms, std::uint32_t& missing) {
  std::vector<Address> places;
  for (const auto& [segment, range] : sealed_) {
    if (id_ms < range.ms_min || id_ms > range.ms_max) continue;
    missing = segment;
    const Result<const Table*> keys = table(segment);
    if (!keys) return Error(keys.error());
    for (auto at = std::lower_bound((*keys)->begin(), (*keys)->end(), std::pair(key, std::uint32_t{0}));
         at != (*keys)->end() && at->first == key; ++at)
      places.push_back({segment, at->second});
  }
  if (const auto found = open_.find(key); found != open_.end())
    places.insert(places.end(), found->second.begin(), found->second.end());
  return places;
}

}  // namespace ace::spine
