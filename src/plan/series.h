#pragma once
/// Demand, prices or availability over time: values at equal steps, with gaps.
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "core/time.h"

namespace ace {

/// What was not observed. Zero is an observation.
inline constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
inline bool is_gap(double value) { return std::isnan(value); }

/// Value i stands for [start + i x step, start + (i + 1) x step).
struct Series {
  std::string name;  ///< of the cell, for messages and reports
  Instant start{};
  Duration step = kHour;       ///< positive
  std::vector<double> values;  ///< finite, or kGap

  [[nodiscard]] Instant at(std::size_t i) const { return start + static_cast<std::int64_t>(i) * step; }
  [[nodiscard]] Instant end() const { return at(values.size()); }
};

}  // namespace ace
