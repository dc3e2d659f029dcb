#pragma once
/// An HTTP/1.1 server on one loop. Several loops listen on one port by SO_REUSEPORT; the kernel spreads connections.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/result.h"
#include "net/exchange.h"

namespace ace::net {

class TlsServer;

/// All are bounds on what one peer may cost; zero is not "none".
struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any free one
  Limits limits = kRequestLimits;
  std::chrono::nanoseconds head_time = std::chrono::seconds{10};  ///< for a whole head (and the TLS handshake)
  std::chrono::nanoseconds body_grace = std::chrono::seconds{5};  ///< before body_rate is asked for
  std::uint64_t body_rate = 1024;                                 ///< bytes per second that a body must keep
  std::chrono::nanoseconds idle_time = std::chrono::seconds{60};  ///< between requests
  std::chrono::nanoseconds write_stall = std::chrono::seconds{30};
  std::chrono::nanoseconds accept_pause = std::chrono::milliseconds{100};  ///< when descriptors run out
  std::size_t connections = 10'000;                                        ///< more wait in the kernel's queue
  std::shared_ptr<TlsServer> tls{};                                        ///< null: plain
};

class Server {
 public:
  /// @param loop, handler outlive the server
  Server(Loop& loop, ServerOptions options, Handler& handler);
  /// Not while connections are open: drain first, and let the loop run until done.
  ~Server();

  /// @return the port; unavailable if the address cannot be bound
  Result<std::uint16_t> listen();

  /// Stops accepting. Idle connections close at once, busy ones with their answer, whatever is left after `limit` is
  /// cut.
  /// @param done called when no connection is left
  void drain(std::chrono::nanoseconds limit, std::function<void()> done);

  [[nodiscard]] std::size_t connections() const;
  /// How often accepting paused because no descriptor was left.
  [[nodiscard]] std::uint64_t accept_pauses() const;

  struct State;

 private:
  std::shared_ptr<State> state_;  ///< shared with an accept that is under way
};

}  // namespace ace::net
