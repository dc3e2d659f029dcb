#pragma once
/// What has arrived on a stream and is not consumed yet, bounded; and whether the peer is still there.
#include <coroutine>
#include <functional>
#include <memory>
#include <string_view>

#include "net/stream.h"

namespace ace::net {

class Inbox {
 public:
  /// @param first, most  bytes of the buffer at the start, and when a head needs more
  Inbox(Stream& stream, std::size_t first, std::size_t most);
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  [[nodiscard]] std::string_view bytes() const { return {buffer_.get() + begin_, end_ - begin_}; }
  void consume(std::size_t size) { begin_ += size; }
  /// Ok until the stream ended; then how.
  [[nodiscard]] Io end() const { return ended_; }

  struct Fill {
    Inbox& inbox;
    [[nodiscard]] bool await_ready() const { return inbox.start_or_ended(); }
    void await_suspend(std::coroutine_handle<> waiting) const { inbox.waiting_ = waiting; }
    Io await_resume() const { return inbox.ended_; }
  };
  /// Awaitable: more bytes, or the end. Views of bytes() are void afterwards. Not when the inbox is full.
  Fill fill() { return {*this}; }

  /// From now on reads ahead as far as there is room, so that a peer that goes away is noticed while nobody reads.
  /// @param on_gone  called once, when the stream ends while nobody waits in fill()
  void watch(std::function<void()> on_gone);
  void unwatch() { on_gone_ = nullptr; }
  /// Whether a read is under way, which the stream must be closed and awaited for before this goes away.
  [[nodiscard]] bool reading() const { return reading_; }

 private:
  bool start_or_ended();
  bool start();
  bool make_room();
  void finished();

  Stream* stream_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_, most_, begin_ = 0, end_ = 0;
  IoOp op_;
  Io ended_ = Io::ok;
  std::coroutine_handle<> waiting_;
  std::function<void()> on_gone_;
  bool reading_ = false;
};

}  // namespace ace::net
