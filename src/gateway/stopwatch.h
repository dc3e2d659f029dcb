#pragma once
/// Time spent on one thing, waits for others left out.
#include "core/time.h"
#include "net/timer_wheel.h"

namespace ace::gateway {

/// Is told the time. It runs from the beginning; to stop or start it twice is to do it once.
class Stopwatch {
 public:
  explicit Stopwatch(net::Steady now) : since_(now) {}
  void stop(net::Steady now) {
    if (runs_) total_ += now - since_;
    runs_ = false;
  }
  void start(net::Steady now) {
    if (!runs_) since_ = now;
    runs_ = true;
  }
  /// Up to the last stop.
  [[nodiscard]] Duration total() const { return total_; }

 private:
  net::Steady since_;
  Duration total_{0};
  bool runs_ = true;
};

}  // namespace ace::gateway
