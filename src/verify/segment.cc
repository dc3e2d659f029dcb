#include "verify/segment.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/zeros.h"
#include "verify/bytes.h"

namespace ace::verify {
namespace {

constexpr std::size_t kHeader = 40;
constexpr std::uint32_t kPayloadMax = 1'048'576;
constexpr std::string_view kRecordMagic = "ACE1";
constexpr std::uint64_t kNoTime = ~std::uint64_t{0};

enum Type : std::uint8_t { kEvent = 1, kCheckpoint = 2, kConflict = 3, kSeal = 4 };

std::size_t on_disk(std::size_t payload) { return (kHeader + payload + 7) & ~std::size_t{7}; }

class SegmentCheck {
 public:
  SegmentCheck(Hasher& hasher, std::uint32_t number, std::string_view bytes, const HearEvent& hear, Standing& standing,
               std::vector<Expected>& waiting)
      : hasher_(hasher),
        number_(number),
        name_(segment_name(number)),
        bytes_(bytes),
        hear_(hear),
        standing_(standing),
        waiting_(waiting),
        first_(standing.next),
        before_(standing.tree),
        tree_(standing.next) {}

  SegmentFinding run() {
    if (head()) {
      while (!done_ && record()) standing_.summary.next = standing_.next;
      // Only now: a checkpoint inside needs the tree up to its place, which is the two together.
      standing_.tree = whole();
    }
    if (finding_.difference) finding_.later_batch = later_batch();
    standing_.summary.bytes += finding_.end;
    return std::move(finding_);
  }

 private:
  bool differs(std::uint64_t offset, std::string expected, std::string got) {
    finding_.difference = Difference{name_, offset, std::move(expected), std::move(got)};
    return false;
  }
  bool torn(std::uint64_t offset, std::string expected, std::string got) {
    finding_.torn = true;
    return differs(offset, std::move(expected), std::move(got));
  }
  bool same(std::uint64_t offset, std::string_view what, std::uint64_t expected, std::uint64_t got) {
    if (expected == got) return true;
    return differs(offset, fmt::format("{} {}", what, expected), std::to_string(got));
  }
  /// @param sound does the checksum say that it was written so?
  bool known_format(std::uint64_t offset, std::uint64_t got, bool sound) {
    if (same(offset, "format", 1, got)) return true;
    finding_.difference->newer = sound && got > 1;
    return false;
  }
  bool zeros(std::size_t from, std::size_t to, std::string_view what) {
    const std::size_t behind = first_not_zero(bytes_.substr(0, to).substr(from));
    if (behind == bytes_.npos) return true;
    const std::size_t at = from + behind;
    return differs(at, fmt::format("zeros {}", what),
                   fmt::format("byte {:#04x}", static_cast<unsigned char>(bytes_[at])));
  }
  [[nodiscard]] Tree whole() const {
    Tree tree = before_;
    tree.join(hasher_, tree_);
    return tree;
  }

  /// Fields before the checksum, so that a difference is named where it is.
  bool head() {
    if (bytes_.size() < kSegmentHead) return differs(bytes_.size(), "a head of 512 bytes", "the end of the file");
    if (!bytes_.starts_with("ACESEG01")) return differs(0, "\"ACESEG01\"", hex(bytes_.substr(0, 8)));
    if (bytes_.substr(16, 16) != standing_.log_id)
      return differs(16, "log id " + hex(standing_.log_id), hex(bytes_.substr(16, 16)));
    if (bytes_.substr(48, 32) != view(standing_.chain))
      return differs(48, "the chain before it, " + hex(view(standing_.chain)), hex(bytes_.substr(48, 32)));
    const std::uint32_t crc = checksum(bytes_.substr(16, kSegmentHead - 16));
    finding_.end = kSegmentHead;
    return known_format(8, integer<std::uint32_t>(bytes_, 8), crc == integer<std::uint32_t>(bytes_, 12)) &&
           same(32, "segment", number_, integer<std::uint32_t>(bytes_, 32)) && zeros(36, 40, "in the head") &&
           same(40, "first record", standing_.next, integer<std::uint64_t>(bytes_, 40)) &&
           zeros(88, kSegmentHead, "in the head") &&
           same(12, "checksum of the head", crc, integer<std::uint32_t>(bytes_, 12));
  }

  /// The framing of the record at `at_`: whether it is one, undamaged, written for this place.
  bool frame(std::string_view rest) {
    if (!rest.starts_with(kRecordMagic))
      return torn(at_, "a record, \"ACE1\"", hex(rest.substr(0, kRecordMagic.size())));
    const auto length = integer<std::uint32_t>(rest, 8);
    if (length > kPayloadMax)
      return torn(at_, fmt::format("a record of at most {} bytes", kPayloadMax), std::to_string(length));
    if (on_disk(length) > rest.size())
      return torn(at_, fmt::format("a record of {} bytes", on_disk(length)),
                  fmt::format("the end of the file after {}", rest.size()));
    record_ = rest.substr(0, kHeader + length);
    payload_ = record_.substr(kHeader);
    const std::uint32_t crc = checksum(record_.substr(8));
    if (crc != integer<std::uint32_t>(record_, 4))
      return torn(at_, fmt::format("a record with checksum {:#010x}", crc),
                  fmt::format("{:#010x}", integer<std::uint32_t>(record_, 4)));
    if (rest.substr(0, on_disk(length)).find_first_not_of('\0', record_.size()) != rest.npos)
      return torn(at_, "zeros behind the record", "other bytes");
    const auto flags = integer<std::uint16_t>(record_, 14);
    if (flags > 5) return differs(at_, "flags that exist", fmt::format("{:#06x}", flags));
    const auto type = integer<std::uint8_t>(record_, 12);
    if (type < kEvent || type > kSeal) {
      differs(at_, "a record of type 1 to 4", std::to_string(type));
      finding_.difference->newer = type > kSeal;
      return false;
    }
    return known_format(at_, integer<std::uint8_t>(record_, 13), true) &&
           same(at_, "a record written for segment", number_, integer<std::uint32_t>(record_, 24)) &&
           same(at_, "a record written for offset", at_, integer<std::uint32_t>(record_, 28));
  }

  bool record() {
    finding_.end = at_;
    // Checkpoints from outside speak of the log between two records.
    if (!waiting_.empty() && waiting_.front().note.size <= standing_.next) {
      standing_.tree = whole();
      if (finding_.difference = check_waiting(hasher_, standing_, waiting_); finding_.difference) return false;
    }
    const std::string_view rest = bytes_.substr(at_);
    if (rest.size() < kHeader || integer<std::uint32_t>(rest, 0) == 0) {
      done_ = true;
      finding_.torn = !zeros(at_, bytes_.size(), "after the last record");
      return !finding_.torn;
    }
    if (!frame(rest) || !same(at_, "record", standing_.next, integer<std::uint64_t>(record_, 16))) return false;
    if (record_.substr(32, 8) != view(standing_.chain).substr(0, 8))
      return differs(at_, "a record that follows chain " + hex(view(standing_.chain).substr(0, 8)),
                     hex(record_.substr(32, 8)));
    const auto type = integer<std::uint8_t>(record_, 12);
    if (type == kSeal) return seal(rest);
    if (type == kCheckpoint && !checkpoint()) return false;
    if (type == kEvent && hear_ && !heard()) return false;
    count(type);
    const Hash leaf = hasher_({std::string_view("\0", 1), record_});
    standing_.chain = hasher_({"\2", view(standing_.chain), view(leaf)});
    tree_.add_leaf(hasher_, leaf);
    ++standing_.next;
    at_ += on_disk(payload_.size());
    return true;
  }

  bool heard() {
    Result<std::optional<Mismatch>> mismatch = hear_({name_, at_, standing_.next, payload_});
    if (!mismatch) {
      finding_.error = std::move(mismatch).error();
      return false;
    }
    return !*mismatch || differs(at_, std::move((*mismatch)->expected), std::move((*mismatch)->got));
  }

  void count(std::uint8_t type) {
    Summary& s = standing_.summary;
    ++(type == kEvent ? s.events : type == kConflict ? s.conflicts : s.checkpoints);
    if (type == kCheckpoint) return;
    // The id is the first field where it is not zero: tag 1 of wire type 2, 16 bytes.
    std::uint64_t ms = 0;
    if (payload_.size() >= 18 && payload_.starts_with("\x0a\x10"))
      for (std::size_t i = 2; i < 8; ++i) ms = ms << 8 | static_cast<unsigned char>(payload_[i]);
    ms_min_ = std::min(ms_min_, ms);
    ms_max_ = std::max(ms_max_, ms);
  }

  bool seal(std::string_view rest) {
    done_ = finding_.sealed = true;
    if (payload_ != seal_payload(first_, standing_.chain, ms_min_, ms_max_, tree_))
      return differs(at_, "the seal of the records before it", "another seal");
    const std::size_t behind = at_ + on_disk(payload_.size());
    finding_.end = behind;
    return zeros(behind, at_ + rest.size(), "behind the seal");
  }

  /// What a checkpoint says must be what the log is at its place.
  bool checkpoint() {
    const std::optional<Note> note = note_from(payload_);
    if (!note) return differs(at_, "a checkpoint that is a signed note", "other bytes");
    if (note->origin != standing_.summary.origin)
      return differs(at_, "a checkpoint of " + standing_.summary.origin, std::string(note->origin));
    if (!same(at_, "a checkpoint of size", standing_.next, note->size)) return false;
    const Hash root = whole().root(hasher_);
    if (note->root != root) return differs(at_, "a checkpoint with root " + hex(view(root)), hex(view(note->root)));
    if (note->chain != standing_.chain)
      return differs(at_, "a checkpoint with chain " + hex(view(standing_.chain)), hex(view(note->chain)));
    return !standing_.trust.pinned() || signature(*note);
  }

  bool signature(const Note& note) {
    Trust& trust = standing_.trust;
    const bool holds = signed_by(trust.keys.back(), note);
    if (!trust.begun) {
      // Of others before: they are covered where this key was handed to, and by nothing else.
      const bool taken_over = holds && (!trust.unproven || note.successor == trust.keys.back());
      if (!taken_over && !trust.unproven)
        trust.unproven = Difference{name_, at_, "a checkpoint signed by the given key", "no such signature"};
      if (!taken_over) return true;
      trust.begun = true;
      trust.unproven.reset();
    } else if (!holds) {
      return differs(at_,
                     trust.keys.size() == 1 ? "a checkpoint signed by the given key"
                                            : "a checkpoint signed by the key that was handed over to",
                     "no such signature");
    }
    ++standing_.summary.signatures;
    if (!note.successor || *note.successor == trust.keys.back()) return true;
    if (!signed_by(*note.successor, note))
      return differs(at_, "a hand-over that the successor signed as well", "no such signature");
    trust.keys.push_back(*note.successor);
    return true;
  }

  [[nodiscard]] bool later_batch() {
    const SegmentFinding found = finding_;
    bool later = false;
    for (at_ = (std::max<std::size_t>(finding_.end, kSegmentHead) + 7) / 8 * 8;
         !later && at_ + kHeader <= bytes_.size(); at_ += 8)
      if (bytes_.substr(at_).starts_with(kRecordMagic) && frame(bytes_.substr(at_)))
        later = (integer<std::uint16_t>(record_, 14) & 1) != 0 || integer<std::uint8_t>(record_, 12) == kSeal;
    finding_ = found;
    return later;
  }

  Hasher& hasher_;
  std::uint32_t number_;
  std::string name_;
  std::string_view bytes_;
  const HearEvent& hear_;
  Standing& standing_;
  std::vector<Expected>& waiting_;
  std::uint64_t first_;
  Tree before_, tree_;  // over what was before this segment, and over its own records
  std::uint64_t ms_min_ = kNoTime, ms_max_ = 0;
  std::size_t at_ = kSegmentHead;
  std::string_view record_, payload_;
  bool done_ = false;
  SegmentFinding finding_;
};

}  // namespace

std::string segment_name(std::uint32_t number) { return fmt::format("{:08}.seg", number); }

std::optional<std::uint32_t> segment_number(std::string_view name) {
  if (name.size() != 12 || !name.ends_with(".seg")) return std::nullopt;
  std::uint32_t number = 0;
  for (const char c : name.substr(0, 8)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return number;
}

SegmentFinding check_segment(Hasher& hasher, std::uint32_t number, std::string_view bytes, const HearEvent& hear,
                             Standing& standing, std::vector<Expected>& waiting) {
  return SegmentCheck(hasher, number, bytes, hear, standing, waiting).run();
}

std::optional<Difference> check_signer(const Trust& trust, const Expected& held) {
  const auto vouches = [&](const PublicKey& key) { return signed_by(key, held.note); };
  if (!trust.pinned() || std::any_of(trust.keys.begin(), trust.keys.end(), vouches)) return std::nullopt;
  return Difference{held.name, 0, "a checkpoint signed by the given key", "no such signature"};
}

std::optional<Difference> check_waiting(Hasher& hasher, Standing& standing, std::vector<Expected>& waiting) {
  while (!waiting.empty() && waiting.front().note.size <= standing.next) {
    const Expected held = std::move(waiting.front());
    waiting.erase(waiting.begin());
    if (std::optional<Difference> d = check_signer(standing.trust, held)) return d;
    if (standing.trust.pinned()) ++standing.summary.signatures;
    if (held.note.size < standing.next)
      return Difference{held.name, 0,
                        fmt::format("a checkpoint of at least {} records: the others were pruned", standing.next),
                        std::to_string(held.note.size)};
    const Hash root = standing.tree.root(hasher);
    if (held.note.root != root || held.note.chain != standing.chain)
      return Difference{held.name, 0,
                        fmt::format("root {} over the first {} records", hex(view(held.note.root)), held.note.size),
                        fmt::format("a log with root {}", hex(view(root)))};
  }
  return std::nullopt;
}

std::string seal_payload(std::uint64_t first, const Hash& chain, std::uint64_t ms_min, std::uint64_t ms_max,
                         const Tree& tree) {
  std::string bytes;
  const std::vector<Hash> nodes = tree.nodes();
  append_integer(bytes, first);
  append_integer(bytes, tree.end());
  bytes += view(chain);
  append_integer(bytes, ms_min);
  append_integer(bytes, ms_max);
  append_integer(bytes, std::uint64_t{nodes.size()});
  for (const Hash& node : nodes) bytes += view(node);
  append_integer(bytes, std::uint64_t{on_disk(bytes.size() + 8)});
  return bytes;
}

}  // namespace ace::verify
