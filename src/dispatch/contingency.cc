#include "dispatch/contingency.h"

#include <algorithm>
#include <limits>

namespace ace {

double contingency_of(std::span<const Room> rooms) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t lost = 0; lost < rooms.size(); ++lost) {
    if (rooms[lost].load <= 0.0) continue;
    double free = 0.0;
    for (std::size_t i = 0; i < rooms.size(); ++i)
      if (i != lost) free += rooms[i].free;
    least = std::min(least, free / rooms[lost].load);
  }
  return least;
}

}  // namespace ace
