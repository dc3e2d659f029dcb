#pragma once
/// An HTTP/1.1 client on one loop, with kept connections to a few destinations that the operator named.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/http.h"
#include "net/loop.h"
#include "net/stream.h"

namespace ace::net {

class TlsClient;

/// Where requests may go: from configuration only, never from a request.
struct Origin {
  std::string host;  ///< a name or a plain address
  std::uint16_t port = 443;
  bool tls = true;
  bool allow_private = false;  ///< addresses of RFC 1918 and their like
  bool metadata = false;       ///< 169.254.169.254, where a cloud tells a machine about itself
  friend auto operator<=>(const Origin&, const Origin&) = default;
};

struct ClientOptions {
  Limits limits = kResponseLimits;
  std::chrono::nanoseconds connect_time = std::chrono::seconds{1};  ///< look-up, connection and TLS handshake
  std::chrono::nanoseconds idle_time = std::chrono::seconds{50};    ///< a kept connection waits so long for work
  std::chrono::nanoseconds write_stall = std::chrono::seconds{30};
  std::size_t connections = 1024;    ///< to one origin
  std::size_t waiting = 100;         ///< requests that wait for one of them; more are refused at once
  std::shared_ptr<TlsClient> tls{};  ///< null: only plain origins can be reached
};

/// Limits of one request. Passing one ends it.
struct Patience {
  std::chrono::nanoseconds first_byte = std::chrono::seconds{30};  ///< of the response, once the request is sent
  std::chrono::nanoseconds next_byte = std::chrono::seconds{15};
  Steady total = kNever;
};

/// What is sent. All views hold until the response's head is there.
struct Outgoing {
  std::string_view method, target;
  std::string_view fields{};  ///< lines made by HeadWriter; Host and what frames the body are added
  std::string_view body{}, body_2{},
      body_3{};  ///< sent one after the other, so that a rewritten body need not be copied
};

enum class SendFault : std::uint8_t {
  none,
  unresolved,  ///< the name has no address
  forbidden,   ///< only addresses that this origin may not have
  refused,     ///< no connection, or no route
  connect_timeout,
  tls,         ///< no trust, wrong name, no common version
  overloaded,  ///< too many wait for a connection already
  reset,       ///< the connection ended inside the message
  first_byte_timeout,
  next_byte_timeout,
  deadline,  ///< Patience::total
  protocol,  ///< the response is not one; see Fault
  cancelled,
};
std::string_view name_of(SendFault fault);

/// A response that is arriving.
class Incoming {
 public:
  virtual ~Incoming() = default;  ///< before the end: closes the connection, which tells the peer to stop
  [[nodiscard]] virtual const ResponseHead& head() const = 0;
  struct Piece {
    std::string_view data;  ///< holds until the next call; empty at the end and with a fault
    SendFault fault = SendFault::none;
    Fault why = Fault::none;
    bool end = false;
  };
  /// What has arrived of the body, as soon as there is any.
  virtual Task<Piece> next() = 0;
};

struct Sent {
  std::unique_ptr<Incoming> response;  ///< null with a fault
  SendFault fault = SendFault::none;
  Fault why = Fault::none;
  bool bytes_sent = false;  ///< the peer may have seen, and begun to work on, the request
};

class Client {
 public:
  /// @param loop outlives the client
  Client(Loop& loop, ClientOptions options);
  /// Not while a request is under way. Kept connections close as the loop runs on.
  ~Client();

  /// Sends the request and waits for the final response's head. Interim responses are dropped, redirects are answers
  /// like any other. A kept connection that turns out to be closed is replaced only while no byte was sent on it.
  /// @param cancel  ends whatever is under way; must outlive the response
  Task<Sent> send(const Origin& origin, const Outgoing& request, const Patience& patience, Cancel& cancel);

  /// Connections to all origins, in use and kept.
  [[nodiscard]] std::size_t connections() const;
  [[nodiscard]] std::size_t kept() const;
  /// Closes what is kept.
  void close_kept();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace ace::net
