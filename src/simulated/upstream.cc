#include "simulated/upstream.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/check.h"
#include "net/server.h"

namespace ace::simulated {

struct Upstream::State {
  explicit State(Script script) : provider(std::move(script)) {}

  /// Runs `work(done)` on the loop and waits until it has called done.
  void wait_for(const std::function<void(std::function<void()>)>& work) {
    std::atomic<bool> over = false;
    loop.post([&] {
      work([&over] {
        over = true;
        over.notify_one();
      });
    });
    over.wait(false);
  }
  /// On the loop.
  Result<void> open() {
    if (server) return {};
    ACE_CHECK(!closing, "a provider comes back once its connections are gone");
    net::ServerOptions options;
    options.port = port;
    server = std::make_unique<net::Server>(loop, options, provider);
    const Result<std::uint16_t> bound = server->listen();
    if (!bound) {
      server.reset();
      return bound.error();
    }
    port = *bound;
    return {};
  }
  /// On the loop. @param done  called when no connection is left
  void close(std::function<void()> done) {
    if (server) {
      closing = std::move(server);
      closing->drain(std::chrono::nanoseconds{0}, [this] {
        closing.reset();
        for (const auto& waiting : std::exchange(waiting_for_close, {})) waiting();
      });
    }
    if (!closing) return done();
    waiting_for_close.push_back(std::move(done));
  }

  net::Loop loop;
  Provider provider;
  std::unique_ptr<net::Server> server;   ///< null while connections are refused
  std::unique_ptr<net::Server> closing;  ///< has connections left
  std::vector<std::function<void()>> waiting_for_close;
  std::uint16_t port = 0;
  std::vector<std::unique_ptr<net::Timer>> outages;
  std::thread thread;
};

Upstream::Upstream(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Upstream>> Upstream::start(Script script, std::uint16_t port) {
  std::vector<std::pair<Duration, Duration>> outages;
  for (const Fault& f : script.faults)
    if (f.kind == Fault::Kind::refuse && f.from && f.length) outages.emplace_back(*f.from, *f.length);
  auto state = std::make_unique<State>(std::move(script));
  State& s = *state;
  s.port = port;
  s.thread = std::thread([&s] { s.loop.run(); });
  auto upstream = std::make_unique<Upstream>(std::move(state));
  Result<void> opened;
  s.wait_for([&](const std::function<void()>& done) {
    opened = s.open();
    const net::Steady now = s.loop.now();
    for (const auto& [from, length] : outages) {
      const auto at = [&](Duration when, std::function<void()> what) {
        s.outages.push_back(std::make_unique<net::Timer>(std::move(what)));
        s.loop.arm(*s.outages.back(), now + when);
      };
      at(from, [&s] { s.close([] {}); });
      at(from + length, [&s] { s.close([&s] { (void)s.open(); }); });
    }
    done();
  });
  if (!opened) return opened.error();
  return upstream;
}

Upstream::~Upstream() {
  set_listening(false);
  state_->wait_for([this](const std::function<void()>& done) {
    state_->outages.clear();
    done();
  });
  state_->loop.stop();
  state_->thread.join();
}

std::uint16_t Upstream::port() const { return state_->port; }
Provider& Upstream::provider() { return state_->provider; }

void Upstream::set_listening(bool listening) {
  state_->wait_for([this, listening](const std::function<void()>& done) {
    if (!listening) return state_->close(done);
    if (state_->server) return done();
    state_->close([this, done] {
      ACE_CHECK(state_->open().has_value(), "the port was ours and is taken");
      done();
    });
  });
}

}  // namespace ace::simulated
