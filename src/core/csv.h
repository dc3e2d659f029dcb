#pragma once
/// Small CSV files (prices, catalogs, series) held in memory: strict RFC 4180 that names the physical line of a
/// mistake; and the text cells of every CSV we write. Traces are read by the streaming reader of `trace`.
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace ace {

/// One row: its fields, unquoted, and the physical line on which it starts (from 1).
struct CsvRow {
  std::size_t line = 0;
  std::vector<std::string_view> fields;
};

/// Reads rows one after the other from text the caller keeps. A UTF-8 byte order mark is stripped; lines end in LF or
/// CRLF; blank lines are skipped and counted. Fields borrow from the text, or from the reader where quotes were
/// doubled; they hold until the next call.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text, char delimiter = ',');

  /// The next row into `row`, whose buffers are reused. @return false at the end;
  /// corrupt for a lone CR, an unclosed quote (naming the line where it opened) or a quote inside a bare field.
  Result<bool> next(CsvRow& row);

  [[nodiscard]] std::size_t blank_lines() const { return blank_lines_; }

 private:
  Result<std::string_view> quoted();
  Result<std::string_view> bare();

  std::string_view text_;
  char delimiter_;
  std::size_t at_ = 0, line_ = 1, blank_lines_ = 0;
  std::deque<std::string> unescaped_;  ///< fields of this row in which "" became "; they must not move
};

/// A table with a header: columns by name, every row as long as the header.
class CsvTable {
 public:
  /// Reads the header, trimmed of blanks. @return bad_input for an empty text, a repeated or (unless it is the first,
  /// as in an exported index) an empty column name; corrupt as above.
  static Result<CsvTable> open(std::string_view text, char delimiter = ',');

  /// Position of a column: its exact name, else the only one that is equal but for case.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  /// The same. @return bad_input naming the missing column and those that are there; a header that holds `;` or tabs
  /// suggests another delimiter.
  [[nodiscard]] Result<std::size_t> require(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& header() const { return header_; }
  [[nodiscard]] std::size_t blank_lines() const { return reader_.blank_lines(); }

  /// @return false at the end; corrupt for a row that is shorter or longer than the header, naming its line.
  Result<bool> next(CsvRow& row);

 private:
  explicit CsvTable(CsvReader reader) : reader_(std::move(reader)) {}
  CsvReader reader_;
  std::vector<std::string> header_;
};

/// `text` without leading and trailing spaces and tabs.
std::string_view trim(std::string_view text);

/// A name as a cell of a CSV that we write: quoted where RFC 4180 asks for it. One that a spreadsheet would run as a
/// formula (= + - @, tab, CR in front) gets an apostrophe in front and is quoted.
std::string csv_text(std::string_view text);

}  // namespace ace
