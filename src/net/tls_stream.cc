#include "net/tls_stream.h"

#include <openssl/bio.h>
#include <openssl/err.h>

#include <algorithm>

#include "core/check.h"

namespace ace::net {
namespace {

constexpr std::size_t kArrived = 16 * 1024 + 512;  ///< one record
constexpr std::size_t kRecord = 16 * 1024;
constexpr std::size_t kFlush = 64 * 1024;  ///< ciphertext made before it is written

}  // namespace

TlsStream::TlsStream(std::unique_ptr<Stream> below, SSL* ssl)
    : Stream(below->loop()),
      below_(std::move(below)),
      ssl_(ssl),
      in_(BIO_new(BIO_s_mem())),
      out_(BIO_new(BIO_s_mem())) {
  BIO_set_mem_eof_return(in_, -1);
  SSL_set_bio(ssl_, in_, out_);
  arrived_.reset(new char[kArrived]);
  below_read_.done = [this] {
    const Io io = take_in(below_read_.result);
    if (io != Io::ok) {
      reading_->result = {io, 0};
    } else if (!read_more()) {
      return;
    }
    std::exchange(reading_, nullptr)->done();
  };
  below_write_.done = [this] {
    if (below_write_.result.status != Io::ok) {
      writing_->result.status = below_write_.result.status;
    } else if (!write_more()) {
      return;
    }
    std::exchange(writing_, nullptr)->done();
  };
}

TlsStream::~TlsStream() {
  // OpenSSL would call the session unfit for resumption: every message of ours has a length, so a missing farewell is
  // no sign of an attack.
  SSL_set_shutdown(ssl_, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  SSL_free(ssl_);
}

/// Gives OpenSSL what came.
Io TlsStream::take_in(IoResult arrived) {
  // The end of the transport without a word from TLS may be an attacker's.
  if (arrived.status == Io::closed) return Io::reset;
  if (arrived.status != Io::ok) return arrived.status;
  return BIO_write(in_, arrived_.get(), static_cast<int>(arrived.bytes)) == static_cast<int>(arrived.bytes)
             ? Io::ok
             : Io::failed;
}

/// Moves what OpenSSL wants to send. @return whether there is any
bool TlsStream::take_out() {
  char* data = nullptr;
  const long size = BIO_get_mem_data(out_, &data);
  leaving_.assign(data, static_cast<std::size_t>(std::max(size, 0L)));
  (void)BIO_reset(out_);
  return !leaving_.empty();
}

Task<Io> TlsStream::handshake() {
  for (;;) {
    ERR_clear_error();
    const int done = SSL_do_handshake(ssl_);
    const int why = SSL_get_error(ssl_, done);
    if (take_out()) {
      const IoResult sent = co_await below_->write(Parts{leaving_});
      if (sent.status != Io::ok) co_return sent.status;
    }
    if (done == 1) co_return Io::ok;
    if (why != SSL_ERROR_WANT_READ) co_return Io::failed;
    const IoResult arrived = co_await below_->read_some(arrived_.get(), kArrived);
    const Io io = take_in(arrived);
    if (io != Io::ok) co_return io;
  }
}

bool TlsStream::start_read(char* data, std::size_t size, IoOp& op) {
  ACE_CHECK(reading_ == nullptr, "two reads at a time");
  data_ = data;
  size_ = size;
  reading_ = &op;
  if (!read_more()) return false;
  reading_ = nullptr;
  return true;
}

/// @return whether the read is over, its result in reading_
bool TlsStream::read_more() {
  for (;;) {
    ERR_clear_error();
    const int got = SSL_read(ssl_, data_, static_cast<int>(std::min<std::size_t>(size_, 1 << 30)));
    if (got > 0) {
      reading_->result = {Io::ok, static_cast<std::size_t>(got)};
      return true;
    }
    const int why = SSL_get_error(ssl_, got);
    if (why != SSL_ERROR_WANT_READ) {
      reading_->result = {why == SSL_ERROR_ZERO_RETURN ? Io::closed : Io::failed, 0};
      return true;
    }
    if (!below_->start_read(arrived_.get(), kArrived, below_read_)) return false;
    const Io io = take_in(below_read_.result);
    if (io != Io::ok) {
      reading_->result = {io, 0};
      return true;
    }
  }
}

bool TlsStream::start_write(const Parts& parts, IoOp& op) {
  ACE_CHECK(writing_ == nullptr, "two writes at a time");
  left_ = parts;
  op.result = {};
  writing_ = &op;
  if (!write_more()) return false;
  writing_ = nullptr;
  return true;
}

/// @return whether the write is over, its result in writing_
bool TlsStream::write_more() {
  std::string record;
  for (;;) {
    while (BIO_ctrl_pending(out_) < kFlush) {
      record.clear();
      for (std::string_view& part : left_) {
        const std::size_t size = std::min(part.size(), kRecord - record.size());
        record += part.substr(0, size);
        part.remove_prefix(size);
      }
      if (record.empty()) break;
      ERR_clear_error();
      if (SSL_write(ssl_, record.data(), static_cast<int>(record.size())) != static_cast<int>(record.size())) {
        writing_->result.status = Io::failed;
        return true;
      }
      writing_->result.bytes += record.size();
    }
    if (!take_out()) return true;
    if (!below_->start_write(Parts{leaving_}, below_write_)) return false;
    if (below_write_.result.status != Io::ok) {
      writing_->result.status = below_write_.result.status;
      return true;
    }
  }
}

}  // namespace ace::net
