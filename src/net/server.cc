#include "net/server.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <asio/ip/tcp.hpp>
#include <list>

#include "core/check.h"
#include "net/connection.h"
#include "net/socket.h"
#include "net/tls.h"

namespace ace::net {
namespace {

using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, asio::io_context::executor_type>;

PeerName name_of(const asio::ip::tcp::endpoint& peer) {
  const std::string address = peer.address().to_string();
  return peer.address().is_v6() ? fmt::format("[{}]:{}", address, peer.port())
                                : fmt::format("{}:{}", address, peer.port());
}

}  // namespace

struct Server::State : std::enable_shared_from_this<State> {
  State(Loop& l, ServerOptions o, Handler& h)
      : loop(l), options(std::move(o)), handler(h), acceptor(l.core().io), pause([this] { accept(); }), limit([this] {
          for (Connection* c : open) c->cut();
        }) {}

  void accept();
  void accepted(const asio::error_code& error, TcpSocket socket);
  Detached serve(TcpSocket socket);

  Loop& loop;
  ServerOptions options;
  Handler& handler;
  Acceptor acceptor;
  Timer pause, limit;
  std::list<Connection*> open;  ///< each lives in the frame of its serve()
  std::size_t count = 0;        ///< with those in their TLS handshake
  std::uint64_t pauses = 0;
  bool accepting = false, full = false, draining = false;
  std::function<void()> drained;
};

Server::Server(Loop& loop, ServerOptions options, Handler& handler)
    : state_(std::make_shared<State>(loop, std::move(options), handler)) {}

Server::~Server() {
  ACE_CHECK(state_->count == 0, "a server was dropped with connections open");
  state_->draining = true;
  asio::error_code ignored;
  state_->acceptor.close(ignored);
}

Result<std::uint16_t> Server::listen() {
  State& s = *state_;
  const auto failed = [&](const asio::error_code& error) {
    return Error(Errc::unavailable,
                 fmt::format("listening on {} port {}: {}; is the address one of this machine, and the port free?",
                             s.options.address, s.options.port, error.message()));
  };
  asio::error_code error;
  const asio::ip::address address = asio::ip::make_address(s.options.address, error);
  if (error)
    return Error(Errc::bad_input,
                 fmt::format("listening on \"{}\": expected an IPv4 or IPv6 address", s.options.address));
  const asio::ip::tcp::endpoint endpoint(address, s.options.port);
  if (s.acceptor.open(endpoint.protocol(), error)) return failed(error);
  const int on = 1;
  ::setsockopt(s.acceptor.native_handle(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(s.acceptor.native_handle(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (s.acceptor.bind(endpoint, error) || s.acceptor.listen(1024, error)) return failed(error);
  s.accept();
  return s.acceptor.local_endpoint().port();
}

void Server::State::accept() {
  if (accepting || draining) return;
  full = count >= options.connections;
  if (full) return;  // the next to close goes on accepting
  accepting = true;
  acceptor.async_accept(loop.core().io.get_executor(),
                        [self = shared_from_this()](const asio::error_code& error, TcpSocket socket) {
                          self->accepting = false;
                          self->accepted(error, std::move(socket));
                        });
}

void Server::State::accepted(const asio::error_code& error, TcpSocket socket) {
  if (draining) return;
  if (!error) {
    serve(std::move(socket));
    accept();
    return;
  }
  if (error == asio::error::connection_aborted || error == asio::error::interrupted) {
    accept();
    return;
  }
  // No descriptor or no memory: the peer stays in the queue, and trying again at once would spin.
  ++pauses;
  loop.arm(pause, loop.now() + options.accept_pause);
}

Detached Server::State::serve(TcpSocket socket) {
  ++count;
  asio::error_code error;
  PeerName peer = name_of(socket.remote_endpoint(error));
  std::unique_ptr<Stream> stream = std::make_unique<Socket>(loop, std::move(socket));
  bool good = !error;
  if (good && options.tls) {
    stream->set_read_deadline(loop.now() + options.head_time);
    const Io io = co_await options.tls->accept(stream);
    good = io == Io::ok;
  }
  if (good) {
    Connection connection(std::move(stream), std::move(peer), options, handler);
    const auto place = open.insert(open.end(), &connection);
    if (draining) connection.drain();
    co_await connection.run();
    open.erase(place);
  } else {
    stream->close();
  }
  stream.reset();
  --count;
  if (full) accept();
  if (draining && count == 0 && drained) {
    limit.disarm();
    loop.post(std::exchange(drained, nullptr));
  }
}

void Server::drain(std::chrono::nanoseconds limit, std::function<void()> done) {
  State& s = *state_;
  s.draining = true;
  asio::error_code ignored;
  s.acceptor.close(ignored);
  if (s.count == 0) {
    s.loop.post(std::move(done));
    return;
  }
  s.drained = std::move(done);
  s.loop.arm(s.limit, s.loop.now() + limit);
  // Closing only starts what ends a connection: none leaves the list before this returns.
  for (Connection* c : s.open) c->drain();
}

std::size_t Server::connections() const { return state_->count; }
std::uint64_t Server::accept_pauses() const { return state_->pauses; }

}  // namespace ace::net
