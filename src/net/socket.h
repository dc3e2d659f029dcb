#pragma once
/// A connected TCP socket as a Stream. Includes the library: for .cc files of this room.
#include <asio/ip/tcp.hpp>

#include "net/asio_loop.h"
#include "net/stream.h"

namespace ace::net {

using TcpSocket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;

class Socket : public Stream {
 public:
  Socket(Loop& loop, TcpSocket socket);
  ~Socket() override;
  bool start_read(char* data, std::size_t size, IoOp& op) override;
  bool start_write(const Parts& parts, IoOp& op) override;
  void set_read_deadline(Steady deadline) override;
  void set_write_stall(std::chrono::nanoseconds stall) override { write_stall_ = stall; }
  void end_writing() override;
  void close() override;

 private:
  void expire(bool& expired);
  bool write_more();
  void wait_to_write();
  [[nodiscard]] Io status_of(const asio::error_code& error, bool expired) const;

  TcpSocket socket_;
  Timer read_timer_, write_timer_;
  std::chrono::nanoseconds write_stall_{std::chrono::seconds{30}};
  Parts left_{};  ///< of the write under way
  IoOp *reading_ = nullptr, *writing_ = nullptr;
  bool read_expired_ = false, write_expired_ = false, closed_ = false;
};

}  // namespace ace::net
