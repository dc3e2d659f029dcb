#include "spine/keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/hash.h"
#include "core/int128.h"
#include "core/little_endian.h"
#include "spine/crc32c.h"

namespace ace::spine {
using namespace little_endian;
namespace {
constexpr std::string_view kKeysMagic = "ACEKEYS2";
constexpr std::size_t kEntry = 24, kHeadBytes = 56, kSummed = 12;
}  // namespace

Fingerprint fingerprint_of(const event::Key& key) {
  // The id is random already; the rest is mixed in so that kinds and ordinals of one id differ.
  const std::uint64_t rest = mix(std::uint64_t{key.tenant} << 32 | key.ordinal, static_cast<std::uint64_t>(key.kind));
  return {mix(key.id.high, rest), mix(key.id.low, rest ^ key.id.high)};
}

std::string Keys::name_of(std::uint32_t segment) { return fmt::format("{:08}.keys", segment); }

void Keys::add(const Fingerprint& key, Address address) { open_.add(key, address); }

Result<void> Keys::write(std::uint32_t segment, const Table& table) {
  std::string summed;
  summed.reserve(kHeadBytes - kSummed + table.size() * kEntry);
  put(summed, segment);
  put(summed, std::uint64_t{table.size()});
  summed += view(sealed_.at(segment).chain);
  for (const auto& [key, offset] : table) {
    put(summed, key.high);
    put(summed, key.low);
    put(summed, std::uint64_t{offset});
  }
  std::string bytes(kKeysMagic);
  put(bytes, crc32c(summed));
  return write_whole(*disk_, name_of(segment), bytes + summed);
}

Result<void> Keys::seal(std::uint32_t segment, const Sealed& as) {
  sealed(segment, as);
  Table table;
  open_.each([&](const Fingerprint& key, Address place) {
    if (place.segment == segment) table.emplace_back(key, place.offset);
  });
  std::sort(table.begin(), table.end());
  // Where there is no room for it, it is made again when somebody needs it: what must not be lost is that it is needed.
  if (Result<void> done = write(segment, table); !done && done.error().code() != Errc::out_of_range) return done;
  open_.clear();
  return {};
}

void Keys::sealed(std::uint32_t segment, const Sealed& as) { sealed_[segment] = as; }

void Keys::sealed_as(std::uint32_t segment, const Sealed& as) {
  open_.clear();
  if (as.ms_min <= as.ms_max) sealed(segment, as);
}

Result<void> Keys::restore(std::uint32_t segment, std::vector<std::pair<Fingerprint, std::uint32_t>> keys) {
  std::sort(keys.begin(), keys.end());
  Result<void> done = write(segment, keys);
  listed_.erase(segment);
  if (done || done.error().code() != Errc::out_of_range) return done;
  hold(segment, std::move(keys));  // no room for it
  return {};
}

void Keys::hold(std::uint32_t segment, std::vector<std::pair<Fingerprint, std::uint32_t>> keys) {
  std::sort(keys.begin(), keys.end());
  Listed here;
  here.count = keys.size();
  here.held = std::move(keys);
  listed_[segment] = std::move(here);
}

void Keys::pruned(std::uint32_t last) {
  sealed_.erase(sealed_.begin(), sealed_.upper_bound(last));
  listed_.erase(listed_.begin(), listed_.upper_bound(last));
}

/// Opens the file of a segment, once it was found sound.
Result<Keys::Listed*> Keys::listed(std::uint32_t segment) {
  if (const auto found = listed_.find(segment); found != listed_.end()) return &found->second;
  Result<std::unique_ptr<File>> file = disk_->open(name_of(segment), false);
  if (!file && file.error().code() != Errc::not_found) return std::move(file).error();
  Result<std::string> bytes = file ? read_whole(*disk_, name_of(segment)) : Result<std::string>(std::string());
  if (!bytes) return std::move(bytes).error();
  const bool sound = bytes->size() >= kHeadBytes && bytes->starts_with(kKeysMagic) &&
                     get<std::uint32_t>(*bytes, 12) == segment &&
                     bytes->size() == kHeadBytes + kEntry * get<std::uint64_t>(*bytes, 16) &&
                     crc32c(std::string_view(*bytes).substr(kSummed)) == get<std::uint32_t>(*bytes, 8) &&
                     std::string_view(*bytes).substr(24, 32) == view(sealed_.at(segment).chain);
  if (!sound) return Error(Errc::not_found, name_of(segment) + ": the keys of this segment must be made again");
  Listed& made = listed_[segment];
  made.file = *std::move(file);
  made.count = get<std::uint64_t>(*bytes, 16);
  return &made;
}

Result<Keys::Table> Keys::entries(Listed& listed, std::uint64_t begin, std::uint64_t count) {
  Table table;
  if (!listed.file) {
    const auto from = listed.held.begin() + static_cast<std::ptrdiff_t>(begin);
    return Table(from, from + static_cast<std::ptrdiff_t>(count));
  }
  const Result<std::string> bytes = listed.file->read(kHeadBytes + begin * kEntry, count * kEntry);
  if (!bytes) return Error(bytes.error());
  if (bytes->size() != count * kEntry)
    return Error(Errc::unavailable, "a list of keys became shorter while it was read");
  table.reserve(count);
  for (std::size_t at = 0; at < bytes->size(); at += kEntry)
    table.push_back({{get<std::uint64_t>(*bytes, at), get<std::uint64_t>(*bytes, at + 8)},
                     static_cast<std::uint32_t>(get<std::uint64_t>(*bytes, at + 16))});
  return table;
}

/// The first entry of the key lies in [low, high]. Fingerprints are spread evenly, so the first look is nearly always
/// near enough; each further one halves what is left.
Result<void> Keys::places_in(Listed& listed, const Fingerprint& key, std::uint32_t segment,
                             std::vector<Address>& places) {
  constexpr std::uint64_t kWindow = 1024;  // of half a million keys, place and guess differ by 350 or so
  std::uint64_t low = 0, high = listed.count;
  auto middle = static_cast<std::uint64_t>(uint128{key.high} * listed.count >> 64);
  while (low < high) {
    const std::uint64_t begin = std::clamp(middle < kWindow / 2 ? 0 : middle - kWindow / 2, low, high - 1);
    const Result<Table> window = entries(listed, begin, std::min(kWindow, high - begin));
    if (!window) return Error(window.error());
    if (window->back().first < key) {
      low = begin + window->size();
    } else if (begin > low && window->front().first >= key) {
      high = begin;
    } else {
      low = begin + static_cast<std::uint64_t>(std::lower_bound(window->begin(), window->end(), Entry(key, 0)) -
                                               window->begin());
      break;
    }
    middle = low + (high - low) / 2;
  }
  for (std::uint64_t at = low; at < listed.count; ++at) {
    const Result<Table> one = entries(listed, at, 1);
    if (!one) return Error(one.error());
    if (one->front().first != key) break;
    places.push_back({segment, one->front().second});
  }
  return {};
}

Result<std::vector<Address>> Keys::find(const Fingerprint& key, std::uint64_t id_ms, std::uint32_t& missing) {
  std::vector<Address> places;
  for (const auto& [segment, range] : sealed_) {
    if (id_ms < range.ms_min || id_ms > range.ms_max) continue;
    missing = segment;
    const Result<Listed*> keys = listed(segment);
    if (!keys) return Error(keys.error());
    if (Result<void> done = places_in(**keys, key, segment, places); !done) return std::move(done).error();
  }
  open_.find(key, places);
  return places;
}

}  // namespace ace::spine
