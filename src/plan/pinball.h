#pragma once
/// How good a quantile was, and the quantile of a sample.
#include <algorithm>
#include <cstddef>
#include <span>

namespace ace {

/// Loss of saying `quantile` for level `q` when `value` came: its mean is least at the true quantile.
/// Source: Koenker & Bassett 1978. @param q in (0, 1)
inline double pinball(double q, double quantile, double value) {
  return value >= quantile ? q * (value - quantile) : (1.0 - q) * (quantile - value);
}

/// Quantile of a sorted sample, linear between the points at (i + 0.5) / n (Hazen), its ends beyond the first and last.
/// @param sorted not empty
inline double quantile_of(std::span<const double> sorted, double q) {
  const double at = q * static_cast<double>(sorted.size()) - 0.5;
  if (!(at > 0.0)) return sorted.front();
  const auto low = static_cast<std::size_t>(at);
  if (low + 1 >= sorted.size()) return sorted.back();
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[low + 1] - sorted[low]);
}

}  // namespace ace
