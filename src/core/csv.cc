#include "core/csv.h"

#include <algorithm>

namespace ace {
namespace {

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return made;
}

Error at_line(std::size_t line, std::string_view what) {
  return {Errc::corrupt, "line " + std::to_string(line) + ": " + std::string(what)};
}

}  // namespace

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

CsvReader::CsvReader(std::string_view text, char delimiter) : text_(text), delimiter_(delimiter) {
  if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
}

Result<std::string_view> CsvReader::bare() {
  const std::size_t start = at_;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == delimiter_ || c == '\n' || c == '\r') break;
    if (c == '"') return at_line(line_, "a quote inside a field that does not start with one; write \"a\"\"b\"");
  }
  return text_.substr(start, at_ - start);
}

Result<std::string_view> CsvReader::quoted() {
  const std::size_t start = ++at_, opened = line_;
  bool doubled = false;
  for (;; ++at_) {
    if (at_ >= text_.size()) return at_line(opened, "a quote opens here and is never closed");
    if (text_[at_] == '\n') ++line_;
    if (text_[at_] != '"') continue;
    if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
    doubled = true;
    ++at_;
  }
  const std::string_view raw = text_.substr(start, at_ - start);
  ++at_;
  if (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n' && text_[at_] != '\r')
    return at_line(line_, "text after a closing quote; expected a delimiter or the end of the line");
  if (!doubled) return raw;
  std::string& field = unescaped_.emplace_back();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    field += raw[i];
    if (raw[i] == '"') ++i;
  }
  return std::string_view(field);
}

Result<bool> CsvReader::next(CsvRow& row) {
  row.fields.clear();
  unescaped_.clear();
  while (at_ < text_.size()) {
    if (text_[at_] == '\n' || text_.substr(at_).starts_with("\r\n")) {
      at_ += text_[at_] == '\n' ? 1U : 2U;
      ++line_;
      ++blank_lines_;
      continue;
    }
    row.line = line_;
    for (;;) {
      Result<std::string_view> field = at_ < text_.size() && text_[at_] == '"' ? quoted() : bare();
      if (!field) return std::move(field).error();
      row.fields.push_back(*field);
      if (at_ >= text_.size()) return true;
      if (text_[at_] == delimiter_) {
        ++at_;
        continue;
      }
      if (text_[at_] == '\r') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '\n')
          return at_line(line_, "a carriage return without a line feed");
        ++at_;
      }
      ++at_;
      ++line_;
      return true;
    }
  }
  return false;
}

Result<CsvTable> CsvTable::open(std::string_view text, char delimiter) {
  CsvTable table{CsvReader(text, delimiter)};
  CsvRow row;
  const Result<bool> any = table.reader_.next(row);
  if (!any) return Error(any.error());
  if (!*any) return Error(Errc::bad_input, "the file is empty; expected a header line");
  for (const std::string_view field : row.fields) {
    const std::string_view name = trim(field);
    if (name.empty() && !table.header_.empty())
      return Error(Errc::bad_input, "line " + std::to_string(row.line) + ": column " +
                                        std::to_string(table.header_.size() + 1) + " has no name");
    if (std::find(table.header_.begin(), table.header_.end(), name) != table.header_.end())
      return Error(Errc::bad_input, "line " + std::to_string(row.line) + ": two columns are named \"" +
                                        std::string(name.substr(0, 64)) + "\"");
    table.header_.emplace_back(name);
  }
  return table;
}

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  std::optional<std::size_t> loose;
  std::size_t twins = 0;
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (header_[i] == name) return i;
    if (lower(header_[i]) == lower(name)) {
      loose = i;
      ++twins;
    }
  }
  return twins == 1 ? loose : std::nullopt;
}

Result<std::size_t> CsvTable::require(std::string_view name) const {
  if (const std::optional<std::size_t> at = column(name)) return *at;
  std::string have;
  for (const std::string& column : header_) have += (have.empty() ? "" : ", ") + column.substr(0, 64);
  const bool other_delimiter = header_.size() == 1 && header_[0].find_first_of(";\t|") != std::string::npos;
  return Error(Errc::bad_input, "missing column \"" + std::string(name) + "\"; the header has " + have.substr(0, 1024) +
                                    (other_delimiter ? "; is the delimiter not a comma?" : ""));
}

Result<bool> CsvTable::next(CsvRow& row) {
  Result<bool> any = reader_.next(row);
  if (any && *any && row.fields.size() != header_.size())
    return at_line(row.line, "expected " + std::to_string(header_.size()) + " fields as in the header, got " +
                                 std::to_string(row.fields.size()));
  return any;
}

std::string csv_text(std::string_view text) {
  const bool runs = !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
  if (!runs && text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string cell = runs ? "\"'" : "\"";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

}  // namespace ace
