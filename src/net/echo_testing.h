#pragma once
/// A handler with one path for each way to answer.
#include <atomic>
#include <mutex>
#include <vector>

#include "net/exchange.h"
#include "net/write_head.h"

namespace ace::net {

struct EchoHandler : Handler {
  std::atomic<int> served = 0, gone = 0, bad_bodies = 0, waiting = 0;
  std::atomic<std::size_t> written = 0;
  std::mutex mutex;
  std::vector<Fault> faults;

  void rejected(Fault fault) override {
    const std::lock_guard lock(mutex);
    faults.push_back(fault);
  }
  std::vector<Fault> rejected_so_far() {
    const std::lock_guard lock(mutex);
    return faults;
  }

  Task<> serve(Exchange& exchange) override {
    ++served;
    const std::string_view path = exchange.head().path();
    if (path == "/echo") {
      const Exchange::Body body = co_await exchange.read_body();
      if (body.ok()) {
        (void)co_await exchange.respond(200, "Content-Type: text/plain\r\n", body.bytes);
      } else {
        ++bad_bodies;
        if (body.io == Io::ok) (void)co_await exchange.refuse(body.fault);
      }
    } else if (path == "/stream") {
      (void)co_await exchange.begin(200, "Content-Type: text/event-stream\r\n", std::nullopt);
      for (const char* piece : {"data: a\n\n", "data: b\n\n"}) (void)co_await exchange.write(piece);
      (void)co_await exchange.end();
    } else if (path == "/counted" || path == "/short") {
      (void)co_await exchange.begin(200, "", path == "/counted" ? 8 : 9);
      for (const char* piece : {"half", "half"}) (void)co_await exchange.write(piece);
      (void)co_await exchange.end();
    } else if (path == "/cut") {
      (void)co_await exchange.begin(200, "", std::nullopt);
      (void)co_await exchange.write("half");
    } else if (path == "/raw") {
      (void)co_await exchange.write_raw("HTTP/1.1 200 OK\r\nContent-Le");
    } else if (path == "/raw_tail") {
      (void)co_await exchange.begin(200, "", 4);
      (void)co_await exchange.write("half");
      (void)co_await exchange.write_raw("HTTP/1.1 200 OK\r\n");
    } else if (path == "/endless") {
      const std::string piece(64 * 1024, 'x');
      (void)co_await exchange.begin(200, "", std::nullopt);
      for (;;) {
        const Io io = co_await exchange.write(piece);
        if (io != Io::ok) break;
        written += piece.size();
      }
      ++gone;
    } else if (path == "/wait") {
      bool left = false;
      ++waiting;
      const Cancel::Subscription subscription(exchange.gone(), [&] { left = true; });
      while (!left) co_await exchange.loop().sleep(std::chrono::milliseconds(5));
      ++gone;
    } else if (path == "/slow") {
      co_await exchange.loop().sleep(std::chrono::milliseconds(100));
      (void)co_await exchange.respond(200, "", "late");
    } else if (path == "/early") {
      (void)co_await exchange.respond(404, "", "no");
    }
  }
};

}  // namespace ace::net
