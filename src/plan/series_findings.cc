#include "plan/series_findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace ace {
namespace {

constexpr double kOutlier = 8.0;        ///< mean absolute surprises; 0.01% of normal ones lie beyond 6.4 deviations
constexpr std::size_t kWarmUp = 20;     ///< surprises before any is called large
constexpr std::size_t kShiftLeast = 6;  ///< steps on one side that make a shift, at least

double median(std::span<const double> values) {
  std::vector<double> finite;
  for (const double v : values)
    if (!is_gap(v)) finite.push_back(v);
  if (finite.empty()) return kGap;
  const auto middle = finite.begin() + static_cast<std::ptrdiff_t>(finite.size() / 2);
  std::nth_element(finite.begin(), middle, finite.end());
  return *middle;
}

class Cleaner {
 public:
  Cleaner(const Series& series, const Calendar& calendar)
      : series_(series),
        calendar_(calendar),
        memory_(std::max<std::size_t>(kShiftLeast, calendar.day() / 4)),
        warm_up_(calendar.day() > 1 ? calendar.week() : 0) {}

  Clean run() {
    for (std::size_t i = 0; i < series_.values.size(); ++i) step(i);
    return std::move(clean_);
  }

 private:
  void step(std::size_t i);
  void shifted(std::size_t i);
  [[nodiscard]] std::optional<std::size_t> like(std::size_t i) const;

  const Series& series_;
  const Calendar& calendar_;
  std::size_t memory_;   ///< steps in which the level follows, and after which a shift is believed
  std::size_t warm_up_;  ///< a first Saturday is no outlier
  double level_ = 0.0;
  std::vector<double> profile_;  ///< by step: what it had over the level of its time
  double surprise_ = 0.0;        ///< mean absolute, of those that are not large
  std::size_t seen_ = 0;         ///< surprises so far
  int side_ = 0;                 ///< of the last large surprise
  std::size_t run_ = 0;          ///< large surprises in a row on that side
  Clean clean_;
};

/// The step before that should be most like this one: of the same civil time a week before, a day before, else the
/// last.
std::optional<std::size_t> Cleaner::like(std::size_t i) const {
  for (const std::size_t season : {calendar_.week(), calendar_.day()}) {
    const std::int64_t j = calendar_.same_time(i, season);
    if (season > 1 && j >= 0 && j < static_cast<std::int64_t>(i)) return static_cast<std::size_t>(j);
  }
  return i > 0 ? std::optional(i - 1) : std::nullopt;
}

void Cleaner::step(std::size_t i) {
  const double value = series_.values[i];
  const std::optional<std::size_t> before = like(i);
  if (!before) {
    level_ = *std::find_if_not(series_.values.begin(), series_.values.end(), is_gap);
    clean_.values.push_back(level_);
    profile_.push_back(0.0);
    return;
  }
  const double expected = level_ + profile_[*before];
  if (is_gap(value)) {
    clean_.values.push_back(expected);
    profile_.push_back(profile_[*before]);
    return;
  }
  const double surprise = value - expected;
  const bool large = i >= warm_up_ && seen_ >= kWarmUp && surprise_ > 0.0 && std::abs(surprise) > kOutlier * surprise_;
  const int side = surprise > 0.0 ? 1 : -1;
  run_ = !large ? 0 : side == side_ ? run_ + 1 : 1;
  side_ = large ? side : 0;
  if (run_ >= memory_) {
    clean_.values.push_back(value);
    level_ += surprise;
    profile_.push_back(value - level_);
    shifted(i);
    return;
  }
  if (large) {
    clean_.findings.outliers.push_back({series_.at(i), value, expected});
    clean_.values.push_back(expected + std::copysign(surprise_, surprise));
    profile_.push_back(profile_[*before]);
    return;
  }
  ++seen_;
  surprise_ += (std::abs(surprise) - surprise_) / static_cast<double>(std::min(seen_, 4 * memory_));
  clean_.values.push_back(value);
  level_ += surprise / static_cast<double>(memory_);
  profile_.push_back(value - level_);
}

void Cleaner::shifted(std::size_t i) {
  const std::size_t first = i + 1 - run_;
  const std::size_t span = std::max(memory_, calendar_.day());
  const std::size_t before = first > span ? first - span : 0;
  const std::size_t after = std::min(first + span, series_.values.size());
  const std::span<const double> all(series_.values);
  clean_.findings.shifts.push_back(
      {series_.at(first), median(all.subspan(before, first - before)), median(all.subspan(first, after - first))});
  // What was called outliers was the new level.
  std::vector<Outlier>& outliers = clean_.findings.outliers;
  outliers.resize(outliers.size() - std::min(outliers.size(), run_ - 1));
  for (std::size_t k = first; k < i; ++k)
    if (!is_gap(series_.values[k])) profile_[k] = series_.values[k] - level_;
  run_ = 0;
  side_ = 0;
}

}  // namespace

Clean clean(const Series& series, const Calendar& calendar) {
  Clean result = Cleaner(series, calendar).run();
  SeriesFindings& f = result.findings;
  f.steps = series.values.size();
  std::size_t gap = 0;
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (const double value : series.values) {
    gap = is_gap(value) ? gap + 1 : 0;
    f.gaps += is_gap(value) ? 1U : 0U;
    f.longest_gap = std::max(f.longest_gap, gap);
    if (is_gap(value)) continue;
    f.negative += value < 0.0 ? 1U : 0U;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  f.constant = least >= most;
  for (const std::size_t change : calendar.changes()) f.clock_changes.push_back(series.at(change));
  return result;
}

}  // namespace ace
