#include "adapters/wall_clock.h"

#include <algorithm>
#include <chrono>

namespace ace {
namespace {

template <class SomeClock>
Duration since_epoch() {
  return std::chrono::duration_cast<Duration>(SomeClock::now().time_since_epoch());
}

}  // namespace

WallClock::WallClock() : WallClock(since_epoch<std::chrono::system_clock>, since_epoch<std::chrono::steady_clock>) {}

WallClock::WallClock(std::function<Duration()> wall, std::function<Duration()> steady)
    : wall_(std::move(wall)), steady_(std::move(steady)), latest_(wall_()), steady_then_(steady_()) {}

Instant WallClock::now() {
  const Duration steady = steady_();
  latest_ = std::max(latest_ + (steady - steady_then_), wall_());
  steady_then_ = steady;
  return instant(latest_.count());
}

}  // namespace ace
