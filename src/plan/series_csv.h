#pragma once
/// Series from CSV: one row per instant, one column per series, or one row per instant and series.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "plan/series.h"
#include "trace/numbers.h"

namespace ace {

struct SeriesFormat {
  std::string time;                  ///< column of the instants; empty = the first one
  std::vector<std::string> values;   ///< columns to read; empty = every other one that holds numbers
  std::string name;                  ///< column that names a row's series; empty = each column of values is one
  std::shared_ptr<const Zone> zone;  ///< of times without one; null makes them an error
  Duration step{0};                  ///< 0 = the commonest distance between two rows
  char delimiter = ',';
};

/// Series in order of their columns, then of first appearance. An empty cell, "NaN", "NA" and "null" are gaps, and so
/// is an instant that has no row. A civil time that a clock put back shows twice is read as the two instants it was.
///
/// @return bad_input naming the line: an instant that goes back or stands twice, one between two steps, a value that is
///         no finite number; out_of_range if the series would have more than 10 million steps
Result<std::vector<Series>> series_from_csv(std::string_view text, const SeriesFormat& format = {});

}  // namespace ace
