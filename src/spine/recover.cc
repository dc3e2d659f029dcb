#include <fmt/format.h>

#include <algorithm>

#include "core/little_endian.h"
#include "spine/crc32c.h"
#include "spine/label.h"
#include "spine/log.h"
#include "spine/log_files.h"

namespace ace::spine {
using namespace little_endian;
namespace {

constexpr std::string_view kIdentityMagic = "ACELOG01", kPrunedMagic = "ACEPRUN1", kAskedMagic = "ACEPASK1";

std::string with_checksum(std::string bytes) {
  put(bytes, crc32c(bytes));
  return bytes;
}
bool sound(std::string_view bytes, std::string_view magic) {
  return bytes.size() >= magic.size() + 4 && bytes.starts_with(magic) &&
         crc32c(bytes.substr(0, bytes.size() - 4)) == get<std::uint32_t>(bytes, bytes.size() - 4);
}

/// Numbers of the segments there, ascending.
std::vector<std::uint32_t> segments_in(const std::vector<std::string>& names) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : names)
    if (const auto number = segment_number(name)) numbers.push_back(*number);
  return numbers;
}

}  // namespace

Result<Log::Identity> Log::identity(Disk& disk) {
  const Result<std::string> bytes = read_whole(disk, kIdentity);
  if (!bytes) return Error(bytes.error());
  if (!sound(*bytes, kIdentityMagic) || bytes->size() < 28)
    return Error(Errc::corrupt, "the file \"log\", which says which log this is, is damaged");
  Identity identity;
  std::memcpy(identity.id.data(), bytes->data() + 8, identity.id.size());
  identity.origin = bytes->substr(24, bytes->size() - 28);
  return identity;
}

Result<Pruned> pruned_of(Disk& disk) {
  const Result<std::string> bytes = read_whole(disk, kPruned);
  if (!bytes && bytes.error().code() == Errc::not_found) return Pruned{};
  if (!bytes) return Error(bytes.error());
  const Error damaged(Errc::corrupt, "the file \"pruned\", which holds the roots of removed segments, is damaged");
  if (!sound(*bytes, kPrunedMagic) || bytes->size() < 16) return damaged;
  Pruned pruned;
  pruned.segments = get<std::uint32_t>(*bytes, 8);
  Result<Seal> rest = seal_from(std::string_view(*bytes).substr(12, bytes->size() - 16));
  if (!rest || rest->first != 0) return damaged;
  pruned.rest = *std::move(rest);
  return pruned;
}

Result<Pruned> prune(Disk& disk, std::uint32_t last) {
  Result<Pruned> found = pruned_of(disk);
  if (!found) return found;
  Pruned pruned = *std::move(found);
  const Result<std::vector<std::string>> names = disk.list();
  if (!names) return Error(names.error());
  const std::vector<std::uint32_t> numbers = segments_in(*names);
  if (numbers.empty() || last >= numbers.back())
    return Error(Errc::bad_input, fmt::format("pruning up to segment {}: the last segment, {}, must stay", last,
                                              numbers.empty() ? 0 : numbers.back()));
  Sha256 sha;
  for (std::uint32_t number = pruned.segments + 1; number <= last; ++number) {
    Result<std::unique_ptr<File>> file = disk.open(segment_name(number), false);
    if (!file) return std::move(file).error();
    const Result<std::optional<Seal>> seal = seal_at_end(**file, number);
    if (!seal) return Error(seal.error());
    if (!*seal || (*seal)->first != pruned.rest.end)
      return Error(Errc::bad_input, fmt::format("pruning: segment {} is not sealed, or does not follow", number));
    if (Result<void> joined = pruned.rest.tree.append(sha, (*seal)->tree); !joined) return std::move(joined).error();
    pruned.rest.end = (*seal)->end;
    pruned.rest.chain = (*seal)->chain;
    pruned.rest.id_ms_min = std::min(pruned.rest.id_ms_min, (*seal)->id_ms_min);
    pruned.rest.id_ms_max = std::max(pruned.rest.id_ms_max, (*seal)->id_ms_max);
    pruned.segments = number;
  }
  std::string bytes(kPrunedMagic);
  put(bytes, pruned.segments);
  bytes += to_bytes(pruned.rest);
  if (Result<void> done = write_whole(disk, kPruned, with_checksum(std::move(bytes))); !done)
    return std::move(done).error();
  for (const std::uint32_t number : numbers) {
    if (number > pruned.segments) break;
    if (Result<void> done = disk.remove(segment_name(number)); !done) return std::move(done).error();
    (void)disk.remove(Keys::name_of(number));
  }
  if (Result<void> done = disk.sync_directory(); !done) return std::move(done).error();
  return pruned;
}

Result<void> ask_to_prune(Disk& disk, std::uint32_t last) {
  std::string bytes(kAskedMagic);
  put(bytes, last);
  return write_whole(disk, kPruneAsked, with_checksum(std::move(bytes)));
}

Result<void> Log::prune_as_asked(Instant now) {
  const Result<std::string> bytes = read_whole(*disk_, kPruneAsked);
  // One that cannot be read now, for want of a descriptor perhaps, is found at the next look: recording goes on.
  if (!bytes) return {};
  // What is no request, or asks for what cannot go, is dropped: whoever asked sees that the segments are still there.
  if (sound(*bytes, kAskedMagic) && bytes->size() == kAskedMagic.size() + 8) {
    const Result<Pruned> pruned = prune(*disk_, get<std::uint32_t>(*bytes, kAskedMagic.size()));
    if (!pruned && pruned.error().code() != Errc::bad_input) return Error(pruned.error());
    if (pruned) {
      keys_.pruned(pruned->segments);
      if (Result<void> done = refuse_before(*pruned, now); !done) return done;
    }
  }
  return disk_->remove(kPruneAsked);
}

Result<Log> Log::open(Disk& disk, const LogOptions& options, Instant now, Recovery& recovery) {
  recovery = {};
  if (options.segment_bytes < 4 * kSealMax || options.reserve_bytes < 2 * kSealMax)
    return Error(Errc::bad_input, fmt::format("opening the log: a segment needs {} bytes at least, the reserve {}",
                                              4 * kSealMax, 2 * kSealMax));
  Log log(disk, options);
  const Result<Identity> identity = Log::identity(disk);
  Result<void> done;
  if (identity) {
    log.id_ = identity->id;
    log.origin_ = identity->origin;
    done = log.recover(now, recovery);
  } else if (identity.error().code() == Errc::not_found) {
    recovery.created = true;
    done = log.create(now);
  } else {
    done = identity.error();
  }
  if (!done) return std::move(done).error().with("opening the log");
  return log;
}

/// A new log, or one whose making was cut short: nothing that holds a record is ever taken for that.
Result<void> Log::create(Instant now) {
  const Result<std::vector<std::string>> names = disk_->list();
  if (!names) return Error(names.error());
  for (const std::string& name : *names) {
    const auto number = segment_number(name);
    if (name == kPruned || (number && *number != 1))
      return Error(Errc::corrupt, fmt::format("the file \"log\" is missing, but \"{}\" is there; restore it", name));
    if (!number) continue;
    const Result<std::string> bytes = read_whole(*disk_, name);
    if (!bytes) return Error(bytes.error());
    if (bytes->find_first_not_of('\0', kSegmentHead) != bytes->npos)
      return Error(Errc::corrupt, "the file \"log\" is missing, but segment 1 holds records; restore it");
  }
  if (!event::is_label(options_.origin)) return Error(Errc::bad_input, "the name of the log is no label");
  id_ = options_.id;
  origin_ = options_.origin;
  chain_ = chain_start(sha_, id_);
  Result<void> done = prepare(options_.segment_bytes);
  if (done) done = start_segment(1, kNext, now);
  if (done) done = make_reserve();
  if (!done) return done;
  Result<std::unique_ptr<Mapping>> acked = map_whole(*disk_, kAcked, kAckedBytes);
  if (!acked) return std::move(acked).error();
  acked_ = *std::move(acked);
  std::fill(acked_->bytes().begin(), acked_->bytes().end(), '\0');
  std::string bytes(kIdentityMagic);
  bytes.append(reinterpret_cast<const char*>(id_.data()), id_.size());
  bytes += origin_;
  return write_whole(*disk_, kIdentity, with_checksum(std::move(bytes)));
}

Result<SegmentHead> Log::checked_head(std::string_view bytes, std::uint32_t number) const {
  Result<SegmentHead> head = head_from(bytes, number);
  if (head && head->log != id_) return Error(Errc::corrupt, to_text({number, 0}) + ": this segment is of another log");
  return head;
}

Result<void> Log::recover(Instant now, Recovery& recovery) {
  const Result<std::vector<std::string>> names = disk_->list();
  if (!names) return Error(names.error());
  const Result<Pruned> pruned = pruned_of(*disk_);
  if (!pruned) return Error(pruned.error());
  std::vector<std::uint32_t> numbers = segments_in(*names);
  std::erase_if(numbers, [&](std::uint32_t number) { return number <= pruned->segments; });
  for (std::uint32_t expected = pruned->segments + 1; expected <= pruned->segments + numbers.size(); ++expected)
    if (numbers[expected - pruned->segments - 1] != expected)
      return Error(Errc::corrupt, fmt::format("segment {} is missing", expected));
  if (numbers.empty())
    return Error(Errc::corrupt, fmt::format("segment {} is missing, and with it every record", pruned->segments + 1));

  chain_ = pruned->segments == 0 ? chain_start(sha_, id_) : pruned->rest.chain;
  next_ = pruned->rest.end;
  tree_ = pruned->rest.tree;
  Result<std::unique_ptr<Mapping>> acked = map_whole(*disk_, kAcked, kAckedBytes);
  if (!acked) return std::move(acked).error();
  acked_ = *std::move(acked);
  if (Result<void> done = recover_sealed(numbers, *pruned); !done) return done;
  if (Result<void> done = recover_last(numbers.back(), now, recovery); !done) return done;
  if (Result<void> done = refuse_before(*pruned, now); !done) return done;

  // From here on the log is known to be whole; what remains is tidying up.
  for (const std::string& name : *names) {
    const auto number = segment_number(name);
    if ((number && *number <= pruned->segments) || name.ends_with(".tmp")) (void)disk_->remove(name);
  }
  durable_ = next_;
  recovery.records = next_;
  if (file_ == nullptr) {  // the last one is sealed
    Result<void> room = prepare(options_.segment_bytes);
    if (room) room = start_segment(numbers.back() + 1, kNext, now);
    if (!room) return room;
  }
  if (Result<void> done = make_reserve(); !done && done.error().code() != Errc::out_of_range) return done;
  mark_durable();
  return {};
}

/// Whether an event is new can be said of what was written after the pruned segments. An id may be of any time, so the
/// latest one that was pruned bounds this only if it is not later than the segment behind them, and than now: neither
/// one id of the far future nor a clock that was ahead for a while may close the log for ever.
Result<void> Log::refuse_before(const Pruned& pruned, Instant now) {
  pruned_ms_.reset();
  if (pruned.segments == 0 || pruned.rest.id_ms_min > pruned.rest.id_ms_max) return {};
  Result<std::unique_ptr<File>> file = disk_->open(segment_name(pruned.segments + 1), false);
  if (!file) return std::move(file).error();
  const Result<std::string> bytes = (*file)->read(0, kSegmentHead);
  if (!bytes) return Error(bytes.error());
  const Result<SegmentHead> head = checked_head(*bytes, pruned.segments + 1);
  if (!head) return Error(head.error());
  const std::int64_t written_ms = std::max<std::int64_t>(std::min(head->created_ns, nanos(now)) / 1'000'000, 0);
  pruned_ms_ = std::min(pruned.rest.id_ms_max, static_cast<std::uint64_t>(written_ms));
  return {};
}

/// All segments but the last: head and seal of each must fit together.
Result<void> Log::recover_sealed(const std::vector<std::uint32_t>& numbers, const Pruned&) {
  for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
    const std::uint32_t number = numbers[i];
    Result<std::unique_ptr<File>> file = disk_->open(segment_name(number), false);
    if (!file) return std::move(file).error();
    const Result<std::string> bytes = (*file)->read(0, kSegmentHead);
    if (!bytes) return Error(bytes.error());
    const Result<SegmentHead> head = checked_head(*bytes, number);
    if (!head) return Error(head.error());
    if (head->first != next_ || head->chain != chain_)
      return Error(Errc::corrupt, to_text({number, 0}) + ": this segment does not follow the one before it");
    const Result<std::optional<Seal>> seal = seal_at_end(**file, number);
    if (!seal) return Error(seal.error());
    if (!*seal || (*seal)->first != next_)
      return Error(Errc::corrupt,
                   fmt::format("segment {} has no seal, though segment {} follows it", number, number + 1));
    if (Result<void> joined = tree_.append(sha_, (*seal)->tree); !joined) return joined;
    next_ = (*seal)->end;
    chain_ = (*seal)->chain;
    if ((*seal)->id_ms_min <= (*seal)->id_ms_max)
      keys_.sealed(number, {(*seal)->id_ms_min, (*seal)->id_ms_max, chain_});
  }
  return {};
}

Result<void> Log::recover_last(std::uint32_t number, Instant now, Recovery& recovery) {
  Result<std::unique_ptr<File>> file = disk_->open(segment_name(number), false);
  if (!file) return std::move(file).error();
  const Result<std::uint64_t> size = (*file)->size();
  if (!size) return Error(size.error());
  const Result<std::string> bytes = (*file)->read(0, *size);
  if (!bytes) return Error(bytes.error());
  const Result<SegmentHead> head = checked_head(*bytes, number);
  if (!head) return Error(head.error());
  if (head->first != next_ || head->chain != chain_)
    return Error(Errc::corrupt, to_text({number, 0}) + ": this segment does not follow the one before it");
  id_ms_min_ = ~std::uint64_t{0};
  id_ms_max_ = 0;
  checkpoint_size_ = head->first;
  recovery.last_word = instant(head->created_ns);
  std::uint64_t id_ms = 0;
  const Result<SegmentEnd> walked = walk(sha_, *bytes, *head, [&](const Frame& frame, const Digest&) -> Result<void> {
    if (frame.type == RecordType::checkpoint) {
      checkpoint_size_ = frame.sequence + 1;
      last_note_ = frame.payload;
      return {};
    }
    if (frame.type == RecordType::conflict) ++conflicts_;
    const Result<event::Key> key = event::key_from(frame.payload);
    if (!key) return {};
    note_key(*key, frame.address);
    id_ms = key->id.high >> 16;
    recovery.may_lack = frame.durability == Durability::relaxed;
    if (key->kind != event::Kind::lifecycle) return {};
    if (const Result<event::Record> own = event::decode(frame.payload)) {
      const auto& life = std::get<event::Lifecycle>(own->event);
      recovery.last_word = std::max(recovery.last_word, life.at);
      recovery.may_lack = recovery.may_lack && life.what != event::Lifecycle::What::stopped;
    }
    return {};
  });
  if (!walked) return Error(walked.error());
  if (const Result<Checkpoint> note = unverified_checkpoint(last_note_))
    recovery.last_word = std::max(recovery.last_word, note->at);
  // Ids of live traffic have the time of the clock; those of a trace that is recorded have its own.
  if (const Instant id =
          instant(static_cast<std::int64_t>(std::min<std::uint64_t>(id_ms, 9'000'000'000'000)) * 1'000'000);
      id <= now)
    recovery.last_word = std::max(recovery.last_word, id);
  const SegmentEnd& end = *walked;
  std::uint64_t acked = get<std::uint64_t>({acked_->bytes().data(), 16}, 0);
  if (get<std::uint64_t>({acked_->bytes().data(), 16}, 8) != ~acked) acked = 0;
  if (end.kind == SegmentEnd::Kind::bad && (end.next < acked || later_batch(*bytes, number, end.offset))) {
    Error wrong = *end.wrong;
    return std::move(wrong).with("what was acknowledged is damaged");
  }
  if (end.next < acked)
    return Error(Errc::corrupt, fmt::format("{}: the log ends at record {}, but {} were acknowledged",
                                            to_text({number, end.offset}), end.next, acked));
  if (options_.least && end.next < *options_.least)
    return Error(Errc::check_failed,
                 fmt::format("rollback_detected: the log holds {} records, a checkpoint outside says "
                             "{}; is this an old copy?",
                             end.next, *options_.least));
  if (Result<void> joined = tree_.append(sha_, end.tree); !joined) return joined;
  next_ = end.next;
  chain_ = end.chain;
  if (end.kind == SegmentEnd::Kind::sealed) {
    keys_.sealed_as(number, {id_ms_min_, id_ms_max_, chain_});
    head_.number = number;
    return seal_again(**file, *bytes, end.offset);
  }
  head_ = *head;
  capacity_ = static_cast<std::uint32_t>(*size);
  written_ = end.offset;
  segment_tree_ = end.tree;
  file_ = *std::move(file);
  return cut(*bytes, end, recovery);
}

/// Nobody knows whether the truncation and the sync behind the seal were ever answered, and no segment may follow
/// before.
Result<void> Log::seal_again(File& file, std::string_view segment, std::uint32_t at) {
  const Result<Frame> seal = frame_from(segment.substr(at), {head_.number, at});
  if (!seal) return Error(seal.error());
  const std::size_t size = frame_size(seal->payload.size());
  Result<void> done = file.write(at, segment.substr(at, size));
  if (done) done = file.truncate(at + size);
  return done ? file.sync() : done;
}

/// Writes the last batch again, because nobody knows whether its sync was ever answered and a cache may hold what the
/// disk does not; then zeros over what is left behind it, so that no old record is ever met again.
Result<void> Log::cut(std::string_view segment, const SegmentEnd& end, Recovery& recovery) {
  const std::string_view behind = segment.substr(std::min<std::size_t>(end.offset, segment.size()));
  const std::size_t dirt = behind.find_last_not_of('\0');
  if (dirt != behind.npos) {
    recovery.bytes_cut = dirt + 1;
    recovery.cut_segment = head_.number;
    recovery.cut_offset = end.offset;
    recovery.cut_because = end.wrong ? end.wrong->what() : "";
    if (Result<void> done = file_->write(end.offset, std::string(dirt + 1, '\0')); !done) return done;
  }
  if (end.offset > end.batch_start) {
    const std::string_view batch = segment.substr(end.batch_start, end.offset - end.batch_start);
    if (Result<void> done = file_->write(end.batch_start, batch); !done) return done;
  }
  return file_->sync();
}

}  // namespace ace::spine
