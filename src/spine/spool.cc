#include "spine/spool.h"

#include <algorithm>

#include "core/little_endian.h"
#include "spine/crc32c.h"
#include "spine/frame.h"

namespace ace::spine {
using namespace little_endian;
namespace {

constexpr std::string_view kSpoolMagic = "ACESPL01";
/// Length, checksum, position; then the key; then the bytes of the event.
constexpr std::size_t kEntryHead = 16, kKeyBytes = 32;

std::string key_bytes(const event::Key& key) {
  std::string out;
  put(out, key.id.high);
  put(out, key.id.low);
  put(out, key.tenant);
  put(out, key.ordinal);
  put(out, std::uint64_t{static_cast<std::uint8_t>(key.kind)});
  return out;
}

std::uint64_t padded(std::uint64_t n) { return (n + 7) / 8 * 8; }

}  // namespace

Spool::Spool(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {
  ring_ = mapping_->bytes().data() + kHead;
  capacity_ = mapping_->bytes().size() - kHead;
}

Result<std::unique_ptr<Spool>> Spool::open(Disk& disk, const std::string& name, std::uint64_t bytes) {
  ACE_CHECK(bytes % 8 == 0 && bytes >= 1024, "the ring of a spool");
  std::uint64_t size = kHead + bytes;
  if (const Result<std::unique_ptr<File>> there = disk.open(name, false)) {
    // One that is there keeps its size: what it holds lies by that.
    const Result<std::uint64_t> was = (*there)->size();
    if (!was) return Error(was.error());
    if (*was >= kHead + 1024 && *was % 8 == 0) size = *was;
  }
  Result<std::unique_ptr<Mapping>> mapping = map_whole(disk, name, size);
  if (!mapping) return std::move(mapping).error();
  char* const head = (*mapping)->bytes().data();
  const std::string_view page(head, kHead);
  const std::uint64_t tail = get<std::uint64_t>(page, 8);
  const bool blank = page.substr(0, 24).find_first_not_of('\0') == page.npos;
  if (!blank && !page.starts_with(kSpoolMagic)) return Error(Errc::corrupt, name + ": this file is no spool");
  std::unique_ptr<Spool> spool(new Spool(*std::move(mapping)));
  if (blank) std::copy(kSpoolMagic.begin(), kSpoolMagic.end(), head);
  spool->tail_ = tail;
  // The head is where the sound entries end.
  event::Key key;
  std::string entry;
  std::uint64_t at = tail;
  while (const std::uint64_t next = spool->sound(at, key, entry)) at = next;
  spool->head_ = at;
  return spool;
}

void Spool::copy_in(std::uint64_t position, std::string_view bytes) {
  const std::uint64_t at = position % capacity_, first = std::min<std::uint64_t>(bytes.size(), capacity_ - at);
  std::memcpy(ring_ + at, bytes.data(), first);
  std::memcpy(ring_, bytes.data() + first, bytes.size() - first);
}

void Spool::copy_out(std::uint64_t position, char* to, std::size_t length) const {
  const std::uint64_t at = position % capacity_, first = std::min<std::uint64_t>(length, capacity_ - at);
  std::memcpy(to, ring_ + at, first);
  std::memcpy(to + first, ring_, length - first);
}

std::uint64_t Spool::offer(const event::Key& key, std::string_view bytes) {
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  const std::uint64_t size = padded(kEntryHead + kKeyBytes + bytes.size());
  if (bytes.size() > kPayloadMax || head + size - tail_.load(std::memory_order_acquire) > capacity_) return 0;
  const std::string name = key_bytes(key);
  std::string front;
  put(front, static_cast<std::uint32_t>(bytes.size()));
  std::string position;
  put(position, head);
  put(front, crc32c(bytes, crc32c(name, crc32c(position))));
  front += position + name;
  copy_in(head + front.size(), bytes);
  copy_in(head, front);
  head_.store(head + size, std::memory_order_release);
  return head + size;
}

/// The entry there, whoever wrote it, if all of it is sound.
std::uint64_t Spool::sound(std::uint64_t position, event::Key& key, std::string& bytes) const {
  std::string front(kEntryHead + kKeyBytes, '\0');
  copy_out(position, front.data(), front.size());
  const auto length = get<std::uint32_t>(front, 0);
  if (length > kPayloadMax || kEntryHead + kKeyBytes + length > capacity_ || get<std::uint64_t>(front, 8) != position)
    return 0;
  bytes.resize(length);
  copy_out(position + front.size(), bytes.data(), length);
  if (crc32c(bytes, crc32c(std::string_view(front).substr(8))) != get<std::uint32_t>(front, 4)) return 0;
  key.id = {get<std::uint64_t>(front, 16), get<std::uint64_t>(front, 24)};
  key.tenant = get<std::uint32_t>(front, 32);
  key.ordinal = get<std::uint32_t>(front, 36);
  key.kind = static_cast<event::Kind>(get<std::uint64_t>(front, 40));
  return position + padded(front.size() + length);
}

std::uint64_t Spool::peek(std::uint64_t position, event::Key& key, std::string& bytes) const {
  if (position == head()) return 0;
  const std::uint64_t next = sound(position, key, bytes);
  ACE_CHECK(next != 0, "an entry of a spool was damaged in memory");
  return next;
}

void Spool::drained(std::uint64_t position) {
  std::memcpy(mapping_->bytes().data() + 8, &position, sizeof position);
  tail_.store(position, std::memory_order_release);
}

}  // namespace ace::spine
