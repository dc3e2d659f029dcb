#pragma once
/// Many deadlines that are set often and expire seldom: a wheel of coarse ticks, so that setting one costs a store and
/// no system call (a timer of the kernel or a heap for each read costs more than the read). Pure: time is handed in.
#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace ace::net {

/// Monotonic time of this machine, for deadlines alone.
using Steady = std::chrono::steady_clock::time_point;
inline constexpr Steady kNever = Steady::max();

class TimerWheel;

/// A deadline with what to do then. Leaves its wheel when destroyed; must not outlive it.
class Timer {
 public:
  explicit Timer(std::function<void()> on_expiry) : on_expiry_(std::move(on_expiry)) {}
  ~Timer() { unlink(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  [[nodiscard]] Steady deadline() const { return deadline_; }
  void disarm() { deadline_ = kNever; }  ///< stays in its slot until the hand passes

 private:
  friend class TimerWheel;
  Timer() = default;
  void unlink();
  void link_after(Timer& head);

  Timer* previous_ = nullptr;
  Timer* next_ = nullptr;
  Steady deadline_ = kNever;
  Steady slot_time_ = kNever;  ///< when the hand next passes this timer's slot
  std::function<void()> on_expiry_;
};

class TimerWheel {
 public:
  /// @param tick  how late a deadline may be noticed  @param slots  ticks of one turn
  TimerWheel(std::chrono::nanoseconds tick, std::size_t slots, Steady now);
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  /// Sets a deadline in place of the one before. A later one costs a store. @param deadline kNever disarms
  void arm(Timer& timer, Steady deadline);
  /// Runs what has expired at `now`: never early, at most one tick late. What runs may arm, disarm and destroy timers.
  void advance(Steady now);
  /// Timers in slots, also those that were disarmed since the hand last passed.
  [[nodiscard]] bool empty() const;

 private:
  void place(Timer& timer);

  std::chrono::nanoseconds tick_;
  std::vector<Timer*> slots_;  ///< heads of rings; owned
  Steady hand_;                ///< everything due until here has run
  std::size_t at_ = 0;         ///< slot of the tick that follows the hand

 public:
  ~TimerWheel();
};

}  // namespace ace::net
