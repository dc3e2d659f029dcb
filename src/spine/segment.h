#pragma once
/// One file of the log: a head of 512 bytes, records, and at the end a seal once it takes no more. docs/SPINE.md.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "spine/disk.h"
#include "spine/frame.h"

namespace ace::spine {

inline constexpr std::size_t kSegmentHead = 512;

/// "00000003.seg"
std::string segment_name(std::uint32_t number);
/// The number in such a name, or nothing.
std::optional<std::uint32_t> segment_number(const std::string& name);

struct SegmentHead {
  LogId log{};
  std::uint32_t number = 0;
  std::uint64_t first = 0;  ///< sequence number of its first record
  Digest chain{};           ///< before it
  std::int64_t created_ns = 0;
  friend bool operator==(const SegmentHead&, const SegmentHead&) = default;
};
std::string to_bytes(const SegmentHead& head);
/// @return corrupt or bad_input (a newer version), naming the segment
Result<SegmentHead> head_from(std::string_view bytes, std::uint32_t number);

/// What is known of a segment without its records: enough to verify everything after it.
struct Seal {
  std::uint64_t first = 0, end = 0;                            ///< sequence numbers [first, end)
  Digest chain{};                                              ///< after its last record
  CompactRange tree;                                           ///< over its records
  std::uint64_t id_ms_min = ~std::uint64_t{0}, id_ms_max = 0;  ///< times in the ids of its events
  friend bool operator==(const Seal&, const Seal&) = default;
};
/// 120 + 126 x 32 bytes at most; its last 8 are the size of its record, so that a seal is found from the end.
std::string to_bytes(const Seal& seal);
Result<Seal> seal_from(std::string_view payload);
inline constexpr std::size_t kSealMax = frame_size(8 * 6 + 32 + 8 + 126 * 32);

/// The seal at the end of a segment, read from there. @param segment the whole file, or its last kSealMax bytes
/// @return nullopt if it does not end in one
Result<std::optional<Seal>> seal_at_end(File& file, std::uint32_t number);

/// Where the records of a segment stop, and why.
struct SegmentEnd {
  enum class Kind : std::uint8_t { open, sealed, bad } kind = Kind::open;
  std::uint32_t offset = 0;       ///< of the seal, of the first free byte, or of what is wrong
  std::uint32_t batch_start = 0;  ///< offset of the last batch
  std::uint64_t next = 0;         ///< sequence number
  Digest chain{};
  CompactRange tree;           ///< of this segment
  std::optional<Error> wrong;  ///< of a bad one
};

/// Reads the records of a segment in order and checks each: checksum, place, number, chain; of a seal also what it says
/// of them, and that nothing lies behind it. Free space after the last record must be zeros.
/// @param visit called for each good record with the chain after it; an error of it stops the walk and is returned
Result<SegmentEnd> walk(Sha256& sha, std::string_view segment, const SegmentHead& head,
                        const std::function<Result<void>(const Frame&, const Digest& chain)>& visit);

/// Is there, from `offset` on, a sound record that opens a batch? It proves that what lies before it was durable.
bool later_batch(std::string_view segment, std::uint32_t number, std::uint32_t offset);

}  // namespace ace::spine
