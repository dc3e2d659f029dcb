#include "plan/quantile_regression.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ace {
namespace {

constexpr std::size_t kRows = 500;      ///< of a fit: twenty coefficients need no more
constexpr std::size_t kWeeksSeen = 26;  ///< what older weeks say about the next one has faded
constexpr int kRounds = 4, kSpreadRounds = 6;
constexpr double kRidge = 1e-3;  ///< times the number of rows, on values in units of their deviation
constexpr std::size_t kRangesMost = 5;
constexpr std::size_t kDaysLeast = 10;  ///< a week with some days before it

}  // namespace

Eigen::VectorXd quantile_coefficients(const Eigen::MatrixXd& x, const Eigen::VectorXd& y, double q, double ridge,
                                      int rounds, const Eigen::VectorXd& start) {
  const double n = static_cast<double>(y.size());
  const double smooth = 1e-3 * (y.array() - y.mean()).abs().mean() + 1e-12;
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(y.size()), b = start;
  const Eigen::VectorXd tilt = (2.0 * q - 1.0) * x.colwise().sum().transpose();
  for (int round = start.size() > 0 ? 1 : 0; round <= rounds; ++round) {
    if (round > 0) weights = ((y - x * b).array().abs() + smooth).inverse();
    const Eigen::MatrixXd scaled = x.array().colwise() * weights.array().sqrt();
    Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(x.cols(), x.cols());
    normal.selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
    normal.diagonal().tail(x.cols() - 1).array() += ridge * n;
    normal(0, 0) += 1e-9 * n;
    Eigen::VectorXd right = x.transpose() * (weights.array() * y.array()).matrix();
    if (round > 0) right += tilt;
    b = normal.selfadjointView<Eigen::Lower>().ldlt().solve(right);
  }
  return b;
}

/// Running sums of what is known, from the start.
void QuantileRegression::sum_up(std::span<const double> past) {
  const std::size_t day = calendar_->day();
  if (sums_.empty()) {
    sums_.push_back(0.0);
    restless_.push_back(0.0);
  }
  for (std::size_t i = sums_.size() - 1; i < past.size(); ++i) {
    sums_.push_back(sums_.back() + past[i]);
    restless_.push_back(restless_.back() + (i >= day ? std::abs(past[i] - past[i - day]) : 0.0));
  }
}

double QuantileRegression::mean(std::size_t from, std::size_t to) const {
  return (sums_[to] - sums_[from]) / static_cast<double>(to - from);
}

/// What is known at the origin about the target, in units of the series' deviation.
QuantileRegression::Row QuantileRegression::features(std::span<const double> past, std::size_t origin,
                                                     std::size_t target) const {
  const std::size_t day = calendar_->day(), week = calendar_->week();
  const double lead = static_cast<double>(target - origin + 1);
  const double day_mean = mean(origin - std::min(origin, day), origin);
  const double week_mean = mean(origin - std::min(origin, week), origin);
  // The k-th same civil time before the origin, or the mean of the last day where the history does not reach.
  const auto lag = [&](std::size_t season, std::size_t k) {
    std::size_t back = ((target - origin) / season + 1) * season;
    std::int64_t j = calendar_->same_time(target, back);
    if (j >= static_cast<std::int64_t>(origin)) j = calendar_->same_time(target, back += season);
    j -= static_cast<std::int64_t>((k - 1) * season);
    return j >= 0 ? past[static_cast<std::size_t>(j)] : day_mean;
  };
  const auto anomaly = [&](std::size_t i) {
    const std::int64_t j = calendar_->same_time(i, day);
    return j >= 0 ? past[i] - past[static_cast<std::size_t>(j)] : 0.0;
  };
  const double last = anomaly(origin - 1);
  const std::size_t quarter = std::max<std::size_t>(1, day / 8);
  double lately = 0.0;
  for (std::size_t k = 1; k <= quarter; ++k) lately += anomaly(origin - k) / static_cast<double>(quarter);
  const double near = 1.0 / lead, far = static_cast<double>(quarter) / (static_cast<double>(quarter) + lead);
  const double yesterday = lag(day, 1), last_week = lag(week, 1);
  const unsigned weekday = calendar_->weekday(target);
  const unsigned known_day = calendar_->weekday(origin - 1);
  const bool ends = (weekday >= 5) != (known_day >= 5);
  const auto units = [&](double value) { return (value - centre_) / unit_; };
  const std::size_t part = 6 * calendar_->slot(target) / day;

  Row row;
  row << 1.0, units(yesterday), units(lag(day, 2)), units(last_week), units(lag(week, 2)),
      units((last_week + lag(week, 2) + lag(week, 3) + lag(week, 4)) / 4.0), units(day_mean), units(week_mean),
      last / unit_ * near, lately / unit_ * far, units(past[origin - 1]) * near, ends ? units(yesterday) : 0.0,
      ends ? 1.0 : 0.0, weekday == 5 ? 1.0 : 0.0, weekday == 6 ? 1.0 : 0.0, weekday == 0 ? 1.0 : 0.0,
      part == 1 ? 1.0 : 0.0, part == 2 ? 1.0 : 0.0, part == 3 ? 1.0 : 0.0, part == 4 ? 1.0 : 0.0, part == 5 ? 1.0 : 0.0;
  return row;
}

void QuantileRegression::fit(std::span<const double> past) {
  ranges_.clear();
  centre_ = std::accumulate(past.begin(), past.end(), 0.0) / static_cast<double>(past.size());
  unit_ = 0.0;
  for (const double v : past) unit_ += std::abs(v - centre_) / static_cast<double>(past.size());
  const std::size_t day = calendar_->day();
  if (day <= 1 || past.size() < kDaysLeast * day || !(unit_ > 0.0)) return;
  sum_up(past);
  std::size_t first = 1;
  for (const std::size_t last : {std::max<std::size_t>(1, day / 4), day, 7 * day, 28 * day, 112 * day}) {
    if (ranges_.size() == kRangesMost || past.size() < 2 * last + day) break;
    ranges_.emplace_back();
    ranges_.back().first = first;
    ranges_.back().last = last;
    fit_range(ranges_.back(), past);
    first = last + 1;
  }
}

void QuantileRegression::fit_range(Range& range, std::span<const double> past) {
  const std::size_t day = calendar_->day();
  const std::size_t oldest = day + range.last;  // every origin knows a whole day
  const std::size_t from = std::max(oldest, past.size() - std::min(past.size(), kWeeksSeen * calendar_->week()));
  const std::size_t available = past.size() - from;
  std::size_t stride = std::max<std::size_t>(1, available / kRows);
  while (std::gcd(stride, day) != 1) ++stride;  // every time of day takes part
  const std::size_t rows = available / stride;
  if (rows < 2 * kFeatures) return;
  Eigen::MatrixXd x(rows, kFeatures);
  Eigen::VectorXd y(rows);
  const std::size_t leads = range.last - range.first + 1;
  for (std::size_t k = 0; k < rows; ++k) {
    const std::size_t target = past.size() - 1 - k * stride;
    const std::size_t lead = range.first + (k * 7919) % leads;  // a prime, so that leads and times of day mix
    x.row(static_cast<Eigen::Index>(k)) = features(past, target + 1 - lead, target);
    y(static_cast<Eigen::Index>(k)) = (past[target] - centre_) / unit_;
  }
  range.median = quantile_coefficients(x, y, 0.5, kRidge, kRounds);
  Eigen::MatrixXd spread(rows, 3);
  spread.col(0).setOnes();
  spread.col(1) = x * range.median;
  for (std::size_t k = 0; k < rows; ++k) {
    const std::size_t target = past.size() - 1 - k * stride;
    const std::size_t origin = target + 1 - (range.first + (k * 7919) % leads);
    spread(static_cast<Eigen::Index>(k), 2) =
        (restless_[origin] - restless_[origin - day]) / static_cast<double>(day) / unit_;
  }
  range.low = quantile_coefficients(spread, y, 0.1, kRidge, kSpreadRounds);
  range.high = quantile_coefficients(spread, y, 0.9, kRidge, kSpreadRounds);
}

/// The median of the same civil time on the days before, at most a week of them; of all values where there is no day.
double QuantileRegression::usual(std::span<const double> past, std::size_t target, std::vector<double>& like) const {
  const std::size_t day = calendar_->day();
  like.clear();
  for (std::size_t back = day; day > 1 && back <= target && like.size() < 7; back += day) {
    const std::int64_t j = calendar_->same_time(target, back);
    if (j >= 0 && j < static_cast<std::int64_t>(past.size())) like.push_back(past[static_cast<std::size_t>(j)]);
  }
  if (like.empty())
    like.assign(past.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(past.size(), 64)), past.end());
  const auto middle = like.begin() + static_cast<std::ptrdiff_t>(like.size() / 2);
  std::nth_element(like.begin(), middle, like.end());
  return *middle;
}

void QuantileRegression::predict(std::span<const double> past, ForecastPath& path) {
  const std::size_t origin = past.size();
  if (ranges_.empty()) {
    std::vector<double> like;
    for (std::size_t h = 0; h < path.middle.size(); ++h) path.middle[h] = usual(past, origin + h, like);
    return;
  }
  sum_up(past);
  const std::size_t day = calendar_->day();
  const double restless = (restless_[origin] - restless_[origin - day]) / static_cast<double>(day) / unit_;
  for (std::size_t h = 0; h < path.middle.size(); ++h) {
    std::size_t r = 0;
    while (r + 1 < ranges_.size() && h + 1 > ranges_[r].last) ++r;
    const Range& range = ranges_[r];
    if (range.median.size() == 0) {
      path.middle[h] = h >= day ? path.middle[h - day] : past[origin - day + h];
      continue;
    }
    const double median = features(past, origin, origin + h) * range.median;
    const Eigen::Vector3d given(1.0, median, restless);
    path.middle[h] = centre_ + unit_ * median;
    path.scale[h] = std::clamp((range.high - range.low).dot(given), 0.2, 5.0);
  }
}

}  // namespace ace
