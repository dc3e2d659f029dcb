#pragma once
/// One record of the log: 40 bytes around its payload, little endian. docs/SPINE.md, "Records".
#include <cstdint>
#include <string>
#include <string_view>

#include "spine/digest.h"
#include "spine/merkle.h"

namespace ace::spine {

enum class RecordType : std::uint8_t {
  event = 1,       ///< payload: spine/event.proto
  checkpoint = 2,  ///< payload: a signed note (checkpoint.h)
  conflict = 3,    ///< an event whose key was taken by another content: kept, counted, never folded
  seal = 4,        ///< ends a segment; has no sequence number of its own and is no leaf
};

/// What an acknowledgement meant when this record was written.
enum class Durability : std::uint8_t { strict, group, relaxed };
std::string_view name_of(Durability durability);

inline constexpr std::uint32_t kMagic = 0x3145'4341;  // "ACE1"
inline constexpr std::uint8_t kFormat = 1;
inline constexpr std::size_t kFrameHeader = 40;
inline constexpr std::uint32_t kPayloadMax = 1 << 20;

/// Where a record lies.
struct Address {
  std::uint32_t segment = 0, offset = 0;
  friend auto operator<=>(const Address&, const Address&) = default;
};

struct Frame {
  RecordType type = RecordType::event;
  std::uint8_t version = kFormat;
  bool first_of_batch = false;
  Durability durability = Durability::group;
  std::uint64_t sequence = 0;
  Address address;
  std::uint64_t previous = 0;  ///< first 8 bytes of the chain before it, as they lie
  std::string_view payload;
  std::string_view bytes;  ///< header and payload: what is hashed
};

/// Bytes of a record on the disk: header, payload, zeros up to a multiple of 8.
constexpr std::size_t frame_size(std::size_t payload) { return (kFrameHeader + payload + 7) / 8 * 8; }

/// Appends a record; `bytes` and `version` of the frame are not read.
void append_frame(std::string& out, const Frame& frame);

/// Reads the record at the beginning of `bytes`, which lie at `address`.
/// @return truncated if the bytes end before the record does; corrupt if it is none, is damaged, or was written for
/// another place; bad_input if a newer version wrote it
Result<Frame> frame_from(std::string_view bytes, Address address);

/// The chain: a digest over everything before. Each record holds the beginning of it; segment heads, seals and
/// checkpoints hold all of it.
using LogId = std::array<std::uint8_t, 16>;
Digest chain_start(Sha256& sha, const LogId& log);
Digest chain_next(Sha256& sha, const Digest& before, const Digest& leaf);
std::uint64_t beginning_of(const Digest& chain);

std::string to_text(Address address);  ///< "segment 3, offset 512"

}  // namespace ace::spine
