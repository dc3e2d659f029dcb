#pragma once
/// One thread's event loop. A process runs one per core; nothing of one loop is touched by another thread but stop()
/// and post().
#include <coroutine>
#include <functional>
#include <memory>

#include "core/time.h"
#include "net/task.h"
#include "net/timer_wheel.h"

namespace ace::net {

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Runs until stop(). @return when stopped; may be called again
  void run();
  /// From any thread, also before run().
  void stop();
  /// Runs `work` on the loop's thread, later. From any thread.
  void post(std::function<void()> work);

  /// The time of the event at hand: the clock is read at most once for each.
  Steady now();
  /// The same as time of day.
  Instant utc();

  void arm(Timer& timer, Steady deadline);

  /// Awaitable pause.
  struct Sleep {
    Loop& loop;
    Steady deadline;
    std::unique_ptr<Timer> timer{};
    [[nodiscard]] bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
      timer = std::make_unique<Timer>([waiting] { waiting.resume(); });
      loop.arm(*timer, deadline);
    }
    void await_resume() const {}
  };
  Sleep sleep(std::chrono::nanoseconds length) { return {*this, now() + length}; }

  /// For this room alone: the library behind the loop.
  struct Core;
  Core& core() { return *core_; }

 private:
  void start_tick();
  std::unique_ptr<Core> core_;
};

/// Says once that something is no longer wanted, to whoever subscribed.
class Cancel {
 public:
  /// A subscriber for as long as it lives; told at once if it is too late already.
  class Subscription {
   public:
    Subscription(Cancel& cancel, std::function<void()> on_cancel);
    ~Subscription();
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

   private:
    friend class Cancel;
    Cancel& cancel_;
    Subscription *previous_ = nullptr, *next_ = nullptr;
    std::function<void()> on_cancel_;
  };
  Cancel() = default;
  Cancel(const Cancel&) = delete;
  Cancel& operator=(const Cancel&) = delete;
  void cancel();
  [[nodiscard]] bool cancelled() const { return cancelled_; }

 private:
  Subscription* first_ = nullptr;
  bool cancelled_ = false;
};

}  // namespace ace::net
