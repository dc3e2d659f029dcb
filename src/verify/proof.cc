#include "verify/proof.h"

#include <fmt/format.h>

#include "core/check.h"
#include "verify/bytes.h"
#include "verify/lines.h"
#include "verify/note.h"
#include "verify/tree.h"

namespace ace::verify {
namespace {

constexpr std::size_t kDigestsMax = 128;  // of a tree of 2^64 leaves no proof has more
constexpr std::size_t kHeader = 40;

class ProofCheck {
 public:
  ProofCheck(const std::string& name, std::string_view bytes, const PublicKey& key)
      : name_(name), rest_(bytes), bytes_(bytes), key_(key) {}

  ProofFinding run(const std::optional<Held>& older) {
    const bool done = bytes_.starts_with("old ") ? continuation(older) : inclusion();
    ACE_CHECK(done == !finding_.difference, "a proof is either proven or not");
    return std::move(finding_);
  }

 private:
  bool differs(std::uint64_t offset, std::string expected, std::string got) {
    finding_.difference = Difference{name_, offset, std::move(expected), std::move(got)};
    return false;
  }
  /// The next line, which begins with `word`; what follows the word.
  std::optional<std::string_view> line(std::string_view word) {
    at_ = bytes_.size() - rest_.size();
    const std::optional<std::string_view> line = line_of(rest_);
    if (line && line->starts_with(word)) return line->substr(word.size());
    differs(at_, fmt::format("a line \"{}...\"", word), line ? fmt::format("\"{}\"", line->substr(0, 64)) : "the end");
    return std::nullopt;
  }
  std::optional<std::uint64_t> number(std::string_view word) {
    const std::optional<std::string_view> text = line(word);
    if (!text) return std::nullopt;
    const std::optional<std::uint64_t> value = decimal(*text);
    if (!value) differs(at_, "a number", fmt::format("\"{}\"", text->substr(0, 64)));
    return value;
  }
  /// Digests, one a line, up to an empty one.
  bool digests() {
    while (true) {
      const std::optional<std::string_view> text = line("");
      if (!text) return false;
      if (text->empty()) return true;
      Hash hash{};
      if (!read_hash(*text, hash))
        return differs(at_, "a digest in base64", fmt::format("\"{}\"", text->substr(0, 64)));
      if (proof_.size() == kDigestsMax) return differs(at_, fmt::format("at most {} digests", kDigestsMax), "more");
      proof_.push_back(hash);
    }
  }
  /// The checkpoint that ends the proof. Only what the key signed is believed.
  bool checkpoint() {
    at_ = bytes_.size() - rest_.size();
    const std::optional<Note> note = note_from(rest_);
    if (!note) return differs(at_, "a checkpoint, which is a signed note", "other bytes");
    if (!signed_by(key_, *note)) return differs(at_, "a checkpoint signed by the given key", "no such signature");
    finding_.proven.origin = note->origin;
    finding_.proven.size = note->size;
    finding_.proven.root = note->root;
    return true;
  }

  bool inclusion() {
    Proven& proven = finding_.proven;
    const std::optional<std::string_view> title = line("c2sp.org/tlog-proof@v1");
    if (!title) return false;
    if (!title->empty()) return differs(0, "a proof of version 1", std::string(title->substr(0, 64)));
    const std::optional<std::string_view> extra = line("extra ");
    if (!extra) return false;
    const std::uint64_t extra_at = at_;
    const std::optional<std::uint64_t> index = number("index ");
    if (!index || !digests() || !checkpoint()) return false;
    proven.index = *index;
    const std::optional<std::string> record = from_base64(*extra);
    if (!record) return differs(extra_at, "a record in base64", "other bytes");
    const std::optional<Hash> root =
        root_from_inclusion(hasher_, hasher_({std::string_view("\0", 1), *record}), *index, proven.size, proof_);
    if (!root || *root != proven.root)
      return differs(
          extra_at, fmt::format("record {} of the {} that have root {}", *index, proven.size, hex(view(proven.root))),
          root ? "another record, or another place: root " + hex(view(*root)) : "as many digests as no such place has");
    // It is a leaf of the signed tree; now it must be a record, and say the same of its place.
    if (record->size() < kHeader || !record->starts_with("ACE1") ||
        integer<std::uint32_t>(*record, 8) != record->size() - kHeader ||
        checksum(std::string_view(*record).substr(8)) != integer<std::uint32_t>(*record, 4))
      return differs(extra_at, "a record, \"ACE1\"", hex(std::string_view(*record).substr(0, 4)));
    if (const auto sequence = integer<std::uint64_t>(*record, 16); sequence != *index)
      return differs(extra_at, fmt::format("a record with number {}", *index), std::to_string(sequence));
    proven.type = integer<std::uint8_t>(*record, 12);
    proven.payload = record->substr(kHeader);
    return true;
  }

  bool continuation(const std::optional<Held>& older) {
    Proven& proven = finding_.proven;
    proven.what = Proven::What::continuation;
    const std::optional<std::uint64_t> from = number("old ");
    if (!from || !digests() || !checkpoint()) return false;
    proven.index = *from;
    const auto in_older = [&](std::string expected, std::string got) {
      finding_.difference = Difference{older->name, 0, std::move(expected), std::move(got)};
      return false;
    };
    if (!older) return differs(0, "the older checkpoint beside it", "none");
    const std::optional<Note> before = note_from(older->note);
    if (!before) return in_older("a checkpoint, which is a signed note", "other bytes");
    if (!signed_by(key_, *before)) return in_older("a checkpoint signed by the given key", "no such signature");
    if (before->origin != proven.origin)
      return in_older("a checkpoint of " + proven.origin, std::string(before->origin));
    if (before->size != *from)
      return in_older(fmt::format("a checkpoint of {} records", *from), std::to_string(before->size));
    if (!consistent(hasher_, *from, proven.size, before->root, proven.root, proof_))
      return differs(
          0, fmt::format("that the log of {} records begins with the {} of {}", proven.size, *from, older->name),
          "digests from which it does not follow");
    return true;
  }

  const std::string& name_;
  std::string_view rest_, bytes_;
  const PublicKey& key_;
  Hasher hasher_;
  std::uint64_t at_ = 0;
  std::vector<Hash> proof_;
  ProofFinding finding_;
};

}  // namespace

ProofFinding check_proof(const std::string& name, std::string_view bytes, const PublicKey& key,
                         const std::optional<Held>& older) {
  return ProofCheck(name, bytes, key).run(older);
}

}  // namespace ace::verify
