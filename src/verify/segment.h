#pragma once
/// One segment, its head, its records and its seal, held against where the log stood before it.
#include <optional>
#include <string_view>

#include "verify/verify.h"

namespace ace::verify {

/// Whose signatures count. The key that is known from elsewhere must have signed the last checkpoints, or a key to
/// which it handed over, each the next. Checkpoints before it was handed to itself are its predecessors': it signed the
/// root over them when it took over.
struct Trust {
  std::vector<PublicKey> keys;         ///< known from elsewhere, then its successors; empty = no signature is looked at
  bool begun = false;                  ///< a checkpoint of the first was there
  std::optional<Difference> unproven;  ///< the first checkpoint before that
  [[nodiscard]] bool pinned() const { return !keys.empty(); }
};

/// A log up to some record, and what every further record must continue.
struct Standing {
  Trust trust;
  std::string log_id;  ///< 16 bytes
  std::uint64_t next = 0;
  Hash chain{};
  Tree tree;
  Summary summary;
};

/// A checkpoint from outside that was read and waits for the log to come to its size.
struct Expected {
  std::string name;
  Note note;
};

inline constexpr std::size_t kSegmentHead = 512;

struct SegmentFinding {
  std::optional<Difference> difference;
  std::optional<Error> error;  ///< of who was told an event
  bool sealed = false;
  bool torn = false;         ///< the difference is one that an unfinished write leaves
  bool later_batch = false;  ///< behind the difference a sound record opens a batch
  std::uint64_t end = 0;     ///< offset of the seal, of the free space or of the difference
};

std::string segment_name(std::uint32_t number);
/// The number in the name of a segment, or nothing.
std::optional<std::uint32_t> segment_number(std::string_view name);

/// Reads a segment and moves `standing` to its end, or to the first difference.
/// @param waiting by size; those that the log came to are checked and taken out
SegmentFinding check_segment(Hasher& hasher, std::uint32_t number, std::string_view bytes, const HearEvent& hear,
                             Standing& standing, std::vector<Expected>& waiting);

/// Whether a key that is trusted where the log stands vouches for a checkpoint from outside.
std::optional<Difference> check_signer(const Trust& trust, const Expected& held);

/// Holds the checkpoints from outside that are of exactly this size against the log, and against who may sign there.
std::optional<Difference> check_waiting(Hasher& hasher, Standing& standing, std::vector<Expected>& waiting);

/// Payload of a seal over records [first, next of `tree`).
std::string seal_payload(std::uint64_t first, const Hash& chain, std::uint64_t ms_min, std::uint64_t ms_max,
                         const Tree& tree);

}  // namespace ace::verify
