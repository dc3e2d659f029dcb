#pragma once
/// What a forecasting model is: it learns from the past now and then, and says the path ahead from any origin.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plan/calendar.h"

namespace ace {

/// Where the series will be, and how sure that is relative to other steps; the calibration makes quantiles of it.
struct ForecastPath {
  std::vector<double> middle;
  std::vector<double> scale;  ///< positive
  void resize(std::size_t steps) {
    middle.resize(steps);
    scale.assign(steps, 1.0);
  }
};

class ForecastModel {
 public:
  virtual ~ForecastModel() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Is it one of those that every other model has to beat?
  [[nodiscard]] virtual bool is_naive() const { return false; }
  /// Estimates parameters from the past alone. @param past finite values from the series' start
  virtual void fit(std::span<const double> past) = 0;
  /// Fills the path of the steps after the past; the parameters may be from an earlier fit. @param path resized already
  virtual void predict(std::span<const double> past, ForecastPath& path) = 0;
};

/// All that compete on a series of this calendar; the seasonal naive ones first.
std::vector<std::unique_ptr<ForecastModel>> all_models(const Calendar& calendar);

/// The same civil time in the season before; in the day before where there is none, else the last value.
class SeasonalNaive : public ForecastModel {
 public:
  /// @param season in steps; 0 or 1 = the last value
  SeasonalNaive(std::string name, const Calendar& calendar, std::size_t season)
      : name_(std::move(name)), calendar_(&calendar), season_(season) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] bool is_naive() const override { return true; }
  void fit(std::span<const double>) override {}
  void predict(std::span<const double> past, ForecastPath& path) override;

 private:
  std::string name_;
  const Calendar* calendar_;
  std::size_t season_;
};

}  // namespace ace
