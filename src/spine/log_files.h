#pragma once
/// Names of the files of a log beside its segments.
#include <cstdint>

namespace ace::spine {

inline constexpr const char* kIdentity = "log";     ///< which log this is
inline constexpr const char* kNext = "next.tmp";    ///< a segment that is being made
inline constexpr const char* kReserve = "reserve";  ///< room that is kept for the day when there is none
inline constexpr const char* kAcked = "acked";      ///< how much was acknowledged
inline constexpr const char* kPruned = "pruned";    ///< what is left of segments that are gone
inline constexpr const char* kFullText = "the disk is full: make room, the log goes on by itself";
inline constexpr std::uint64_t kNewConflict = ~std::uint64_t{0};
inline constexpr std::uint64_t kAckedBytes = 4096;

}  // namespace ace::spine
