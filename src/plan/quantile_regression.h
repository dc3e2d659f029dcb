#pragma once
/// Quantile regression of a step on its lags and calendar.
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <eigen3/Eigen/Dense>  // by its path, so that this header compiles alone

#include "plan/model.h"

namespace ace {

/// Coefficients that minimise the pinball loss of y - X b at level q, with a small ridge on all but the first column.
///
/// Majorise and minimise: each step solves the weighted least squares (X' W X) b = X' W y + (2q - 1) X' 1 with
/// W = 1 / (e + |y - X b|), which never raises the (smoothed) loss. Source: Hunter & Lange 2000, Quantile regression
/// via an MM algorithm, J. Comput. Graph. Stat. 9. e is a thousandth of the mean absolute deviation of y.
/// @param start coefficients to begin with; empty = least squares  @param rounds of the majorisation
Eigen::VectorXd quantile_coefficients(const Eigen::MatrixXd& x, const Eigen::VectorXd& y, double q, double ridge,
                                      int rounds, const Eigen::VectorXd& start = {});

/// The median from the last days and weeks at the same civil time, from how the last hours went and from the weekday;
/// the spread from its 10% and 90% quantiles given that median. One set of coefficients for each range of leads, since
/// what the last hours say fades. With less than ten days of
/// history it is the median of the same civil time on the days before.
class QuantileRegression : public ForecastModel {
 public:
  explicit QuantileRegression(const Calendar& calendar) : calendar_(&calendar) {}
  [[nodiscard]] std::string name() const override { return "quantile regression"; }
  void fit(std::span<const double> past) override;
  void predict(std::span<const double> past, ForecastPath& path) override;

  static constexpr int kFeatures = 21;
  using Row = Eigen::Matrix<double, 1, kFeatures>;

 private:
  struct Range {
    std::size_t first = 1, last = 1;  ///< leads
    Eigen::VectorXd median;           ///< empty = not fitted
    /// 10% and 90% quantiles on (1, median, how restless the last day was)
    Eigen::Vector3d low = Eigen::Vector3d::Zero(), high = Eigen::Vector3d::Zero();
  };
  void fit_range(Range& range, std::span<const double> past);
  [[nodiscard]] Row features(std::span<const double> past, std::size_t origin, std::size_t target) const;
  [[nodiscard]] double usual(std::span<const double> past, std::size_t target, std::vector<double>& like) const;
  void sum_up(std::span<const double> past);
  [[nodiscard]] double mean(std::size_t from, std::size_t to) const;

  const Calendar* calendar_;
  double centre_ = 0.0, unit_ = 0.0;     ///< values are seen as (value - centre) / unit
  std::vector<double> sums_, restless_;  ///< running sums of values, and of their changes from the day before
  std::vector<Range> ranges_;
};

}  // namespace ace
