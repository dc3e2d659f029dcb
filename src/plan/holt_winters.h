#pragma once
/// Exponential smoothing of level, trend and two seasons, a day and a week.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "plan/model.h"

namespace ace {

/// Holt-Winters in error-correction form, with the double season and the first-order error term of Taylor:
///
///   additive        y = l + b + d[slot] + w[slot of week] + e
///   multiplicative  y = (l + b) d[slot] w[slot of week] + e;  where a value is not positive it is the additive one
///   damped          additive, with a trend that fades: b <- 0.98 b
///
///   l += b + alpha e;  b += beta e;  d += gamma e;  w += omega e;  ahead at lead h: + lambda^h e
///
/// Seasons are told by civil time. alpha, beta, (gamma, omega) and lambda are the grid point with the least mean
/// absolute one-step error over the past. Sources: Winters 1960; Gardner & McKenzie 1985 (damping); Taylor 2003,
/// Short-term electricity demand forecasting using double seasonal exponential smoothing, J. Oper. Res. Soc. 54.
class HoltWinters : public ForecastModel {
 public:
  enum class Kind : std::uint8_t { additive, multiplicative, damped };
  HoltWinters(Kind kind, const Calendar& calendar) : kind_(kind), calendar_(&calendar) {}
  [[nodiscard]] std::string name() const override;
  void fit(std::span<const double> past) override;
  void predict(std::span<const double> past, ForecastPath& path) override;

 private:
  struct Rates {
    double alpha = 0.1, beta = 0.0, gamma = 0.1, omega = 0.1, lambda = 0.0;
  };
  struct State {
    double level = 0.0, trend = 0.0, error = 0.0;
    std::vector<double> day, week;  ///< additive or multiplicative seasons; one neutral entry where there is none
  };
  /// Which entry of its season a step has.
  struct Slots {
    std::vector<std::uint32_t> day, week;
  };
  [[nodiscard]] std::size_t begin(std::size_t known) const;
  void learn_slots(std::size_t steps);
  [[nodiscard]] State initial(std::span<const double> past) const;
  [[nodiscard]] double expected(const State& state, std::size_t i) const;
  void update(State& state, const Rates& rates, std::size_t i, double value) const;

  Kind kind_;
  const Calendar* calendar_;
  Rates rates_;
  bool multiplies_ = false;
  Slots slots_;
};

}  // namespace ace
