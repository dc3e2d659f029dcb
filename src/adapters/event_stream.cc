#include "adapters/event_stream.h"

#include <zlib.h>

#include <algorithm>

namespace ace {
namespace {

constexpr std::size_t kPrelude = 12, kLeast = kPrelude + 4;

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes) value = value << 8U | static_cast<std::uint8_t>(c);
  return value;
}

bool checks(std::string_view bytes, std::string_view sum) {
  const auto* const data = reinterpret_cast<const Bytef*>(bytes.data());
  return crc32(0, data, static_cast<uInt>(bytes.size())) == big_endian(sum);
}

/// Bytes of a value by its type; -1 for texts, which bring their length, -2 for types that do not exist.
int size_of_type(std::uint8_t type) {
  constexpr int sizes[] = {0, 0, 1, 2, 4, 8, -1, -1, 8, 16};
  return type < std::size(sizes) ? sizes[type] : -2;
}

}  // namespace

/// Takes a message off the front of `bytes`, or keeps them if none ends there.
bool EventStreamParser::next(std::string_view& bytes) {
  if (whole_) {
    held_.clear();
    whole_ = false;
  }
  if (failed_ || bytes.empty()) return false;
  // The length first, checked before anything is kept for it.
  if (held_.size() < kPrelude && !(held_.empty() && bytes.size() >= kPrelude)) {
    const std::size_t take = std::min(kPrelude - held_.size(), bytes.size());
    held_.append(bytes.substr(0, take));
    bytes.remove_prefix(take);
    if (held_.size() < kPrelude) return false;
  }
  const std::string_view prelude =
      held_.empty() ? bytes.substr(0, kPrelude) : std::string_view(held_).substr(0, kPrelude);
  const std::size_t total = big_endian(prelude.substr(0, 4)), headers = big_endian(prelude.substr(4, 4));
  if (total < kLeast || total > limit_ || headers > total - kLeast ||
      !checks(prelude.substr(0, 8), prelude.substr(8))) {
    failed_ = true;
    return false;
  }
  if (held_.empty() && bytes.size() >= total) {
    frame_ = bytes.substr(0, total);
    bytes.remove_prefix(total);
    return true;
  }
  const std::size_t take = std::min(total - held_.size(), bytes.size());
  held_.append(bytes.substr(0, take));
  bytes.remove_prefix(take);
  if (held_.size() < total) return false;
  frame_ = held_;
  whole_ = true;
  return true;
}

bool EventStreamParser::parse(EventStreamMessage& message) {
  const std::size_t headers = big_endian(frame_.substr(4, 4));
  const std::size_t end = frame_.size() - 4;
  failed_ =
      !checks(frame_.substr(0, end), frame_.substr(end)) || !parse_headers(frame_.substr(kPrelude, headers), message);
  message.payload = frame_.substr(kPrelude + headers, end - kPrelude - headers);
  return !failed_;
}

bool EventStreamParser::parse_headers(std::string_view headers, EventStreamMessage& message) {
  while (!headers.empty()) {
    const std::size_t name_size = static_cast<std::uint8_t>(headers.front());
    if (name_size == 0 || headers.size() < name_size + 2) return false;
    const std::string_view name = headers.substr(1, name_size);
    const auto type = static_cast<std::uint8_t>(headers[name_size + 1]);
    headers.remove_prefix(name_size + 2);
    const int fixed = size_of_type(type);
    if (fixed == -2 || (fixed == -1 && headers.size() < 2)) return false;
    const std::size_t size = fixed == -1 ? big_endian(headers.substr(0, 2)) : static_cast<std::size_t>(fixed);
    if (fixed == -1) headers.remove_prefix(2);
    if (headers.size() < size) return false;
    const std::string_view value = headers.substr(0, size);
    headers.remove_prefix(size);
    if (name == ":message-type") message.message_type = value;
    if (name == ":event-type") message.event_type = value;
    if (name == ":exception-type") message.exception_type = value;
  }
  return true;
}

}  // namespace ace
