#include <fmt/format.h>

#include <algorithm>

#include "verify/bytes.h"
#include "verify/repeats.h"
#include "verify/segment.h"
#include "verify/verify.h"

namespace ace::verify {
namespace {

Difference differs(std::string file, std::uint64_t offset, std::string expected, std::string got) {
  return {std::move(file), offset, std::move(expected), std::move(got)};
}

/// "ACELOG01", id, name, checksum.
std::optional<Difference> identity(std::string_view bytes, Standing& standing) {
  if (!bytes.starts_with("ACELOG01") || bytes.size() < 29)
    return differs("log", 0, "\"ACELOG01\", an id and a name", hex(bytes.substr(0, 8)));
  const std::size_t end = bytes.size() - 4;
  if (checksum(bytes.substr(0, end)) != integer<std::uint32_t>(bytes, end))
    return differs("log", end, fmt::format("checksum {:#010x}", checksum(bytes.substr(0, end))),
                   fmt::format("{:#010x}", integer<std::uint32_t>(bytes, end)));
  standing.log_id = bytes.substr(8, 16);
  standing.summary.origin = bytes.substr(24, end - 24);
  return std::nullopt;
}

/// Where a log stood behind the last segment that was removed.
struct Removed {
  std::uint32_t segments = 0;
  std::uint64_t next = 0;
  Hash chain{};
  Tree tree;
};

/// "ACEPRUN1", number of the last removed segment, a seal over all that was removed, checksum.
std::optional<Difference> pruned(std::string_view bytes, Removed& removed) {
  constexpr std::size_t kSealAt = 12, kNodesAt = kSealAt + 72, kNodesMax = 64;
  if (!bytes.starts_with("ACEPRUN1") || bytes.size() < kNodesAt + 12)
    return differs("pruned", 0, "\"ACEPRUN1\" and a seal", hex(bytes.substr(0, 8)));
  const std::size_t end = bytes.size() - 4;
  if (checksum(bytes.substr(0, end)) != integer<std::uint32_t>(bytes, end))
    return differs("pruned", end, fmt::format("checksum {:#010x}", checksum(bytes.substr(0, end))),
                   fmt::format("{:#010x}", integer<std::uint32_t>(bytes, end)));
  const auto count = integer<std::uint64_t>(bytes, kSealAt + 64);
  std::vector<Hash> nodes;
  for (std::size_t i = 0; i < std::min<std::uint64_t>(count, kNodesMax) && kNodesAt + 32 * (i + 1) <= end; ++i)
    nodes.push_back(hash_from(bytes.substr(kNodesAt + 32 * i, 32)));
  const auto next = integer<std::uint64_t>(bytes, kSealAt + 8);
  std::optional<Tree> tree = Tree::from(0, next, nodes);
  const Hash chain = hash_from(bytes.substr(kSealAt + 16, 32));
  if (!tree ||
      bytes.substr(kSealAt, end - kSealAt) != seal_payload(0, chain, integer<std::uint64_t>(bytes, kSealAt + 48),
                                                           integer<std::uint64_t>(bytes, kSealAt + 56), *tree))
    return differs("pruned", kSealAt, "the seal of all records from 0", "another");
  removed = {integer<std::uint32_t>(bytes, 8), next, chain, *std::move(tree)};
  return std::nullopt;
}

std::optional<Difference> held(const Pins& pins, Standing& standing, std::vector<Expected>& waiting) {
  for (const Held& pin : pins.held) {
    const std::optional<Note> note = note_from(pin.note);
    if (!note) return differs(pin.name, 0, "a checkpoint, which is a signed note", "other bytes");
    if (note->origin != standing.summary.origin)
      return differs(pin.name, 0, "a checkpoint of " + standing.summary.origin, std::string(note->origin));
    waiting.push_back({pin.name, *note});
  }
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const Expected& a, const Expected& b) { return a.note.size < b.note.size; });
  return std::nullopt;
}

class LogCheck {
 public:
  LogCheck(const ReadFile& read, const Pins& pins, const HearEvent& hear) : read_(read), pins_(pins), hear_(hear) {}

  Result<Finding> run(const std::function<Result<std::vector<std::string>>()>& list) {
    Result<std::optional<std::string>> acked = file("acked");
    if (!acked) return std::move(acked).error();
    const Result<std::vector<std::string>> names = list();
    if (!names) return Error(names.error());
    Finding finding;
    Result<std::optional<Difference>> found = log(*names, *acked, finding);
    if (!found) return std::move(found).error();
    finding.difference = *std::move(found);
    finding.summary = std::move(standing_.summary);
    finding.summary.chain = standing_.chain;
    if (standing_.next != 0 || !finding.difference) finding.summary.root = standing_.tree.root(hasher_);
    return finding;
  }

 private:
  using Found = Result<std::optional<Difference>>;

  Result<std::optional<std::string>> file(const std::string& name) {
    Result<std::string> bytes = read_(name);
    if (bytes) return std::optional(*std::move(bytes));
    if (bytes.error().code() == Errc::not_found) return std::optional<std::string>();
    return std::move(bytes).error();
  }

  Found log(const std::vector<std::string>& names, const std::optional<std::string>& acked_bytes, Finding& finding) {
    Result<std::optional<std::string>> id = file("log");
    if (!id) return std::move(id).error();
    if (!*id) return std::optional(differs("log", 0, "a file that says which log this is", "no file"));
    if (std::optional<Difference> d = identity(**id, standing_)) return d;
    standing_.chain = hasher_({"ace spine", standing_.log_id});
    if (pins_.key) standing_.trust.keys = {*pins_.key};
    Result<std::optional<std::string>> gone = file("pruned");
    if (!gone) return std::move(gone).error();
    if (*gone) {
      Removed removed;
      if (std::optional<Difference> d = pruned(**gone, removed)) return d;
      standing_.summary.pruned_segments = removed.segments;
      standing_.summary.first = standing_.summary.next = standing_.next = removed.next;
      standing_.chain = removed.chain;
      standing_.tree = std::move(removed.tree);
    }
    std::optional<Removed> archived;
    if (pins_.archived)
      if (std::optional<Difference> d = pruned(*pins_.archived, archived.emplace())) return d;
    if (std::optional<Difference> d = held(pins_, standing_, waiting_)) return d;
    std::uint32_t last = 0;
    for (const std::string& name : names) last = std::max(last, segment_number(name).value_or(0));
    const std::uint32_t first = standing_.summary.pruned_segments + 1;
    const std::optional<std::uint64_t> acked = acknowledged(acked_bytes);
    for (std::uint32_t number = first; number <= std::max(first, last); ++number) {
      Found found = segment(number, number >= last, acked, finding);
      if (!found || *found) return found;
      if (!archived || number != archived->segments) continue;
      if (archived->next != standing_.next || archived->chain != standing_.chain || archived->tree != standing_.tree)
        return std::optional(differs("pruned", 0, fmt::format("the roots of segments 1 to {}", number), "others"));
      archived.reset();
    }
    if (archived && archived->segments != standing_.summary.pruned_segments)
      return std::optional(differs("pruned", 8, fmt::format("a number of segments up to {}", std::max(first, last)),
                                   std::to_string(archived->segments)));
    if (acked && *acked > standing_.next)
      return std::optional(differs(segment_name(std::max(first, last)), end_,
                                   fmt::format("record {}: {} were acknowledged", standing_.next, *acked),
                                   "the end of the log"));
    if (std::optional<Difference> d = check_waiting(hasher_, standing_, waiting_)) return d;
    if (waiting_.empty()) return std::move(standing_.trust.unproven);
    if (std::optional<Difference> d = check_signer(standing_.trust, waiting_.front())) return d;
    return std::optional(differs(segment_name(std::max(first, last)), end_,
                                 fmt::format("record {}: {} is of {} records", standing_.next, waiting_.front().name,
                                             waiting_.front().note.size),
                                 "the end of the log"));
  }

  /// Records that somebody was told are durable, if the file says so twice.
  static std::optional<std::uint64_t> acknowledged(const std::optional<std::string>& bytes) {
    if (!bytes || bytes->size() < 16) return std::nullopt;
    const auto count = integer<std::uint64_t>(*bytes, 0);
    if (integer<std::uint64_t>(*bytes, 8) != ~count) return std::nullopt;
    return count;
  }

  Found segment(std::uint32_t number, bool last, const std::optional<std::uint64_t>& acked, Finding& finding) {
    Result<std::optional<std::string>> bytes = file(segment_name(number));
    if (!bytes) return std::move(bytes).error();
    if (!*bytes)
      return std::optional(
          differs(segment_name(number), 0, fmt::format("a segment from record {}", standing_.next), "no file"));
    ++standing_.summary.segments;
    SegmentFinding found = check_segment(hasher_, number, **bytes, hear_, standing_, waiting_);
    if (found.error) return *std::move(found.error);
    end_ = found.end;
    if (found.difference && last && found.torn && !found.later_batch && acked && *acked <= standing_.next &&
        found.end >= kSegmentHead) {
      finding.unfinished = std::move(found.difference);
      return std::optional<Difference>();
    }
    if (!found.difference && !found.sealed && !last)
      return std::optional(differs(segment_name(number), found.end, "a seal, since another segment follows", "none"));
    return std::move(found.difference);
  }

  const ReadFile& read_;
  const Pins& pins_;
  const HearEvent& hear_;
  Hasher hasher_;
  Standing standing_;
  std::vector<Expected> waiting_;
  std::uint64_t end_ = 0;
};

}  // namespace

std::string to_text(const Difference& d) {
  return fmt::format("{}, offset {}: expected {}, got {}", d.file, d.offset, d.expected, d.got);
}

Result<Finding> check_log(const std::function<Result<std::vector<std::string>>()>& names, const ReadFile& read,
                          const Pins& pins, const HearEvent& hear) {
  Repeats repeats;
  const HearEvent counted = [&](const Entry& entry) {
    repeats.hear(entry.payload);
    return hear ? hear(entry) : Result<std::optional<Mismatch>>(std::nullopt);
  };
  Result<Finding> found = LogCheck(read, pins, counted).run(names);
  if (!found || found->difference || !repeats.suspected()) return found;
  const HearEvent compared = [&](const Entry& entry) {
    return Result<std::optional<Mismatch>>(repeats.hear_again(entry.payload));
  };
  Result<Finding> again = LogCheck(read, pins, compared).run(names);
  if (!again || again->difference) return again;
  return found;
}

}  // namespace ace::verify
