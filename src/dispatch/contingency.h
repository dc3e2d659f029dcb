#pragma once
/// Headroom against losing the largest single destination.
#include <span>

namespace ace {

/// One destination as a model's contingency sees it, in tokens per second.
struct Room {
  double load = 0.0;  ///< what it serves now
  double free = 0.0;  ///< under its knee or inside its quota; 0 if it is not feasible, infinite if it has no quota
};

/// Least over the loaded destinations of: free room at all others / its load. Losing one loses its free room too, so
/// that does not count. Below 1 the loss could not be absorbed. Infinite without load.
double contingency_of(std::span<const Room> rooms);

}  // namespace ace
