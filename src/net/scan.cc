#include <algorithm>
#include <cstring>

#include "net/http.h"

namespace ace::net {

HeadScanner::Scan HeadScanner::scan(std::string_view buffer) {
  for (;;) {
    const void* found = at_ < buffer.size() ? std::memchr(buffer.data() + at_, '\n', buffer.size() - at_) : nullptr;
    const std::size_t end = found == nullptr
                                ? buffer.size()
                                : static_cast<std::size_t>(static_cast<const char*>(found) - buffer.data()) + 1;
    // Whichever limit lies first is the one that is crossed first, however the bytes arrive.
    const std::size_t line_limit = line_start_ + limits_->line_bytes + 2;
    if (end > std::min(line_limit, limits_->head_bytes)) {
      return {lines_ == 0 && line_limit <= limits_->head_bytes ? Fault::line_too_long : Fault::head_too_large, 0};
    }
    if (found == nullptr) {
      at_ = end;
      return {};
    }
    const std::size_t length = end - line_start_;
    if (length < 2 || buffer[end - 2] != '\r') return {Fault::bad_line_end, 0};
    if (length == 2) return lines_ == 0 ? Scan{Fault::bad_start_line, 0} : Scan{Fault::none, end};
    if (lines_ > limits_->fields) return {Fault::too_many_fields, 0};
    ++lines_;
    at_ = line_start_ = end;
  }
}

}  // namespace ace::net
