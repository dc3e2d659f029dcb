#pragma once
/// What a series holds that a forecaster has to step around, and the series without it.
#include <cstddef>
#include <string>
#include <vector>

#include "plan/calendar.h"
#include "plan/series.h"

namespace ace {

/// A value far from what the values before it let expect.
struct Outlier {
  Instant at{};
  double value = 0.0, expected = 0.0;
};

/// From here on the series lives at another level.
struct LevelShift {
  Instant at{};
  double before = 0.0, after = 0.0;  ///< medians of the days on both sides
};

struct SeriesFindings {
  std::size_t steps = 0, gaps = 0, longest_gap = 0;  ///< in steps
  std::size_t negative = 0;                          ///< values below zero
  bool constant = false;
  std::vector<Instant> clock_changes;
  std::vector<Outlier> outliers;
  std::vector<LevelShift> shifts;
  std::vector<std::string> notes;  ///< what else was done about the series, as sentences
};

/// A series that a model may learn from: every step has a finite value, and that at step i follows from values up to i
/// alone, so that a backtest on it sees no future.
struct Clean {
  std::vector<double> values;  ///< gaps filled, outliers pulled in
  SeriesFindings findings;
};

/// A gap takes the value of the same civil time a week before (a day, where there is no week), moved to the level of
/// now; leading gaps take the first value. A value eight times further from what was expected than values usually are
/// is an outlier, and only a usual surprise is left of it; until a quarter of a day (six steps) in a row lie on the
/// same side: then the level has shifted, and they are believed. Before a first week is over nothing is called an
/// outlier. Source: after Gelper, Fried & Croux 2010, Robust forecasting with exponential and Holt-Winters smoothing,
/// J. Forecasting 29. @param series at least one value is no gap
Clean clean(const Series& series, const Calendar& calendar);

}  // namespace ace
