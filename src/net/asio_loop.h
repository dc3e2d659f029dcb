#pragma once
/// What is behind Loop; included by the few files that touch the library.
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "net/loop.h"

namespace ace::net {

struct Loop::Core {
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  asio::steady_timer tick{io};
  TimerWheel wheel{std::chrono::milliseconds{8}, 1024, std::chrono::steady_clock::now()};
  Steady now{};
  Instant utc{};
  bool now_fresh = false, utc_fresh = false, ticking = false, stopped = false;
};

}  // namespace ace::net
