#pragma once
/// The framing of AWS's streams (application/vnd.amazon.eventstream), read from pieces of any size.
///
///   total length (4)  length of the headers (4)  CRC-32 of these eight (4)  headers  payload  CRC-32 of all before (4)
///   header: length of the name (1)  name  type (1)  value
///
/// Numbers are big-endian. Source: "Event stream encoding", Amazon Transcribe and Smithy documentation, 2026-09.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ace {

/// One message. Views hold until the parser is fed again.
struct EventStreamMessage {
  std::string_view message_type;    ///< `:message-type`: "event", "exception" or "error"
  std::string_view event_type;      ///< `:event-type`: "chunk"
  std::string_view exception_type;  ///< `:exception-type`: "throttlingException"
  std::string_view payload;
};

class EventStreamParser {
 public:
  /// @param message_bytes the most that one message may have, frame included
  explicit EventStreamParser(std::size_t message_bytes = std::size_t{1} << 20) : limit_(message_bytes) {}

  /// Calls `on_message(const EventStreamMessage&)` for each message that `bytes` completes, until it returns false.
  /// @return false, then and for ever after, once the bytes are no such stream: a checksum, a length or a header is
  /// wrong, or a message exceeds the limit
  template <class OnMessage>
  bool feed(std::string_view bytes, OnMessage on_message) {
    while (next(bytes)) {
      EventStreamMessage message;
      if (!parse(message)) return false;
      if (!on_message(message)) return true;
    }
    return !failed_;
  }
  /// Whether the bytes so far end within a message.
  [[nodiscard]] bool inside_message() const { return !held_.empty(); }

 private:
  bool next(std::string_view& bytes);
  bool parse(EventStreamMessage& message);
  bool parse_headers(std::string_view headers, EventStreamMessage& message);

  std::size_t limit_;
  std::string held_;        ///< start of a message whose end has not come
  std::string_view frame_;  ///< the message at hand, within the input or held_
  bool whole_ = false;      ///< held_ is the message at hand
  bool failed_ = false;
};

}  // namespace ace
