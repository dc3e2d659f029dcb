#include "spine/find.h"

#include <algorithm>

#include "core/little_endian.h"
#include "spine/rest.h"

namespace ace::spine {

Result<Finder::Listed> Finder::list(std::uint32_t segment) {
  const Result<std::string> bytes = read_whole(*disk_, segment_name(segment));
  if (!bytes) return Error(bytes.error());
  const Result<SegmentHead> head = head_from(*bytes, segment);
  if (!head) return Error(head.error());
  Listed listed;
  Sha256 sha;
  const Result<SegmentEnd> end = walk(sha, *bytes, *head, [&](const Frame& frame, const Digest&) -> Result<void> {
    if (frame.type != RecordType::event) return {};
    if (const Result<event::Key> key = event::key_from(frame.payload))
      listed.keys.emplace_back(fingerprint_of(*key), frame.address.offset);
    return {};
  });
  if (!end) return Error(end.error());
  listed.next = end->next;
  return listed;
}

Result<void> Finder::look() {
  const Result<std::vector<std::string>> names = disk_->list();
  if (!names) return Error(names.error());
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : *names)
    if (const auto number = segment_number(name); number && *number > sealed_) numbers.push_back(*number);
  std::sort(numbers.begin(), numbers.end());
  keys_.forget_open();
  for (const std::uint32_t number : numbers) {
    Result<std::unique_ptr<File>> file = disk_->open(segment_name(number), false);
    if (!file) return std::move(file).error();
    const Result<std::optional<Seal>> seal = seal_at_end(**file, number);
    if (!seal) return Error(seal.error());
    if (*seal) {
      if ((*seal)->id_ms_min <= (*seal)->id_ms_max)
        keys_.sealed(number, {(*seal)->id_ms_min, (*seal)->id_ms_max, (*seal)->chain});
      sealed_ = number;
      next_ = (*seal)->end;
      continue;
    }
    const Result<Listed> listed = list(number);
    if (!listed) return Error(listed.error());
    for (const auto& [key, offset] : listed->keys) keys_.add(key, {number, offset});
    next_ = listed->next;
  }
  return {};
}

Result<std::optional<Finder::Found>> Finder::at(Address address, const event::Key& key, std::uint64_t before) {
  std::unique_ptr<File>& file = files_[address.segment];
  if (file == nullptr) {
    Result<std::unique_ptr<File>> opened = disk_->open(segment_name(address.segment), false);
    if (!opened) return std::move(opened).error();
    file = *std::move(opened);
  }
  const Result<std::string> header = file->read(address.offset, kFrameHeader);
  if (!header) return Error(header.error());
  if (header->size() < kFrameHeader) return std::optional<Found>();
  const auto length = little_endian::get<std::uint32_t>(*header, 8);
  const Result<std::string> bytes = file->read(address.offset, frame_size(std::min(length, kPayloadMax)));
  if (!bytes) return Error(bytes.error());
  const Result<Frame> frame = frame_from(*bytes, address);
  if (!frame) return Error(frame.error());
  if (frame->type != RecordType::event || frame->sequence >= before) return std::optional<Found>();
  const Result<event::Key> is = event::key_from(frame->payload);
  if (!is) return Error(is.error()).with(to_text(address));
  if (*is != key) return std::optional<Found>();  // one with the same fingerprint
  return std::optional(Found{frame->sequence, std::string(frame->payload)});
}

Result<std::optional<Finder::Found>> Finder::find(const event::Key& key, std::uint64_t before) {
  if (next_ < before)
    if (Result<void> looked = look(); !looked) return std::move(looked).error();
  const Fingerprint fingerprint = fingerprint_of(key);
  std::uint32_t missing = 0;
  Result<std::vector<Address>> places = keys_.find(fingerprint, event::millis_of(key.id), missing);
  while (!places && places.error().code() == Errc::not_found) {
    Result<Listed> listed = list(missing);
    if (!listed) return std::move(listed).error();
    keys_.hold(missing, std::move(listed->keys));
    places = keys_.find(fingerprint, event::millis_of(key.id), missing);
  }
  if (!places) return std::move(places).error();
  for (const Address& place : *places) {
    Result<std::optional<Found>> found = at(place, key, before);
    if (!found || *found) return found;
  }
  return std::optional<Found>();
}

Result<std::vector<Finder::Found>> Finder::request(std::uint32_t tenant, event::EventId id, std::uint64_t before) {
  std::vector<Found> all;
  const Result<std::optional<Found>> admitted = find({tenant, id, event::Kind::admitted, 0}, before);
  if (!admitted) return Error(admitted.error());
  if (!*admitted) return all;
  all.push_back(**admitted);
  for (const event::Kind kind :
       {event::Kind::decided, event::Kind::attempted, event::Kind::cache_hit, event::Kind::completed})
    for (std::uint32_t ordinal = 0;; ++ordinal) {
      Result<std::optional<Found>> found = find({tenant, id, kind, ordinal}, before);
      if (!found) return std::move(found).error();
      if (*found)
        all.push_back(**std::move(found));
      else if (ordinal > 0)
        break;
    }
  std::sort(all.begin(), all.end(), [](const Found& a, const Found& b) { return a.sequence < b.sequence; });
  return all;
}

}  // namespace ace::spine
