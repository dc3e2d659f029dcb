#include "plan/calibration.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "plan/pinball.h"

namespace ace {
namespace {

constexpr std::size_t kSlotsMost = 48;  ///< of a day: half hours are fine enough
constexpr double kLean = 12.0;          ///< errors that the mean counts for in a slot
constexpr double kForget = 1.0 / 60.0;  ///< of a slot, per error

}  // namespace

std::size_t lead_group(std::size_t lead) {
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(lead)) - 1, kLeadGroups - 1);
}

void ScoreWindow::add(double score, double weight) {
  forecasts_ += weight;
  if (order_.size() == kMost) {
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), order_[next_]));
    order_[next_] = score;
    next_ = (next_ + 1) % kMost;
  } else {
    order_.push_back(score);
  }
  sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), score), score);
}

double ScoreWindow::at(double level) const {
  // Of n exchangeable scores and a next one, the k-th has k / (n + 1) below: Hazen's q n - 1/2 becomes q (n + 1) - 1.
  const double n = std::clamp(forecasts_, 2.0, static_cast<double>(std::max<std::size_t>(sorted_.size(), 2)));
  level = (level * (n + 1.0) - 0.5) / n;
  const double inside = quantile_of(sorted_, std::clamp(level, 0.0, 1.0));
  const double beyond = level < 0.0 ? level : level > 1.0 ? level - 1.0 : 0.0;
  return inside + 2.0 * beyond * (sorted_.back() - sorted_.front());
}

std::pair<double, double> ScoreWindow::rank(double score) const {
  const auto [low, high] = std::equal_range(sorted_.begin(), sorted_.end(), score);
  const auto all = static_cast<double>(sorted_.size());
  return {static_cast<double>(low - sorted_.begin()) / all, static_cast<double>(high - sorted_.begin()) / all};
}

Calibration::Calibration(const Calendar& calendar)
    : calendar_(&calendar),
      slots_(std::clamp<std::size_t>(calendar.day(), 1, kSlotsMost), 0.0),
      weights_(slots_.size(), 0.0) {}

double Calibration::unit(std::size_t i, double scale) const {
  const std::size_t slot = calendar_->day() == 0 ? 0 : calendar_->slot(i) * slots_.size() / calendar_->day();
  const double here = (kLean * usual_ + weights_[slot] * slots_[slot]) / (kLean + weights_[slot]);
  return here > 0.0 ? here * scale : scale;
}

void Calibration::observe(std::size_t i, std::size_t lead, double value, double middle, double scale, double weight) {
  const double error = value - middle, size = std::abs(error) / scale;
  ++seen_;
  usual_ += (size - usual_) / static_cast<double>(std::min<std::size_t>(seen_, ScoreWindow::kMost));
  const std::size_t slot = calendar_->day() == 0 ? 0 : calendar_->slot(i) * slots_.size() / calendar_->day();
  weights_[slot] = std::min(weights_[slot] + 1.0, 1.0 / kForget);
  slots_[slot] += (size - slots_[slot]) / weights_[slot];
  groups_[lead_group(lead)].add(error / unit(i, scale), weight);
}

const ScoreWindow* Calibration::scores(std::size_t lead) const {
  const std::size_t group = lead_group(lead);
  for (std::size_t g = group + 1; g-- > 0;)
    if (groups_[g].size() >= kEnough) return &groups_[g];
  for (const ScoreWindow& window : groups_)
    if (window.size() > 0) return &window;
  return nullptr;
}

}  // namespace ace
