#include "trace/csv.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

namespace ace {
namespace {

Error at_line(Errc code, std::int64_t line, std::string_view what) {
  return Error(code, fmt::format("line {}: {}", line, what));
}

}  // namespace

Result<bool> CsvRecords::next() {
  for (;;) {
    std::string_view rest = window_->view();
    const void* found = rest.empty() ? nullptr : std::memchr(rest.data(), '\n', rest.size());
    if (found == nullptr && !window_->ended()) {
      const Result<bool> more = window_->more();
      if (!more) return at_line(more.error().code(), next_line_, more.error().what());
      continue;
    }
    if (rest.empty()) return false;
    const std::size_t length =
        found == nullptr ? rest.size() : static_cast<std::size_t>(static_cast<const char*>(found) - rest.data());
    std::string_view line = rest.substr(0, length);
    if (length > window_->record_max()) {
      return at_line(Errc::out_of_range, next_line_,
                     fmt::format("a line is longer than {} bytes", window_->record_max()));
    }
    if (std::memchr(line.data(), '"', line.size()) != nullptr) return quoted_record();
    line_ = next_line_++;
    window_->consume(length + (found == nullptr ? 0 : 1));
    if (found != nullptr && !line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) {
      ++blank_;
      continue;
    }
    if (const Result<void> done = split(line); !done) return done.error();
    return true;
  }
}

Result<void> CsvRecords::split(std::string_view line) {
  fields_.clear();
  if (std::memchr(line.data(), '\r', line.size()) != nullptr) {
    return at_line(Errc::bad_input, line_, "a lone carriage return; expected lines that end in LF or CRLF");
  }
  const char* at = line.data();
  const char* const end = line.data() + line.size();
  for (;;) {
    const auto* stop = static_cast<const char*>(std::memchr(at, delimiter_, static_cast<std::size_t>(end - at)));
    fields_.emplace_back(at, static_cast<std::size_t>((stop == nullptr ? end : stop) - at));
    if (stop == nullptr) return {};
    if (fields_.size() == kColumnsMax) return at_line(Errc::out_of_range, line_, "more than 256 columns");
    at = stop + 1;
  }
}

/// The slow way, for a record with a quote in it: it may go on over several lines.
Result<bool> CsvRecords::quoted_record() {
  line_ = next_line_;
  std::vector<std::pair<std::size_t, std::size_t>> spans;  // of scratch_
  scratch_.clear();
  std::size_t i = 0, start = 0;
  std::int64_t lines = 0;
  enum class In { field_start, bare, quoted, after_quote } state = In::field_start;
  const auto field_ends = [&] {
    spans.emplace_back(start, scratch_.size() - start);
    start = scratch_.size();
    state = In::field_start;
  };
  for (;;) {
    if (i > window_->record_max()) {
      return at_line(Errc::out_of_range, line_, fmt::format("a line is longer than {} bytes", window_->record_max()));
    }
    if (i == window_->view().size()) {
      if (!window_->ended()) {
        const Result<bool> more = window_->more();
        if (!more) return at_line(more.error().code(), line_, more.error().what());
        continue;
      }
      if (state == In::quoted) return at_line(Errc::bad_input, line_, "a quote opens here and never closes");
      field_ends();
      break;
    }
    const char c = window_->view()[i++];
    if (state == In::quoted) {
      lines += c == '\n' ? 1 : 0;
      if (c == '"') {
        state = In::after_quote;
      } else {
        scratch_.push_back(c);
      }
    } else if (c == '"' && state == In::field_start) {
      state = In::quoted;
    } else if (c == '"' && state == In::after_quote) {
      scratch_.push_back('"');
      state = In::quoted;
    } else if (c == '"') {
      return at_line(Errc::bad_input, line_, "a quote inside a bare field; quote the whole field and double the quote");
    } else if (c == delimiter_) {
      field_ends();
      if (spans.size() == kColumnsMax) return at_line(Errc::out_of_range, line_, "more than 256 columns");
    } else if (c == '\n') {
      ++lines;
      field_ends();
      break;
    } else if (c == '\r') {
      if (i == window_->view().size() && !window_->ended()) {
        const Result<bool> more = window_->more();
        if (!more) return at_line(more.error().code(), line_, more.error().what());
      }
      if (i < window_->view().size() && window_->view()[i] != '\n') {
        return at_line(Errc::bad_input, line_, "a lone carriage return; expected lines that end in LF or CRLF");
      }
    } else if (state == In::after_quote) {
      return at_line(Errc::bad_input, line_, "expected a delimiter after a closing quote");
    } else {
      scratch_.push_back(c);
      state = In::bare;
    }
  }
  window_->consume(i);
  next_line_ += lines;
  fields_.clear();
  for (const auto& [begin, size] : spans) fields_.push_back(std::string_view(scratch_).substr(begin, size));
  return true;
}

}  // namespace ace
