#pragma once
/// Waiting on a loop for whatever another thread brings about, with a deadline.
#include <coroutine>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "net/loop.h"

namespace ace::gateway {

/// One waits, any number ring, from any thread and also before it waits or after it and its loop have gone.
class Bell {
 public:
  explicit Bell(net::Loop& loop) : state_(std::make_shared<State>(loop)) {}
  ~Bell() {
    state_->waiting = nullptr;
    const std::scoped_lock lock(state_->ringing);
    state_->gone = true;
  }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  /// What rings it; may be kept for longer than the bell, as by a spine that never came to commit.
  [[nodiscard]] std::function<void()> ringer() const {
    return [state = state_] {
      const std::scoped_lock lock(state->ringing);
      if (state->gone || std::exchange(state->rung, true)) return;  // it has not been heard yet
      state->loop.post([state] { state->hear(); });
    };
  }

  struct State {
    explicit State(net::Loop& l) : loop(l) {}
    void hear() {
      {
        const std::scoped_lock lock(ringing);
        rung = false;
      }
      if (const auto resumed = std::exchange(waiting, nullptr)) resumed.resume();
    }
    net::Loop& loop;
    std::mutex ringing;  ///< of the two that follow; the loop is there as long as it has not gone
    bool rung = false, gone = false;
    std::coroutine_handle<> waiting;  ///< the loop's thread alone
  };
  struct Wait {
    std::shared_ptr<State> state;
    net::Steady deadline;
    std::unique_ptr<net::Timer> timer{};
    [[nodiscard]] bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiting);
    void await_resume() const {}
  };
  /// Awaitable: until it rings or the deadline has passed.
  Wait until(net::Steady deadline) { return {state_, deadline}; }

 private:
  std::shared_ptr<State> state_;
};

inline void Bell::Wait::await_suspend(std::coroutine_handle<> waiting) {
  state->waiting = waiting;
  timer = std::make_unique<net::Timer>([s = state.get()] {
    if (const auto resumed = std::exchange(s->waiting, nullptr)) resumed.resume();
  });
  state->loop.arm(*timer, deadline);
}

}  // namespace ace::gateway
