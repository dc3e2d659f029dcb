#pragma once
/// "ACE trace v1": requests as fixed rows, for pipes. Little endian, checked at the end.
///
/// Eight bytes of magic, then frames: u32 kind, u32 bytes, payload.
///   head  (1, first)  u32 tokens per block, then the format's name
///   name  (2)         u32 table (0 model, 1 tenant, 2 team, 3 project, 4 key), then the next name of that table
///   class (3)         u32 model, tenant, team, needs, flags (1 batch, 2 failed, 4 answered from a response cache):
///                     what rows refer to, numbered from 0; u32 project and key follow where there is one
///   rows  (4)         i64 number of the first row, u32 n, u32 0, then n rows of 24 bytes, then extras of marked rows:
///                       row:    i64 at (ns since the epoch), i32 prompt, i32 output, u32 class, u32 max_output; its
///                               highest bit says that extras follow
///                       extras: u32 mask, then what it names, in order: 1 i64 row number, 2 i32 reasoning, 4 i32
///                               cached, 8 i32 cache_write, 16 i64 cost_nano, 32 i64 ttft_us, 64 i64 duration_us,
///                               128 u32 n and n x u32 block ids, 256 i32 cache_write_1h, i32 audio_prompt, i32
///                               image_prompt, i32 audio_output and i32 image_output
///   end   (5, last)   u64 rows, u64 checksum over all frames before it
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "core/result.h"
#include "replay/source.h"
#include "trace/window.h"

namespace ace {

struct ReadOptions;

inline constexpr std::string_view kBinaryMagic{"ACEtrc1\n", 8};

/// Where written bytes go, in pieces and in order.
using ByteSink = std::function<Result<void>(std::string_view)>;

/// Writes what is left of the source, every field of it. @return rows written, or the first error of either side
Result<std::uint64_t> write_binary(RequestSource& source, const ByteSink& sink);

/// Reads such a stream from its first byte. next() fails with `truncated` if the stream has no end frame and `corrupt`
/// if it breaks a rule above; rows given out before that are not a result.
/// @param options  what becomes of names: `masks`; the rest does not matter here
Result<std::unique_ptr<RequestSource>> open_binary(Window window, const ReadOptions& options);

}  // namespace ace
