#include "net/resolver.h"

#include <algorithm>
#include <asio/ip/tcp.hpp>
#include <coroutine>

#include "net/asio_loop.h"

namespace ace::net {

struct Resolver::State {
  explicit State(Loop& l) : loop(l), resolver(l.core().io) {}
  Loop& loop;
  asio::ip::basic_resolver<asio::ip::tcp, asio::io_context::executor_type> resolver;
};

namespace {

/// What a look-up that may come too late leaves behind.
struct Pending {
  std::vector<Ip> found;
  std::coroutine_handle<> waiting;
};

struct Wait {
  Loop& loop;
  Steady deadline;
  std::shared_ptr<Pending> pending;
  std::unique_ptr<Timer> timer{};
  [[nodiscard]] bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    pending->waiting = waiting;
    timer = std::make_unique<Timer>([p = pending.get()] { std::exchange(p->waiting, nullptr).resume(); });
    loop.arm(*timer, deadline);
  }
  void await_resume() const {}
};

Ip from(const asio::ip::address& address) {
  Ip ip;
  ip.v6 = address.is_v6();
  if (ip.v6) {
    const auto bytes = address.to_v6().to_bytes();
    std::copy(bytes.begin(), bytes.end(), ip.bytes.begin());
  } else {
    const auto bytes = address.to_v4().to_bytes();
    std::copy(bytes.begin(), bytes.end(), ip.bytes.begin());
  }
  return ip;
}

}  // namespace

Resolver::Resolver(Loop& loop) : state_(std::make_unique<State>(loop)) {}
Resolver::~Resolver() = default;

Task<std::vector<Ip>> Resolver::resolve(const std::string& host, Steady deadline) {
  if (const std::optional<Ip> ip = parse_ip(host)) co_return std::vector<Ip>{*ip};
  auto pending = std::make_shared<Pending>();
  state_->resolver.async_resolve(host, "", [pending](const asio::error_code& error, const auto& results) {
    if (!pending->waiting) return;  // too late
    if (!error) {
      for (const auto& entry : results) pending->found.push_back(from(entry.endpoint().address()));
    }
    std::exchange(pending->waiting, nullptr).resume();
  });
  Wait wait{state_->loop, deadline, pending};
  co_await wait;
  co_return std::move(pending->found);
}

}  // namespace ace::net
