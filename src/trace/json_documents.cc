#include "trace/json_documents.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

namespace ace {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

Error at_line(Errc code, std::int64_t line, std::string_view what) {
  return Error(code, fmt::format("line {}: {}", line, what));
}

}  // namespace

void JsonDocuments::take(std::size_t bytes) {
  const std::string_view front = window_->view().substr(0, bytes);
  next_line_ += std::count(front.begin(), front.end(), '\n');
  window_->consume(bytes);
}

/// @return false at the end of the stream
Result<bool> JsonDocuments::skip_blanks() {
  for (;;) {
    const std::string_view view = window_->view();
    std::size_t i = 0;
    while (i < view.size() && blank(view[i])) ++i;
    take(i);
    if (i < view.size()) return true;
    const Result<bool> more = window_->more();
    if (!more) return at_line(more.error().code(), next_line_, more.error().what());
    if (!*more) return false;
  }
}

/// To the opening brace of the next object, through the punctuation of a top-level array.
Result<bool> JsonDocuments::to_object() {
  for (;;) {
    const Result<bool> any = skip_blanks();
    if (!any) return any;
    if (!*any) {
      if (in_array_) return at_line(Errc::truncated, next_line_, "truncated: the array never closes");
      return false;
    }
    const char c = window_->view().front();
    if (c == '{' && !(in_array_ && after_element_)) return true;
    if (c == '[' && !in_array_) {
      in_array_ = true;
      after_element_ = false;
    } else if (c == ',' && in_array_ && after_element_) {
      after_element_ = false;
      take(1);
      const Result<bool> next = skip_blanks();
      if (!next) return next;
      if (*next && window_->view().front() != '{') return at_line(Errc::bad_input, next_line_, "expected an object");
      continue;
    } else if (c == ']' && in_array_) {
      in_array_ = false;
    } else {
      return at_line(Errc::bad_input, next_line_,
                     in_array_ ? "expected an object, or a comma between two" : "expected a JSON object");
    }
    take(1);
  }
}

/// The common case, JSONL: the object ends with its line, and the next line begins another.
Result<bool> JsonDocuments::whole_line() {
  if (in_array_) return false;
  for (;;) {
    const std::string_view view = window_->view();
    const void* found = std::memchr(view.data(), '\n', view.size());
    const std::size_t end =
        found == nullptr ? view.size() : static_cast<std::size_t>(static_cast<const char*>(found) - view.data());
    std::size_t next = end;
    while (next < view.size() && blank(view[next])) ++next;
    if (next == view.size() && !window_->ended()) {
      if (view.size() > window_->record_max())
        return false;  // the line is too long for one object, but may hold several
      const Result<bool> more = window_->more();
      if (!more) return at_line(more.error().code(), next_line_, more.error().what());
      continue;
    }
    std::size_t last = end;
    while (last > 0 && blank(view[last - 1])) --last;
    if (last > window_->record_max() || view[last - 1] != '}' || (next < view.size() && view[next] != '{'))
      return false;
    length_ = last;
    return true;
  }
}

Result<void> JsonDocuments::measure() {
  std::size_t depth = 0;
  bool in_string = false, escaped = false;
  for (std::size_t i = 0;; ++i) {
    if (i >= window_->record_max()) {
      return at_line(Errc::out_of_range, next_line_,
                     fmt::format("an object is longer than {} bytes", window_->record_max()));
    }
    if (i == window_->view().size()) {
      const Result<bool> more = window_->more();
      if (!more) return at_line(more.error().code(), next_line_, more.error().what());
      if (!*more) return at_line(Errc::truncated, next_line_, "truncated: the object that begins here never closes");
    }
    const char c = window_->view()[i];
    if (in_string) {
      in_string = escaped || c != '"';
      escaped = !escaped && c == '\\';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      length_ = i + 1;
      return {};
    }
  }
}

Result<bool> JsonDocuments::next() {
  take(length_);
  length_ = 0;
  if (!started_) {
    while (window_->view().size() < 3 && !window_->ended()) {
      if (const Result<bool> more = window_->more(); !more) return more.error();
    }
    if (window_->view().starts_with("\xef\xbb\xbf")) window_->consume(3);
    started_ = true;
  }
  const Result<bool> any = to_object();
  if (!any || !*any) return any;
  line_ = next_line_;
  const Result<bool> line = whole_line();
  if (!line) return line;
  if (!*line) {
    if (const Result<void> measured = measure(); !measured) return measured.error();
  }
  after_element_ = true;
  return true;
}

}  // namespace ace
