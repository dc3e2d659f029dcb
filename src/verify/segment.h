#pragma once
/// One segment, its head, its records and its seal, held against where the log stood before it.
#include <optional>
#include <string_view>

#include "verify/verify.h"

namespace ace::verify {

/// A log up to some record, and what every further record must continue.
struct Standing {
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
SegmentFinding check_segment(Hasher& hasher, std::uint32_t number, std::string_view bytes,
                             const std::optional<PublicKey>& key, const HearEvent& hear, Standing& standing,
                             std::vector<Expected>& waiting);

/// Holds the checkpoints from outside that are of exactly this size against the log.
std::optional<Difference> check_waiting(Hasher& hasher, const Standing& standing, std::vector<Expected>& waiting);

/// Payload of a seal over records [first, next of `tree`).
std::string seal_payload(std::uint64_t first, const Hash& chain, std::uint64_t ms_min, std::uint64_t ms_max,
                         const Tree& tree);

}  // namespace ace::verify
