#include "net/sse.h"

#include <cstring>

namespace ace::net {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Where a CR or LF stands first.
std::size_t line_end(std::string_view bytes) {
  const void* lf = std::memchr(bytes.data(), '\n', bytes.size());
  const std::size_t before =
      lf == nullptr ? bytes.size() : static_cast<std::size_t>(static_cast<const char*>(lf) - bytes.data());
  const void* cr = std::memchr(bytes.data(), '\r', before);
  if (cr != nullptr) return static_cast<std::size_t>(static_cast<const char*>(cr) - bytes.data());
  return lf == nullptr ? std::string_view::npos : before;
}

}  // namespace

/// Takes a line off the front of `bytes`, or all of them if none ends there.
bool SseParser::next_line(std::string_view& bytes) {
  if (failed_ || bytes.empty()) return false;
  while (byte_order_mark_ < kByteOrderMark.size() && !bytes.empty()) {
    if (bytes.front() != kByteOrderMark[byte_order_mark_]) {
      // What looked like the mark was text.
      held_.assign(kByteOrderMark.substr(0, byte_order_mark_));
      event_bytes_ += held_.size();
      byte_order_mark_ = kByteOrderMark.size();
    } else {
      ++byte_order_mark_;
      bytes.remove_prefix(1);
    }
  }
  if (after_cr_ && !bytes.empty()) {
    if (bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
  }
  if (bytes.empty()) return false;
  const std::size_t end = line_end(bytes);
  const std::size_t size = end == std::string_view::npos ? bytes.size() : end;
  event_bytes_ += size;
  if (event_bytes_ > limit_) {
    failed_ = true;
    return false;
  }
  line_ = bytes.substr(0, size);
  if (!held_.empty()) line_ = held_.append(line_);
  if (end == std::string_view::npos) {
    bytes = {};
    return false;
  }
  ++event_bytes_;
  after_cr_ = bytes[end] == '\r';
  bytes.remove_prefix(end + 1);
  return true;
}

/// @return whether this line ends an event that has data
bool SseParser::take_line() {
  if (line_.empty()) {
    event_bytes_ = 0;
    if (data_lines_ > 0) return true;
    forget();
    return false;
  }
  const std::size_t colon = line_.find(':');
  const std::string_view name = line_.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line_.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (name == "data") {
    take_data(value);
  } else if (name == "event") {
    type_ = value;
  }
  return false;
}

void SseParser::take_data(std::string_view value) {
  if (data_lines_++ == 0) {
    one_line_ = value;
    has_one_line_ = held_.empty();
    if (!has_one_line_) data_ = value;
    return;
  }
  if (has_one_line_) data_ = one_line_;
  has_one_line_ = false;
  data_ += '\n';
  data_ += value;
}

/// Before the input goes away: copies what of it is still needed.
void SseParser::keep_line() {
  if (has_one_line_) data_ = one_line_;
  has_one_line_ = false;
  if (failed_) {
    held_.clear();
    line_ = {};
    return;
  }
  if (held_.empty()) held_ = line_;
  line_ = {};
}

void SseParser::forget() {
  data_.clear();
  type_.clear();
  data_lines_ = 0;
  has_one_line_ = false;
}

void append_event(std::string& out, const SseEvent& event) {
  if (!event.type.empty()) out.append("event: ").append(event.type).append("\n");
  std::string_view rest = event.data;
  for (;;) {
    const std::size_t end = rest.find('\n');
    out.append("data: ").append(rest.substr(0, end)).append("\n");
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  out.append("\n");
}

}  // namespace ace::net
