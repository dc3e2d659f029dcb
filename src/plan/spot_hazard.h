#pragma once
/// How often spot units are taken, estimated as they are held, with its uncertainty.
#include <cstdint>

#include "core/result.h"
#include "core/time.h"
#include "fleet/series.h"

namespace ace {

/// The share of a gamma distribution with this shape and scale 1 at or below x: the regularized incomplete gamma
/// function P(shape, x). @param shape positive @param x not negative
/// Source: Press et al., Numerical Recipes, 3rd ed., 6.2 (series below shape + 1, else continued fraction).
double gamma_share(double shape, double x);
/// The x of which gamma_share(shape, x) = share. @param share in (0, 1)
double gamma_quantile(double shape, double share);

/// Posterior of the rate at which a unit is taken: gamma, from a gamma prior and Poisson losses.
///
/// Losses come in bunches: one decrease takes many units. So they count as one loss each, and the exposure is divided
/// by the mean size of a bunch (Kish's design effect): the rate stays, the confidence shrinks.
///
///   rate ~ Gamma(prior_losses + losses, prior_hours + hours x losses / taken)      per unit-hour
class SpotHazard {
 public:
  struct Prior {
    double losses = 0.5;  ///< worth so many losses...
    double hours = 10.0;  ///< ...in so many unit-hours: 5% an hour, soon outweighed
  };
  SpotHazard() = default;
  explicit SpotHazard(Prior prior) : prior_(prior) {}

  /// Units were held for some time. @param units not negative @param time not negative
  void held(double units, Duration time) { hours_ += units * to_seconds(time) / 3600.0; }
  /// So many were taken at once. @param units positive
  void taken(std::int64_t units) { ++losses_, taken_ += units; }
  /// All of a log.
  void learn(const CapacityLog& log);

  [[nodiscard]] double unit_hours() const { return hours_; }
  [[nodiscard]] std::int64_t losses() const { return losses_; }
  /// Losses per unit-hour: the posterior's mean.
  [[nodiscard]] double rate() const { return shape() / exposure(); }
  /// The rate that lies above the true one with this confidence. @param confidence in (0, 1)
  [[nodiscard]] double rate_upper(double confidence) const { return gamma_quantile(shape(), confidence) / exposure(); }
  /// Chance that a unit is taken within its next hour, all rates weighted by the posterior: 1 - (b / (b + 1))^a.
  [[nodiscard]] double chance_per_hour() const;
  /// The same at that upper rate: what `hazard:` of a fleet file and with it the risk term of dispatch want.
  [[nodiscard]] double chance_per_hour(double confidence) const;

 private:
  [[nodiscard]] double shape() const { return prior_.losses + static_cast<double>(losses_); }
  [[nodiscard]] double exposure() const {
    const double bunch = losses_ == 0 ? 1.0 : static_cast<double>(taken_) / static_cast<double>(losses_);
    return prior_.hours + hours_ / bunch;
  }
  Prior prior_;
  double hours_ = 0.0;
  std::int64_t losses_ = 0, taken_ = 0;
};

/// By step, whether at least so many units were held throughout. @param step positive
std::vector<std::uint8_t> available_steps(const CapacityLog& log, std::int64_t units, Duration step);

}  // namespace ace
