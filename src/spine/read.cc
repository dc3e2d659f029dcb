#include "spine/read.h"

#include <fmt/format.h>

#include <algorithm>

namespace ace::spine {
namespace {

class LogReader {
 public:
  LogReader(Disk& disk, const ReadOptions& options, const std::function<Result<void>(const Frame&)>& visit)
      : disk_(disk), options_(options), visit_(visit) {}

  Result<LogSummary> run() {
    const Result<Log::Identity> identity = Log::identity(disk_);
    if (!identity) return Error(identity.error()).with("reading the log");
    summary_.id = identity->id;
    summary_.origin = identity->origin;
    const Result<Pruned> pruned = pruned_of(disk_);
    if (!pruned) return Error(pruned.error());
    chain_ = pruned->segments == 0 ? chain_start(sha_, identity->id) : pruned->rest.chain;
    tree_ = pruned->rest.tree;
    summary_.first = summary_.next = pruned->rest.end;
    summary_.pruned_segments = pruned->segments;
    summary_.first_segment = pruned->segments + 1;
    const Result<std::vector<std::string>> names = disk_.list();
    if (!names) return Error(names.error());
    std::uint32_t last = 0;
    for (const std::string& name : *names) last = std::max(last, segment_number(name).value_or(0));
    for (std::uint32_t number = summary_.first_segment; number <= last; ++number)
      if (Result<void> done = segment(number, number == last); !done) return std::move(done).error();
    if (last < summary_.first_segment)
      return Error(Errc::corrupt,
                   fmt::format("segment {} is missing, and with it every record", summary_.first_segment));
    summary_.chain = chain_;
    summary_.root = tree_.root(sha_);
    return std::move(summary_);
  }

 private:
  Result<void> segment(std::uint32_t number, bool last) {
    Result<std::unique_ptr<File>> file = disk_.open(segment_name(number), false);
    if (!file && file.error().code() == Errc::not_found)
      return Error(Errc::corrupt, fmt::format("segment {} is missing", number));
    if (!file) return std::move(file).error();
    ++summary_.segments;
    if (!last && options_.from > summary_.next) {
      Result<bool> skipped = skip(**file, number);
      if (!skipped) return std::move(skipped).error();
      if (*skipped) return {};
    }
    const Result<std::uint64_t> size = (*file)->size();
    if (!size) return Error(size.error());
    const Result<std::string> bytes = (*file)->read(0, *size);
    if (!bytes) return Error(bytes.error());
    const Result<SegmentHead> head = checked_head(*bytes, number);
    if (!head) return Error(head.error());
    // Twice over the bytes: first whether all of them are sound, then to show them.
    CompactRange tree = tree_;
    const Result<SegmentEnd> end =
        walk(sha_, *bytes, *head, [&](const Frame& frame, const Digest& chain) -> Result<void> {
          if (frame.type == RecordType::checkpoint)
            if (Result<void> held = checkpoint(frame, tree); !held) return held;
          tree.append(sha_, leaf_hash(sha_, frame.bytes));
          before_ = chain;
          return {};
        });
    if (!end) return Error(end.error());
    if (end->kind == SegmentEnd::Kind::bad) {
      if (!last || !options_.follow_torn_tail || later_batch(*bytes, number, end->offset)) return *end->wrong;
      summary_.torn = end->wrong;
    }
    if (end->kind == SegmentEnd::Kind::open && !last)
      return Error(Errc::corrupt,
                   fmt::format("segment {} has no seal, though segment {} follows it", number, number + 1));
    tree_ = std::move(tree);
    chain_ = end->chain;
    summary_.next = end->next;
    summary_.bytes += end->kind == SegmentEnd::Kind::sealed ? bytes->size() : end->offset;
    return show(*bytes, *head, *end);
  }

  /// Passes over a sealed segment; false where it must be read after all.
  Result<bool> skip(File& file, std::uint32_t number) {
    const Result<std::string> bytes = file.read(0, kSegmentHead);
    if (!bytes) return Error(bytes.error());
    const Result<SegmentHead> head = checked_head(*bytes, number);
    if (!head) return Error(head.error());
    const Result<std::optional<Seal>> seal = seal_at_end(file, number);
    if (!seal) return Error(seal.error());
    if (!*seal || (*seal)->first != summary_.next || (*seal)->end > options_.from) return false;
    if (Result<void> joined = tree_.append(sha_, (*seal)->tree); !joined) return std::move(joined).error();
    chain_ = (*seal)->chain;
    summary_.next = summary_.first = (*seal)->end;
    return true;
  }

  Result<SegmentHead> checked_head(std::string_view bytes, std::uint32_t number) {
    Result<SegmentHead> head = head_from(bytes, number);
    if (!head) return head;
    if (head->log != summary_.id)
      return Error(Errc::corrupt, to_text({number, 0}) + ": this segment is of another log");
    if (head->first != summary_.next || head->chain != chain_)
      return Error(Errc::corrupt, to_text({number, 0}) + ": this segment does not follow the one before it");
    before_ = chain_;
    return head;
  }

  /// What a checkpoint says must be what the log is at its place.
  Result<void> checkpoint(const Frame& frame, const CompactRange& tree) {
    const Result<Checkpoint> c = key_ ? checkpoint_from(frame.payload, *key_) : unverified_checkpoint(frame.payload);
    if (!c) return Error(c.error()).with(to_text(frame.address));
    if (c->size != frame.sequence || c->origin != summary_.origin || c->root != tree.root(sha_) || c->chain != before_)
      return Error(Errc::corrupt,
                   to_text(frame.address) + ": the checkpoint does not agree with the records before it");
    summary_.last_checkpoint = *c;
    summary_.last_note = frame.payload;
    if (!c->successor) return {};
    if (key_) key_ = c->successor;
    summary_.successor = c->successor;
    return {};
  }

  Result<void> show(std::string_view bytes, const SegmentHead& head, const SegmentEnd& end) {
    std::size_t at = kSegmentHead;
    for (std::uint64_t sequence = head.first; sequence < end.next; ++sequence) {
      const Result<Frame> frame = frame_from(bytes.substr(at), {head.number, static_cast<std::uint32_t>(at)});
      ACE_CHECK(frame.has_value(), "a record that was sound a moment ago");
      at += frame_size(frame->payload.size());
      if (frame->type == RecordType::event) {
        ++summary_.events;
        summary_.payload_bytes += frame->payload.size();
        if (frame->durability == Durability::relaxed) ++summary_.relaxed;
      }
      if (frame->type == RecordType::conflict) ++summary_.conflicts;
      if (frame->type == RecordType::checkpoint) ++summary_.checkpoints;
      if (sequence < options_.from) continue;
      if (Result<void> seen = visit_(*frame); !seen) return seen;
    }
    return {};
  }

  Disk& disk_;
  const ReadOptions& options_;
  const std::function<Result<void>(const Frame&)>& visit_;
  LogSummary summary_;
  Sha256 sha_;
  Digest chain_{}, before_{};
  CompactRange tree_;
  std::optional<PublicKey> key_ = options_.key;  ///< that signs here
};

}  // namespace

Result<LogSummary> read_log(Disk& disk, const ReadOptions& options,
                            const std::function<Result<void>(const Frame&)>& visit) {
  return LogReader(disk, options, visit).run();
}

}  // namespace ace::spine
