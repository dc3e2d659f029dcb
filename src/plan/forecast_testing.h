#pragma once
/// Series for tests and benchmarks: a day, a week, a level, noise.
#include <cmath>
#include <string>

#include "core/rng.h"
#include "plan/series.h"

namespace ace::gen {

/// Hourly demand as many see it: low at night, lower at weekends, noise in proportion. From Monday 2026-01-05 UTC.
inline Series demand(Rng& rng, std::size_t steps, double level = 1000.0, double noise = 0.1) {
  constexpr double kDayShape[] = {0.4, 0.35, 0.3, 0.3, 0.35, 0.5, 0.7, 0.9, 1.2, 1.4, 1.5, 1.5,
                                  1.4, 1.5,  1.5, 1.4, 1.3,  1.2, 1.1, 1.0, 0.9, 0.8, 0.6, 0.5};
  Series series{"cell", instant_of({.year = 2026, .month = 1, .day = 5}), kHour, {}};
  double drift = 0.0;
  for (std::size_t i = 0; i < steps; ++i) {
    drift = 0.9 * drift + noise * 0.5 * rng.normal();
    const double weekend = i / 24 % 7 >= 5 ? 0.6 : 1.0;
    series.values.push_back(std::max(0.0, level * kDayShape[i % 24] * weekend * (1.0 + drift + noise * rng.normal())));
  }
  return series;
}

}  // namespace ace::gen
