#pragma once
/// Civil time along a series, so that "the same time last week" survives the days when clocks change.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/series.h"
#include "trace/numbers.h"

namespace ace {

/// Steps of a series, and of its future, in the civil time of one zone.
class Calendar {
 public:
  /// @param zone null = UTC  @param steps of history and horizon together
  Calendar(Instant start, Duration step, std::size_t steps, const Zone* zone);

  /// Steps in a civil day and week, rounded down; 0 where a step is longer than that.
  [[nodiscard]] std::size_t day() const { return day_; }
  [[nodiscard]] std::size_t week() const { return 7 * day_; }
  /// Position within the civil day, in [0, day()); 0 where there is no day.
  [[nodiscard]] std::size_t slot(std::size_t i) const;
  /// 0 Monday to 6 Sunday, civil.
  [[nodiscard]] unsigned weekday(std::size_t i) const;
  /// The step that showed the same civil time `back` steps of civil time before; may be negative, before the start.
  [[nodiscard]] std::int64_t same_time(std::size_t i, std::size_t back) const;
  /// Steps at which the clocks change.
  [[nodiscard]] const std::vector<std::size_t>& changes() const { return changes_; }

 private:
  [[nodiscard]] std::int64_t civil_nanos(std::size_t i) const;
  Instant start_;
  Duration step_;
  std::size_t day_;
  std::vector<std::int32_t> offset_s_;  ///< by step; one entry if it never changes
  std::vector<std::size_t> changes_;
};

}  // namespace ace
