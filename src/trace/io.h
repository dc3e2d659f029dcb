#pragma once
/// Bytes in order from a file, a pipe or memory, decompressed by what they are, not by what they are called.
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/result.h"

namespace ace {

/// Bytes in order, with bounded memory.
class ByteInput {
 public:
  virtual ~ByteInput() = default;
  /// Fills the front of `into` (not empty); returns how many bytes, 0 at the end and from then on.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
  /// Back to the first byte. @return unavailable if this input can be read only once
  virtual Result<void> rewind() = 0;
  /// Share of the stored bytes consumed, in [0, 1]; negative if unknown.
  [[nodiscard]] virtual double progress() const { return -1.0; }
};

/// A file, FIFO or, for "-", standard input, as its bytes are stored. A regular file is checked at its end: if its size
/// or time of change is no longer what it was when opened, reading fails with `conflict: changed_during_read`.
/// @return unavailable if it cannot be opened; bad_input for a directory
Result<std::unique_ptr<ByteInput>> open_file(const std::string& path);

/// Gzip (every member; trailing zeros pass) and zstd (every frame) unpacked by their magic numbers, anything else as it
/// is. Reading fails with `truncated` or `corrupt`; what came before such an error is not a result.
std::unique_ptr<ByteInput> decompressed(std::unique_ptr<ByteInput> stored);

/// Bytes in memory, handed out in pieces of at most `piece`: for tests, fuzzing and benchmarks.
std::unique_ptr<ByteInput> bytes_of(std::string text, std::size_t piece = ~std::size_t{0});

}  // namespace ace
