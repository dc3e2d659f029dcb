#pragma once
/// For tests on loopback: a server on a loop of its own thread, and peers that do exactly what they are told.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "core/check.h"
#include "net/server.h"

namespace ace::net {

/// Descriptors that this process has open.
inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

/// Waits until something holds that another thread brings about. @return whether it came to hold within 5 s
inline bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 5000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// A socket that blocks, used as bluntly as a peer may.
class Peer {
 public:
  explicit Peer(int descriptor) : descriptor_(descriptor) {}
  static Peer connect(std::uint16_t port, int receive_buffer = 0) {
    const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer > 0) ::setsockopt(s, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (s >= 0 && ::connect(s, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
      ::close(s);
      return Peer(-1);
    }
    return Peer(s);
  }
  Peer(Peer&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Peer& operator=(Peer&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Peer() { close(); }

  [[nodiscard]] bool good() const { return descriptor_ >= 0; }
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// What comes until `enough` says so, the peer closes or 5 s have passed.
  std::string receive(const std::function<bool(std::string_view)>& enough) const {
    std::string got;
    char buffer[4096];
    for (;;) {
      if (enough(got)) return got;
      pollfd ready{descriptor_, POLLIN, 0};
      if (::poll(&ready, 1, 5000) <= 0) return got + "<nothing for 5 s>";
      const ssize_t size = ::recv(descriptor_, buffer, sizeof buffer, 0);
      if (size == 0) return got;
      if (size < 0) return got + "<reset>";
      got.append(buffer, static_cast<std::size_t>(size));
    }
  }
  [[nodiscard]] std::string receive_all() const {
    return receive([](std::string_view) { return false; });
  }
  [[nodiscard]] std::string receive_until(std::string_view text) const {
    return receive([text](std::string_view got) { return got.find(text) != std::string_view::npos; });
  }
  void end_writing() const { ::shutdown(descriptor_, SHUT_WR); }
  /// Closes with a reset.
  void reset() {
    const linger hard{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

/// A listening socket that does only what the test says.
class Trap {
 public:
  Trap() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    ACE_CHECK(::bind(descriptor_, reinterpret_cast<sockaddr*>(&at), size) == 0, "bind");
    ACE_CHECK(::listen(descriptor_, 16) == 0, "listen");
    ACE_CHECK(::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&at), &size) == 0, "getsockname");
    port = ntohs(at.sin_port);
  }
  ~Trap() { close(); }
  Trap(const Trap&) = delete;
  Trap& operator=(const Trap&) = delete;
  /// The next connection; not good() if none comes within 5 s.
  [[nodiscard]] Peer accept() const {
    pollfd ready{descriptor_, POLLIN, 0};
    if (::poll(&ready, 1, 5000) <= 0) return Peer(-1);
    return Peer(::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC));
  }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  std::uint16_t port = 0;

 private:
  int descriptor_;
};

/// A loop that runs on its own thread until it is destroyed.
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop.run(); }) {}
  ~LoopThread() {
    loop.stop();
    thread_.join();
  }
  /// Runs `work` on the loop and waits for it.
  void run(const std::function<void()>& work) {
    std::atomic<bool> done = false;
    loop.post([&] {
      work();
      done = true;
      done.notify_one();
    });
    done.wait(false);
  }
  /// Runs a task on the loop and waits for its end.
  void wait_for(const std::function<Task<>()>& task) {
    std::atomic<bool> done = false;
    loop.post([&] { start(task, done); });
    done.wait(false);
  }
  Loop loop;

 private:
  static Detached start(const std::function<Task<>()>& task, std::atomic<bool>& done) {
    co_await task();
    done = true;
    done.notify_one();
  }
  std::thread thread_;
};

/// A server on loopback; drains when it goes.
class TestServer {
 public:
  TestServer(Handler& handler, ServerOptions options = {}) {
    thread.run([&] {
      server = std::make_unique<Server>(thread.loop, options, handler);
      port = server->listen().value();
    });
  }
  ~TestServer() {
    std::atomic<bool> drained = false;
    thread.run([&] {
      server->drain(std::chrono::milliseconds(50), [&] {
        drained = true;
        drained.notify_one();
      });
    });
    drained.wait(false);
    thread.run([&] { server.reset(); });
  }
  std::size_t connections() {
    std::size_t n = 0;
    thread.run([&] { n = server->connections(); });
    return n;
  }
  std::uint16_t port = 0;
  LoopThread thread;
  std::unique_ptr<Server> server;
};

}  // namespace ace::net
