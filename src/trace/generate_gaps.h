#pragma once
/// Gaps between arrivals: stationary renewal processes in units of expected requests.
#include <cstdint>

#include "core/rng.h"

namespace ace {

enum class GapFamily : std::uint8_t { gamma, weibull };

/// Coefficient of variation of one gap. @param shape positive
double cv_of(GapFamily family, double shape);
/// The shape with this coefficient of variation: 1 / cv^2 for Gamma, by bisection for Weibull.
/// @param cv in [0.01, 1000]; outside it the nearer end is taken
double shape_of(GapFamily family, double cv);
/// Median gap of mean one. Weibull: ln(2)^(1/k) / Gamma(1 + 1/k); Gamma: by bisection of its series. @param shape
/// positive
double median_gap(GapFamily family, double shape);

/// A renewal process whose gaps have mean one; the caller divides by the rate. Draws only from the Rng it is given.
class Gaps {
 public:
  Gaps() = default;
  /// @param shape positive; 1 is a Poisson process in either family
  Gaps(GapFamily family, double shape);
  /// The gap to the next arrival.
  double next(Rng& rng);
  /// From a moment chosen without looking to the next arrival, so that a window's expected count is exactly its load.
  /// The gap one lands in is biased by its length: Gamma(k + 1) instead of Gamma(k), G^(1/k) with G ~ Gamma(1 + 1/k)
  /// instead of an exponential for Weibull; what is left of it is uniform. Source: Cox, Renewal Theory (1962), 5.1.
  double residual(Rng& rng);

 private:
  double gamma(Rng& rng);
  double normal(Rng& rng);
  GapFamily family_ = GapFamily::gamma;
  double shape_ = 1.0;
  double inverse_shape_ = 1.0;
  double scale_ = 1.0;        ///< makes the mean one
  double d_ = 0.0, c_ = 0.0;  ///< Marsaglia and Tsang's constants for shape, or shape + 1 below one
  double spare_ = 0.0;
  bool has_spare_ = false;
};

/// log and exp from tables of 256 entries and a short series: within 1e-10 of core/numeric.h at a tenth of its time.
/// They make traces and never money.
double fast_log(double x);
double fast_exp(double x);

}  // namespace ace
