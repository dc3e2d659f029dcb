#include "net/pool.h"

#include <algorithm>
#include <asio/ip/tcp.hpp>

#include "net/socket.h"
#include "net/tls.h"

namespace ace::net {
namespace {

/// Goes on after what is running now has returned.
struct Yield {
  Loop& loop;
  [[nodiscard]] bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waiting) const {
    loop.post([waiting] { waiting.resume(); });
  }
  void await_resume() const {}
};

struct Connect {
  TcpSocket& socket;
  asio::ip::tcp::endpoint endpoint;
  asio::error_code error{};
  [[nodiscard]] bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    socket.async_connect(endpoint, [this, waiting](const asio::error_code& e) {
      error = e;
      waiting.resume();
    });
  }
  asio::error_code await_resume() const { return error; }
};

asio::ip::address address_of(const Ip& ip) {
  if (ip.v6) return asio::ip::address_v6(ip.bytes);
  return asio::ip::address_v4({ip.bytes[0], ip.bytes[1], ip.bytes[2], ip.bytes[3]});
}

}  // namespace

Detached bury(std::unique_ptr<Link> link) {
  const std::shared_ptr<Pool> pool = link->pool;
  Loop& loop = link->stream->loop();
  link->inbox.unwatch();
  link->stream->close();
  co_await Yield{loop};
  while (link->inbox.reading()) (void)co_await link->inbox.fill();
  co_await Yield{loop};
  link.reset();
  pool->closed();
}

/// One who waits for a connection.
struct Pool::Turn {
  Loop& loop;
  std::coroutine_handle<> handle{};
  bool woken = false;
  [[nodiscard]] bool await_ready() const { return woken; }
  void await_suspend(std::coroutine_handle<> waiting) { handle = waiting; }
  void await_resume() const {}
  void wake() {
    if (std::exchange(woken, true) || !handle) return;
    loop.post([h = handle] { h.resume(); });
  }
};

Pool::Pool(Loop& loop, Origin origin, const ClientOptions& options, Resolver& resolver)
    : loop_(&loop), origin_(std::move(origin)), options_(&options), resolver_(&resolver) {}

/// A name that turns to this machine or to a private network is an attack unless the operator meant it.
bool Pool::allows(const Ip& ip) const {
  switch (reach_of(ip)) {
    case Reach::open:
      return true;
    case Reach::local: {
      const std::optional<Ip> literal = parse_ip(origin_.host);
      return origin_.host == "localhost" || (literal && reach_of(*literal) == Reach::local);
    }
    case Reach::private_range:
      return origin_.allow_private;
    case Reach::forbidden:
      return origin_.metadata && ip == *parse_ip("169.254.169.254");
  }
  return false;
}

Task<Pool::Got> Pool::acquire(Steady deadline, Cancel& cancel) {
  while (!cancel.cancelled()) {
    if (std::unique_ptr<Link> link = take_kept()) co_return Got{std::move(link)};
    if (open_ < options_->connections) {
      ++open_;
      Got got = co_await connect(std::min(deadline, loop_->now() + options_->connect_time), cancel);
      if (got.fault != SendFault::none) closed();
      co_return got;
    }
    if (waiting_.size() >= options_->waiting) co_return Got{nullptr, SendFault::overloaded};
    if (loop_->now() >= deadline) co_return Got{nullptr, SendFault::deadline};
    Turn turn{*loop_};
    const auto place = waiting_.insert(waiting_.end(), &turn);
    {
      Timer timer([&turn] { turn.wake(); });
      loop_->arm(timer, deadline);
      const Cancel::Subscription subscription(cancel, [&turn] { turn.wake(); });
      co_await turn;
    }
    waiting_.erase(place);
  }
  wake();  // it may have been our turn
  co_return Got{nullptr, SendFault::cancelled};
}

Task<Pool::Got> Pool::connect(Steady deadline, Cancel& cancel) {
  const std::vector<Ip> found = co_await resolver_->resolve(origin_.host, deadline);
  if (cancel.cancelled()) co_return Got{nullptr, SendFault::cancelled};
  if (found.empty())
    co_return Got{nullptr, loop_->now() >= deadline ? SendFault::connect_timeout : SendFault::unresolved};
  if (origin_.tls && !options_->tls) co_return Got{nullptr, SendFault::tls};
  SendFault fault = SendFault::forbidden;
  for (const Ip& ip : found) {
    if (!allows(ip)) continue;  // checked on the address that is then connected to
    TcpSocket socket(loop_->core().io);
    asio::error_code error;
    {
      bool timed_out = false;
      const auto give_up = [&socket] {
        asio::error_code ignored;
        socket.close(ignored);
      };
      Timer timer([&] {
        timed_out = true;
        give_up();
      });
      loop_->arm(timer, deadline);
      const Cancel::Subscription subscription(cancel, give_up);
      error = co_await Connect{socket, {address_of(ip), origin_.port}};
      if (cancel.cancelled()) co_return Got{nullptr, SendFault::cancelled};
      if (timed_out) co_return Got{nullptr, SendFault::connect_timeout};
    }
    fault = SendFault::refused;
    if (error) continue;
    std::unique_ptr<Stream> stream = std::make_unique<Socket>(*loop_, std::move(socket));
    if (origin_.tls) {
      stream->set_read_deadline(deadline);
      Stream* below = stream.get();
      Io io = Io::ok;
      {
        const Cancel::Subscription subscription(cancel, [below] { below->close(); });
        io = co_await options_->tls->connect(stream, origin_.host);
      }
      stream->set_read_deadline(kNever);
      if (io != Io::ok) {
        stream->close();
        co_return Got{nullptr, io == Io::timed_out   ? SendFault::connect_timeout
                               : io == Io::cancelled ? SendFault::cancelled
                                                     : SendFault::tls};
      }
    }
    co_return Got{std::make_unique<Link>(shared_from_this(), std::move(stream), *options_)};
  }
  co_return Got{nullptr, fault};
}

std::unique_ptr<Link> Pool::take_kept() {
  while (!kept_.empty()) {
    std::unique_ptr<Link> link = std::move(kept_.back());
    kept_.pop_back();
    link->inbox.unwatch();
    link->idle->disarm();
    // Bytes that nobody asked for belong to no request of ours.
    if (link->inbox.end() == Io::ok && link->inbox.bytes().empty()) return link;
    bury(std::move(link));
  }
  return nullptr;
}

void Pool::keep(std::unique_ptr<Link> link) {
  Link* kept = link.get();
  kept->used_before = true;
  if (!kept->idle) kept->idle = std::make_unique<Timer>([this, kept] { drop_kept(kept); });
  loop_->arm(*kept->idle, loop_->now() + options_->idle_time);
  kept->stream->set_read_deadline(kNever);
  kept_.push_back(std::move(link));
  kept->inbox.watch([this, kept] { drop_kept(kept); });
  wake();
}

void Pool::drop_kept(Link* link) {
  const auto at = std::find_if(kept_.begin(), kept_.end(), [&](const auto& k) { return k.get() == link; });
  if (at == kept_.end()) return;
  std::unique_ptr<Link> dropped = std::move(*at);
  kept_.erase(at);
  bury(std::move(dropped));
}

void Pool::close_kept() {
  while (!kept_.empty()) drop_kept(kept_.back().get());
}

void Pool::closed() {
  --open_;
  wake();
}

void Pool::wake() {
  for (Turn* turn : waiting_) {
    if (turn->woken) continue;
    turn->wake();
    return;
  }
}

}  // namespace ace::net
