#pragma once
/// RFC 4180 records out of a stream, strictly; and cells back into CSV, safely.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "trace/window.h"

namespace ace {

/// Records end in LF or CRLF; a lone CR, a quote inside a bare field and an unclosed quote are errors, since a reader
/// that guesses there reads other rows than were written. Blank lines are skipped and counted.
class CsvRecords {
 public:
  static constexpr std::size_t kColumnsMax = 256;

  CsvRecords(Window& window, char delimiter) : window_(&window), delimiter_(delimiter) {}

  /// @return false at the end; bad_input or out_of_range (line or column limit) naming the line
  Result<bool> next();
  /// Of the record last read; valid until the next call of next() or Window::more().
  [[nodiscard]] std::span<const std::string_view> fields() const { return fields_; }
  /// Physical line on which the record began, from 1.
  [[nodiscard]] std::int64_t line() const { return line_; }
  [[nodiscard]] std::uint64_t blank_lines() const { return blank_; }
  void restart() {
    line_ = 0;
    next_line_ = 1;
    blank_ = 0;
  }
  /// For a caller that has consumed whole plain lines from the window itself.
  void skip_lines(std::int64_t lines) { next_line_ += lines; }
  [[nodiscard]] std::int64_t next_line() const { return next_line_; }

 private:
  Result<void> split(std::string_view line);
  Result<bool> quoted_record();

  Window* window_;
  char delimiter_;
  std::vector<std::string_view> fields_;
  std::string scratch_;  ///< unquoted fields of the record
  std::int64_t line_ = 0, next_line_ = 1;
  std::uint64_t blank_ = 0;
};

}  // namespace ace
