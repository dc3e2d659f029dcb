#pragma once
/// Server-sent events (HTML Living Standard, 9.2.6), read from pieces of any size and framed again. An event is handed
/// on with the byte that ends it; until then only what the network cut is kept.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ace::net {

/// One event. Views hold until the parser is fed again.
struct SseEvent {
  std::string_view type;  ///< empty means "message"
  std::string_view data;  ///< its lines with a line feed between
  friend bool operator==(const SseEvent&, const SseEvent&) = default;
};

class SseParser {
 public:
  /// @param event_bytes the most that one event may hold, names and ends of lines included
  explicit SseParser(std::size_t event_bytes = std::size_t{1} << 20) : limit_(event_bytes) {}

  /// Calls `on_event(const SseEvent&)` for each event that `bytes` completes. `id` and `retry` fields and comments are
  /// read and dropped: they belong to the hop they came from.
  /// @return false, then and for ever after, once an event exceeds the limit
  template <class OnEvent>
  bool feed(std::string_view bytes, OnEvent on_event) {
    while (next_line(bytes)) {
      if (take_line()) {
        on_event(SseEvent{type_, has_one_line_ ? one_line_ : std::string_view(data_)});
        forget();
      }
      held_.clear();
      line_ = {};
    }
    keep_line();
    return !failed_;
  }

  /// Whether the bytes so far end within an event, which is lost if no more come.
  [[nodiscard]] bool inside_event() const { return event_bytes_ > 0; }
  /// Bytes that are kept for later.
  [[nodiscard]] std::size_t buffered() const { return held_.size() + data_.size() + type_.size(); }

 private:
  bool next_line(std::string_view& bytes);
  bool take_line();
  void take_data(std::string_view value);
  void keep_line();
  void forget();

  std::size_t limit_;
  std::string held_;           ///< start of a line whose end has not come
  std::string_view line_;      ///< the line at hand, within the input or held_
  std::string_view one_line_;  ///< data of one line that lies in the input
  std::string data_, type_;
  std::size_t data_lines_ = 0;
  std::size_t event_bytes_ = 0;      ///< of the event so far
  std::size_t byte_order_mark_ = 0;  ///< bytes of it seen; 3 once it is dealt with
  bool has_one_line_ = false, after_cr_ = false, failed_ = false;
};

/// Appends an event in the one spelling we send: LF, one `data:` line for each line of data.
void append_event(std::string& out, const SseEvent& event);

}  // namespace ace::net
