#pragma once
/// The time of day for whoever writes the spine.
#include <functional>

#include "core/time.h"

namespace ace {

/// The wall clock, but never backwards and never standing still: where it is set back, time goes on at the pace of the
/// monotonic clock until the wall has caught up. So what is written later is not labelled earlier, and whoever waits
/// for five milliseconds waits that long, whatever somebody does to the wall.
class WallClock : public Clock {
 public:
  WallClock();  ///< of this machine
  /// @param wall since 1970 @param steady since whenever, never backwards
  WallClock(std::function<Duration()> wall, std::function<Duration()> steady);
  Instant now() override;

 private:
  std::function<Duration()> wall_, steady_;
  Duration latest_, steady_then_;
};

}  // namespace ace
