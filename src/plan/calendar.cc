#include "plan/calendar.h"

#include <algorithm>

namespace ace {

Calendar::Calendar(Instant start, Duration step, std::size_t steps, const Zone* zone)
    : start_(start), step_(step), day_(step > kDay ? 0 : static_cast<std::size_t>(kDay / step)) {
  const auto offset_at = [&](std::size_t i) {
    const Instant at = start + static_cast<std::int64_t>(i) * step;
    return zone == nullptr ? 0 : static_cast<std::int32_t>(zone->offset_at(at) / kSecond);
  };
  // Zones change a few times a year: an hour with equal offsets at both ends has none between.
  const std::size_t leap = std::max<std::size_t>(1, static_cast<std::size_t>(kHour / step));
  offset_s_.push_back(offset_at(0));
  for (std::size_t from = 0; from + 1 < steps; from += leap) {
    const std::size_t to = std::min(from + leap, steps - 1);
    const std::int32_t before = offset_s_.back(), after = offset_at(to);
    if (before == after && changes_.empty()) continue;
    offset_s_.resize(from + 1, before);
    for (std::size_t i = from + 1; i <= to; ++i) offset_s_.push_back(before == after ? after : offset_at(i));
    for (std::size_t i = from + 1; i <= to; ++i)
      if (offset_s_[i] != offset_s_[i - 1]) changes_.push_back(i);
  }
}

std::int64_t Calendar::civil_nanos(std::size_t i) const {
  const std::int32_t offset = offset_s_[std::min(i, offset_s_.size() - 1)];
  return nanos(start_ + static_cast<std::int64_t>(i) * step_) + offset * nanos(kSecond);
}

std::size_t Calendar::slot(std::size_t i) const {
  if (day_ == 0) return 0;
  const std::int64_t civil = civil_nanos(i);
  const std::int64_t in_day = civil - floor_div(civil, nanos(kDay)) * nanos(kDay);
  return std::min(static_cast<std::size_t>(in_day / nanos(step_)), day_ - 1);
}

unsigned Calendar::weekday(std::size_t i) const {
  const std::int64_t day = floor_div(civil_nanos(i), nanos(kDay)) + 3;  // 1970-01-01 was a Thursday
  return static_cast<unsigned>(day - 7 * floor_div(day, 7));
}

std::int64_t Calendar::same_time(std::size_t i, std::size_t back) const {
  const auto there = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(back);
  const std::size_t last = offset_s_.size() - 1;
  const std::int32_t now = offset_s_[std::min(i, last)];
  const std::int32_t then = offset_s_[std::min(static_cast<std::size_t>(std::max<std::int64_t>(there, 0)), last)];
  return there + (now - then) * nanos(kSecond) / nanos(step_);
}

}  // namespace ace
