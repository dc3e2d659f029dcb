#pragma once
/// TLS 1.2 and 1.3 over a Stream, by OpenSSL. Certificates are always verified; there is no setting that skips it.
#include <memory>
#include <string>

#include "core/result.h"
#include "net/stream.h"
#include "net/task.h"

namespace ace::net {

/// Our side of connections that we accept. Shared by the connections of one loop.
class TlsServer {
 public:
  /// @param certificate, key  PEM files; the certificate with its chain
  /// @return bad_input naming the file and what OpenSSL says of it
  static Result<std::shared_ptr<TlsServer>> load(const std::string& certificate, const std::string& key);
  ~TlsServer();
  /// Puts TLS around the stream and shakes hands, within the stream's read deadline.
  /// @return ok, or why it failed; the stream is then to be closed
  Task<Io> accept(std::unique_ptr<Stream>& stream);

  struct State;
  explicit TlsServer(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

/// Our side of connections that we open. One for each loop: it keeps a session of each host for the next connection.
class TlsClient {
 public:
  /// @param authorities  PEM file of those to trust in place of the system's; empty for the system's
  static Result<std::shared_ptr<TlsClient>> create(const std::string& authorities = {});
  ~TlsClient();
  /// The same for an outgoing stream. @param host the name or address that the certificate must be for
  Task<Io> connect(std::unique_ptr<Stream>& stream, const std::string& host);
  /// Connections that resumed a session.
  [[nodiscard]] std::uint64_t resumed() const;

  struct State;
  explicit TlsClient(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace ace::net
