#pragma once
/// From paths to quantiles: what the errors of a model were, at this lead and time of day.
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "plan/calendar.h"
#include "plan/model.h"

namespace ace {

/// Leads (1 = the next step) in groups that double in width, as errors grow with the logarithm of the lead or faster.
inline constexpr std::size_t kLeadGroups = 18;
std::size_t lead_group(std::size_t lead);

/// The latest scores of one kind, sorted.
class ScoreWindow {
 public:
  static constexpr std::size_t kMost = 1500;
  /// @param weight share of a forecast that this score is: those of one forecast miss together
  void add(double score, double weight);
  [[nodiscard]] std::size_t size() const { return sorted_.size(); }
  /// The quantile of a next score, wider than that of the sample while few forecasts stand behind it.
  /// @param level a share; below 0 or above 1 the end moves outward in proportion, so that a level can always widen
  [[nodiscard]] double at(double level) const;
  /// Shares of scores below it, and below or equal.
  [[nodiscard]] std::pair<double, double> rank(double score) const;

 private:
  std::vector<double> sorted_, order_;  ///< the same scores by size, and as they came (a ring)
  std::size_t next_ = 0;
  double forecasts_ = 0.0;  ///< behind the scores, until there are many
};

/// What one model's errors were. Errors are divided by the path's own scale and by how large they usually are at that
/// time of day, so that quiet nights do not borrow the fan of busy noons.
class Calibration {
 public:
  explicit Calibration(const Calendar& calendar);
  /// @param i step of the value  @param lead steps from the last known value to it
  /// @param weight share of a forecast that this value is
  void observe(std::size_t i, std::size_t lead, double value, double middle, double scale, double weight);
  /// What one score is worth at that step, in units of the series.
  [[nodiscard]] double unit(std::size_t i, double scale) const;
  /// Scores of the group, or of the nearest with enough of them; null before any was observed.
  [[nodiscard]] const ScoreWindow* scores(std::size_t lead) const;

 private:
  static constexpr std::size_t kEnough = 8;
  const Calendar* calendar_;
  std::array<ScoreWindow, kLeadGroups> groups_;
  double usual_ = 0.0;  ///< mean absolute error over the scale
  std::size_t seen_ = 0;
  std::vector<double> slots_;  ///< the same by time of day; a slot that was not seen enough leans on the mean
  std::vector<double> weights_;
};

}  // namespace ace
