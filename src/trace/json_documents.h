#pragma once
/// Inside the readers: whole JSON documents out of a stream, one in memory at a time.
#include <cstdint>
#include <string_view>

#include "core/result.h"
#include "trace/window.h"

namespace ace {

/// One object after the other: JSONL, objects one after another over several lines, or the elements of a top-level
/// array. Only the outline is looked at here (strings, braces, brackets); the parser of the document judges the rest.
class JsonDocuments {
 public:
  explicit JsonDocuments(Window& window) : window_(&window) {}
  /// @return false at the end; bad_input, truncated or out_of_range naming the line
  Result<bool> next();
  /// Valid until the next call; Window::kPadding bytes behind it may be read.
  [[nodiscard]] std::string_view document() const { return window_->view().substr(0, length_); }
  /// Line on which it began, from 1.
  [[nodiscard]] std::int64_t line() const { return line_; }
  void restart() { *this = JsonDocuments(*window_); }

 private:
  Result<bool> skip_blanks();
  Result<bool> to_object();
  Result<void> measure();
  Result<bool> whole_line();
  void take(std::size_t bytes);

  Window* window_;
  std::size_t length_ = 0;  ///< of the document in front of the window
  std::int64_t line_ = 0, next_line_ = 1;
  bool started_ = false, in_array_ = false, after_element_ = false;
};

}  // namespace ace
