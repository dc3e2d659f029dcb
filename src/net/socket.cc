#include "net/socket.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>

#include "core/check.h"

namespace ace::net {

Socket::Socket(Loop& loop, TcpSocket socket)
    : Stream(loop),
      socket_(std::move(socket)),
      read_timer_([this] { expire(read_expired_); }),
      write_timer_([this] { expire(write_expired_); }) {
  asio::error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

Socket::~Socket() { ACE_CHECK(reading_ == nullptr && writing_ == nullptr, "a socket was dropped in mid-operation"); }

void Socket::expire(bool& expired) {
  expired = true;
  asio::error_code ignored;
  if (!closed_) socket_.cancel(ignored);
}

Io Socket::status_of(const asio::error_code& error, bool expired) const {
  if (!error) return Io::ok;
  if (closed_) return Io::cancelled;
  if (expired) return Io::timed_out;
  if (error == asio::error::eof) return Io::closed;
  if (error == asio::error::connection_reset || error == asio::error::broken_pipe) return Io::reset;
  return Io::failed;
}

bool Socket::start_read(char* data, std::size_t size, IoOp& op) {
  ACE_CHECK(reading_ == nullptr, "two reads at a time");
  if (closed_ || read_expired_) {
    op.result = {closed_ ? Io::cancelled : Io::timed_out, 0};
    return true;
  }
  reading_ = &op;
  // The library tries at once unless the last read emptied the socket, and waits without a system call of its own.
  socket_.async_read_some(asio::buffer(data, size), [this](const asio::error_code& error, std::size_t bytes) {
    IoOp* done = std::exchange(reading_, nullptr);
    done->result = {status_of(error, read_expired_), bytes};
    done->done();
  });
  return false;
}

bool Socket::start_write(const Parts& parts, IoOp& op) {
  ACE_CHECK(writing_ == nullptr, "two writes at a time");
  if (closed_ || write_expired_) {
    op.result = {closed_ ? Io::cancelled : Io::timed_out, 0};
    return true;
  }
  left_ = parts;
  op.result = {};
  writing_ = &op;
  if (write_more()) {
    writing_ = nullptr;
    return true;
  }
  wait_to_write();
  return false;
}

/// Writes what the socket takes. @return whether the write is over, its result in writing_
bool Socket::write_more() {
  for (;;) {
    std::array<iovec, kWriteParts> vectors;
    std::size_t count = 0;
    for (const std::string_view part : left_) {
      if (!part.empty()) vectors[count++] = {const_cast<char*>(part.data()), part.size()};
    }
    if (count == 0) return true;
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = count;
    const ssize_t sent = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
      writing_->result.status = errno == ECONNRESET || errno == EPIPE ? Io::reset : Io::failed;
      return true;
    }
    auto taken = static_cast<std::size_t>(sent);
    writing_->result.bytes += taken;
    for (std::string_view& part : left_) {
      const std::size_t size = std::min(part.size(), taken);
      part.remove_prefix(size);
      taken -= size;
    }
  }
}

void Socket::wait_to_write() {
  loop().arm(write_timer_, loop().now() + write_stall_);
  socket_.async_wait(TcpSocket::wait_write, [this](const asio::error_code& error) {
    write_timer_.disarm();
    if (error) {
      writing_->result.status = status_of(error, write_expired_);
    } else if (!write_more()) {
      wait_to_write();
      return;
    }
    std::exchange(writing_, nullptr)->done();
  });
}

void Socket::set_read_deadline(Steady deadline) { loop().arm(read_timer_, deadline); }

void Socket::end_writing() {
  asio::error_code ignored;
  if (!closed_) socket_.shutdown(TcpSocket::shutdown_send, ignored);
}

void Socket::close() {
  if (std::exchange(closed_, true)) return;
  read_timer_.disarm();
  write_timer_.disarm();
  asio::error_code ignored;
  socket_.close(ignored);
}

}  // namespace ace::net
