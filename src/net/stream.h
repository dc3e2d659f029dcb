#pragma once
/// A connected byte stream, plain or TLS, as coroutines use it. One read and one write may be under way at a time.
#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/loop.h"

namespace ace::net {

enum class Io : std::uint8_t {
  ok,
  closed,     ///< the peer ended its side
  reset,      ///< the connection is gone
  timed_out,  ///< a deadline of ours passed
  cancelled,  ///< we closed it
  failed,     ///< anything else, for TLS a broken record or handshake
};

struct IoResult {
  Io status = Io::ok;
  std::size_t bytes = 0;
};

/// Where an operation puts its result, and whom it tells. Lives until it has told.
struct IoOp {
  std::function<void()> done;
  IoResult result;
};

/// The parts of one write, in order.
inline constexpr std::size_t kWriteParts = 4;
using Parts = std::array<std::string_view, kWriteParts>;

class Stream {
 public:
  explicit Stream(Loop& loop) : loop_(&loop) {}
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  [[nodiscard]] Loop& loop() const { return *loop_; }

  /// Reads at least one byte. @return true if the result is there at once, else op.done is called later
  virtual bool start_read(char* data, std::size_t size, IoOp& op) = 0;
  /// Writes all parts, which must hold until it is done.
  virtual bool start_write(const Parts& parts, IoOp& op) = 0;
  /// When what is being read, now or next, must have come; kNever for no limit. Passing it is final.
  virtual void set_read_deadline(Steady deadline) = 0;
  /// How long a write may make no progress.
  virtual void set_write_stall(std::chrono::nanoseconds stall) = 0;
  /// Tells the peer that nothing more comes; reading goes on.
  virtual void end_writing() = 0;
  /// Ends what is under way with `cancelled`. Idempotent.
  virtual void close() = 0;

  struct Operation : IoOp {
    explicit Operation(Stream& s) : stream(s) {}
    Stream& stream;
    char* data = nullptr;
    std::size_t size = 0;
    Parts parts{};
    [[nodiscard]] bool await_ready() const { return false; }
    bool await_suspend(std::coroutine_handle<> waiting) {
      done = [waiting] { waiting.resume(); };
      return !(data != nullptr ? stream.start_read(data, size, *this) : stream.start_write(parts, *this));
    }
    IoResult await_resume() const { return result; }
  };
  /// Awaitable. @param size positive
  Operation read_some(char* data, std::size_t size) {
    Operation operation(*this);
    operation.data = data;
    operation.size = size;
    return operation;
  }
  /// Awaitable: all of it.
  Operation write(const Parts& parts) {
    Operation operation(*this);
    operation.parts = parts;
    return operation;
  }

 private:
  Loop* loop_;
};

/// How a peer is called in logs: "192.0.2.1:4711" or "[2001:db8::1]:4711".
using PeerName = std::string;

}  // namespace ace::net
