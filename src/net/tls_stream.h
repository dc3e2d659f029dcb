#pragma once
/// The Stream that encrypts. Includes OpenSSL: for .cc files of this room.
#include <openssl/ssl.h>

#include "net/stream.h"
#include "net/task.h"

namespace ace::net {

class TlsStream final : public Stream {
 public:
  /// @param ssl owned from now on, with its side (client or server) set
  TlsStream(std::unique_ptr<Stream> below, SSL* ssl);
  ~TlsStream() override;
  /// Once, before anything is read or written.
  Task<Io> handshake();

  bool start_read(char* data, std::size_t size, IoOp& op) override;
  bool start_write(const Parts& parts, IoOp& op) override;
  void set_read_deadline(Steady deadline) override { below_->set_read_deadline(deadline); }
  void set_write_stall(std::chrono::nanoseconds stall) override { below_->set_write_stall(stall); }
  void end_writing() override { below_->end_writing(); }
  void close() override { below_->close(); }

 private:
  bool read_more();
  bool write_more();
  Io take_in(IoResult arrived);
  bool take_out();

  std::unique_ptr<Stream> below_;
  SSL* ssl_;
  BIO *in_, *out_;  ///< owned by ssl_: ciphertext that came, ciphertext to send
  std::unique_ptr<char[]> arrived_;
  std::string leaving_;  ///< ciphertext being written
  IoOp below_read_, below_write_;
  IoOp *reading_ = nullptr, *writing_ = nullptr;
  char* data_ = nullptr;
  std::size_t size_ = 0;
  Parts left_{};
};

}  // namespace ace::net
