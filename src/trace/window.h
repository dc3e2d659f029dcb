#pragma once
/// A moving view of a stream: the bytes not yet consumed, contiguous, with room behind them for SIMD readers.
#include <cstddef>
#include <memory>
#include <string_view>

#include "core/result.h"
#include "trace/io.h"

namespace ace {

class Window {
 public:
  /// @param record_max longest record, in bytes: more unread bytes than that without a consume() is an error
  Window(std::unique_ptr<ByteInput> input, std::size_t record_max);

  /// Unread bytes; kPadding more behind them may be read (and mean nothing).
  [[nodiscard]] std::string_view view() const { return {buffer_.get() + begin_, end_ - begin_}; }
  void consume(std::size_t bytes) { begin_ += bytes; }
  /// More bytes behind view(). @return false at the end; out_of_range if a record is longer than record_max
  Result<bool> more();
  [[nodiscard]] bool ended() const { return ended_; }
  Result<void> rewind();
  [[nodiscard]] double progress() const { return input_->progress(); }
  [[nodiscard]] std::size_t record_max() const { return record_max_; }
  /// For formats whose records are whole documents. @pre nothing longer was refused before
  void set_record_max(std::size_t bytes) { record_max_ = bytes; }

  static constexpr std::size_t kPadding = 64;

 private:
  void make_room();

  std::unique_ptr<ByteInput> input_;
  std::size_t record_max_;
  std::size_t capacity_ = 0;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  bool ended_ = false;
};

}  // namespace ace
