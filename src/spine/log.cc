#include "spine/log.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/little_endian.h"
#include "spine/log_files.h"

namespace ace::spine {
using namespace little_endian;

std::string_view name_of(Appended::Outcome outcome) {
  switch (outcome) {
    case Appended::Outcome::created:
      return "created";
    case Appended::Outcome::exists:
      return "exists";
    case Appended::Outcome::conflict:
      return "conflict";
    case Appended::Outcome::too_old:
      return "too_old";
  }
  return "unknown";
}

Digest Log::root() { return tree_.root(sha_); }

/// After this nothing more is written: what is on the disk is not known, and only recovery finds out.
Result<void> Log::fail(Error error) {
  // Want of room where room was allocated is no full disk that passes, but a disk that cannot be relied on.
  if (!failure_) failure_ = Error(Errc::unavailable, error.what());
  return *failure_;
}

void Log::mark_durable() {
  const std::span<char> bytes = acked_->bytes();
  const std::uint64_t inverse = ~durable_;
  std::memcpy(bytes.data(), &durable_, sizeof durable_);
  std::memcpy(bytes.data() + 8, &inverse, sizeof inverse);
}

void Log::note_key(const event::Key& key, Address address) {
  keys_.add(fingerprint_of(key), address);
  const std::uint64_t ms = key.id.high >> 16;
  id_ms_min_ = std::min(id_ms_min_, ms);
  id_ms_max_ = std::max(id_ms_max_, ms);
}

Result<void> Log::prepare(std::uint64_t bytes) {
  Result<std::unique_ptr<File>> file = disk_->open(kNext, true);
  if (!file) return std::move(file).error();
  Result<void> done = (*file)->truncate(0);
  if (done) done = (*file)->allocate(bytes);
  if (!done) (void)disk_->remove(kNext);  // gives back what little it got
  return done;
}

/// @param from a file of zeros, allocated: it becomes the segment
Result<void> Log::start_segment(std::uint32_t number, const std::string& from, Instant now) {
  Result<std::unique_ptr<File>> file = disk_->open(from, false);
  if (!file) return std::move(file).error();
  const Result<std::uint64_t> size = (*file)->size();
  if (!size) return Error(size.error());
  const SegmentHead head{id_, number, next_, chain_, nanos(now)};
  if (Result<void> done = (*file)->write(0, to_bytes(head)); !done) return done;
  if (Result<void> done = (*file)->sync(); !done) return done;
  if (Result<void> done = disk_->rename(from, segment_name(number)); !done) return done;
  if (Result<void> done = disk_->sync_directory(); !done) return done;
  file_ = *std::move(file);
  head_ = head;
  capacity_ = static_cast<std::uint32_t>(*size);
  written_ = kSegmentHead;
  segment_tree_ = CompactRange(next_);
  id_ms_min_ = ~std::uint64_t{0};
  id_ms_max_ = 0;
  return {};
}

Result<void> Log::make_reserve() {
  Result<std::unique_ptr<File>> there = disk_->open(kReserve, false);
  if (there) return {};
  if (there.error().code() != Errc::not_found) return std::move(there).error();
  const std::string beside = std::string(kReserve) + ".tmp";
  Result<std::unique_ptr<File>> file = disk_->open(beside, true);
  if (!file) return std::move(file).error();
  Result<void> done = (*file)->truncate(0);
  if (done) done = (*file)->allocate(options_.reserve_bytes);
  if (done) done = (*file)->sync();
  if (done) done = disk_->rename(beside, kReserve);
  if (!done) {
    (void)disk_->remove(beside);
    return done;
  }
  return disk_->sync_directory();
}

/// Ends the segment: everything in it is durable already.
Result<void> Log::seal_segment() {
  const Seal seal{head_.first, next_, chain_, segment_tree_, id_ms_min_, id_ms_max_};
  const std::string payload = to_bytes(seal);
  Frame frame;
  frame.type = RecordType::seal;
  frame.first_of_batch = true;
  frame.durability = options_.durability;
  frame.sequence = next_;
  frame.address = {head_.number, written_};
  frame.previous = beginning_of(chain_);
  frame.payload = payload;
  std::string bytes;
  append_frame(bytes, frame);
  if (Result<void> done = file_->write(written_, bytes); !done) return done;
  if (Result<void> done = file_->truncate(written_ + bytes.size()); !done) return done;
  if (Result<void> done = file_->sync(); !done) return done;
  return keys_.seal(head_.number, {id_ms_min_, id_ms_max_, chain_});
}

/// The next segment, when this one has no room. If there is no room on the disk either, the reserve becomes the next
/// segment, and holds nothing but what says so.
Result<void> Log::roll(Instant now) {
  if (Result<void> done = flush(true); !done) return done;
  if (full_) return Error(Errc::out_of_range, kFullText);
  if (Result<void> room = prepare(options_.segment_bytes); !room) {
    if (room.error().code() != Errc::out_of_range) return fail(room.error());
    return disk_full(now);
  }
  Result<void> done = seal_segment();
  if (done) done = start_segment(head_.number + 1, kNext, now);
  if (!done) return fail(done.error());
  return {};
}

Result<void> Log::disk_full(Instant now) {
  full_ = true;
  full_since_ = now;
  Result<std::unique_ptr<File>> reserve = disk_->open(kReserve, false);
  if (reserve) {
    Result<void> done = seal_segment();
    if (done) done = start_segment(head_.number + 1, kReserve, now);
    if (done) done = put_own(event::Lifecycle{event::Lifecycle::What::disk_full, now, 0}, now);
    if (done) done = flush(true);
    if (!done) return fail(done.error());
  }
  return Error(Errc::out_of_range, kFullText);
}

Result<void> Log::resume(Instant now) {
  if (failure_) return *failure_;
  if (!full_) return make_reserve();
  if (Result<void> room = prepare(options_.segment_bytes); !room) return room;
  Result<void> done = flush(true);
  if (done) done = seal_segment();
  if (done) done = start_segment(head_.number + 1, kNext, now);
  if (!done) return fail(done.error());
  full_ = false;
  if (done = make_reserve(); !done) return done;
  done = put_own(event::Gap{event::Gap::Cause::disk_full, full_since_, now, -1}, now);
  return done ? flush(true) : done;
}

Result<void> Log::append_own(event::Event event, Instant now) {
  if (failure_) return *failure_;
  if (full_) return Error(Errc::out_of_range, kFullText);
  return put_own(std::move(event), now);
}

/// Its id is its place, so that it is unique without a random number, and nobody needs to ask whether it was there.
Result<void> Log::put_own(event::Event event, Instant now) {
  event::Record record;
  record.id = {static_cast<std::uint64_t>(nanos(now) / 1'000'000) << 16, next_};
  record.event = std::move(event);
  const Result<std::string> bytes = event::encode(record);
  ACE_CHECK(bytes.has_value(), "an event of the log itself cannot be written");
  const std::uint32_t offset = written_ + static_cast<std::uint32_t>(batch_.size());
  if (Result<void> done = put(RecordType::event, *bytes, now); !done) return done;
  note_key(event::key_of(record), {head_.number, offset});
  return {};
}

Result<void> Log::put(RecordType type, std::string_view payload, Instant now) {
  const std::size_t size = frame_size(payload.size());
  if (payload.size() > kPayloadMax || kSegmentHead + size + kSealMax > options_.segment_bytes)
    return Error(Errc::out_of_range, fmt::format("an event of {} bytes does not fit a segment", payload.size()));
  if (written_ + batch_.size() + size + kSealMax > capacity_)
    if (Result<void> done = roll(now); !done) return done;
  Frame frame;
  frame.type = type;
  frame.first_of_batch = durable_ == next_;  // what is before it is on the disk
  frame.durability = options_.durability;
  frame.sequence = next_;
  frame.address = {head_.number, written_ + static_cast<std::uint32_t>(batch_.size())};
  frame.previous = beginning_of(chain_);
  frame.payload = payload;
  const std::size_t at = batch_.size();
  append_frame(batch_, frame);
  const Digest leaf = leaf_hash(sha_, std::string_view(batch_).substr(at, kFrameHeader + payload.size()));
  tree_.append(sha_, leaf);
  segment_tree_.append(sha_, leaf);
  chain_ = chain_next(sha_, chain_, leaf);
  ++next_;
  return {};
}

Result<Appended> Log::append(const event::Key& key, std::string_view bytes, Instant now) {
  if (failure_) return *failure_;
  if (full_) return Error(Errc::out_of_range, kFullText);
  if (pruned_ms_ && key.id.high >> 16 <= *pruned_ms_) return Appended{Appended::Outcome::too_old, 0};
  Result<std::optional<Appended>> known = look_up(key, bytes);
  if (!known) return std::move(known).error();
  const bool conflict = *known && (*known)->outcome == Appended::Outcome::conflict;
  if (*known && !(conflict && (*known)->sequence == kNewConflict)) return **known;
  // Where it will lie is known only after put(), which may open another segment.
  if (Result<void> done = put(conflict ? RecordType::conflict : RecordType::event, bytes, now); !done)
    return std::move(done).error();
  const std::size_t back = frame_size(bytes.size());
  note_key(key, {head_.number, written_ + static_cast<std::uint32_t>(batch_.size() - back)});
  if (conflict) ++conflicts_;
  return Appended{conflict ? Appended::Outcome::conflict : Appended::Outcome::created, next_ - 1};
}

Result<std::vector<Address>> Log::places_of(const event::Key& key) {
  for (int tries = 0;; ++tries) {
    std::uint32_t missing = 0;
    Result<std::vector<Address>> places = keys_.find(fingerprint_of(key), key.id.high >> 16, missing);
    if (places || places.error().code() != Errc::not_found || tries > 64) return places;
    if (Result<void> done = restore_keys(missing); !done) return std::move(done).error();
  }
}

/// What is known of this key: nothing, the same event, or another one. A new conflict has the number kNewConflict.
Result<std::optional<Appended>> Log::look_up(const event::Key& key, std::string_view bytes) {
  const Result<std::vector<Address>> places = places_of(key);
  if (!places) return Error(places.error());
  std::optional<Appended> known;
  for (const Address& place : *places) {
    const Result<std::string> record = record_at(place);
    if (!record) return Error(record.error());
    const Result<Frame> frame = frame_from(*record, place);
    if (!frame) return Error(frame.error());
    const Result<event::Key> there = event::key_from(frame->payload);
    if (!there || *there != key) continue;  // another key with the same fingerprint
    if (frame->payload == bytes) {
      const bool event = frame->type == RecordType::event;
      if (!event) ++conflicts_;
      return std::optional(Appended{event ? Appended::Outcome::exists : Appended::Outcome::conflict, frame->sequence});
    }
    known = Appended{Appended::Outcome::conflict, kNewConflict};
  }
  return known;
}

/// The record there, from the batch, the segment that grows, or a sealed one.
Result<std::string> Log::record_at(Address address) {
  if (address.segment == head_.number && address.offset >= written_) return batch_.substr(address.offset - written_);
  std::unique_ptr<File> sealed;
  File* file = file_.get();
  if (address.segment != head_.number) {
    Result<std::unique_ptr<File>> opened = disk_->open(segment_name(address.segment), false);
    if (!opened) return std::move(opened).error();
    sealed = *std::move(opened);
    file = sealed.get();
  }
  const Result<std::string> head = file->read(address.offset, kFrameHeader);
  if (!head || head->size() < kFrameHeader) return head;
  const auto length = std::min(spine::get<std::uint32_t>(*head, 8), kPayloadMax);
  return file->read(address.offset, frame_size(length));
}

Result<void> Log::restore_keys(std::uint32_t segment) {
  const Result<std::string> bytes = read_whole(*disk_, segment_name(segment));
  if (!bytes) return Error(bytes.error());
  const Result<SegmentHead> head = checked_head(*bytes, segment);
  if (!head) return Error(head.error());
  std::vector<std::pair<Fingerprint, std::uint32_t>> keys;
  const Result<SegmentEnd> end = walk(sha_, *bytes, *head, [&](const Frame& frame, const Digest&) -> Result<void> {
    if (frame.type == RecordType::checkpoint) return {};
    if (const Result<event::Key> key = event::key_from(frame.payload))
      keys.emplace_back(fingerprint_of(*key), frame.address.offset);
    return {};
  });
  if (!end) return Error(end.error());
  if (end->kind != SegmentEnd::Kind::sealed)
    return end->wrong ? *end->wrong : Error(Errc::corrupt, "segment " + std::to_string(segment) + " is not sealed");
  return keys_.restore(segment, std::move(keys));
}

Result<void> Log::flush(bool sync) {
  if (failure_) return *failure_;
  if (!batch_.empty()) {
    if (Result<void> done = file_->write(written_, batch_); !done) return fail(done.error());
    written_ += static_cast<std::uint32_t>(batch_.size());
    batch_.clear();
  }
  if (!sync || durable_ == next_) return {};
  if (Result<void> done = file_->sync(); !done) return fail(done.error());
  durable_ = next_;
  mark_durable();
  return {};
}

Result<void> Log::checkpoint(Instant now) {
  if (failure_) return *failure_;
  if (options_.signer == nullptr || full_) return {};
  // Room for it first: a new segment changes nothing of what it says, but its text must be the last word on the chain.
  return put_note(to_note({origin_, next_, root(), chain_, now}, *options_.signer), now);
}

Result<void> Log::put_note(const std::string& note, Instant now) {
  if (Result<void> done = put(RecordType::checkpoint, note, now); !done) return done;
  checkpoint_size_ = next_;
  checkpoint_at_ = now;
  last_note_ = note;
  return {};
}

Result<void> Log::hand_over(const Signer& successor, Instant now) {
  if (failure_) return *failure_;
  if (options_.signer == nullptr || full_)
    return Error(Errc::unavailable, "handing over to another key: the log has no signer, or no room");
  const std::string note = to_hand_over({origin_, next_, root(), chain_, now}, *options_.signer, successor);
  if (Result<void> done = put_note(note, now); !done) return done;
  options_.signer = &successor;
  return {};
}

Result<void> Log::commit(Instant now, bool sync) {
  if (failure_) return *failure_;
  const bool news = next_ > checkpoint_size_;
  if (!checkpoint_at_) checkpoint_at_ = now;
  if (news && !full_ &&
      (next_ - checkpoint_size_ >= options_.checkpoint_records || now - *checkpoint_at_ >= options_.checkpoint_every)) {
    if (Result<void> done = checkpoint(now); !done && done.error().code() != Errc::out_of_range) return done;
  }
  return flush(sync);
}

}  // namespace ace::spine
