#pragma once
/// An interval that adapts until what it promises is what happens.
#include <array>
#include <cstddef>

namespace ace {

/// The miss rate to ask the scores for, corrected online: where more values fall outside than were promised it sinks,
/// and the interval widens. Several speeds run side by side; those that would have done better lately count for more.
///
///   a_k <- a_k + gamma_k (target - [b < a_k]);   weights fall with the exponential of the pinball loss of b at a_k
///
/// where b is the largest miss rate at which the value would still have been inside.
/// Source: Gibbs & Candes, Conformal Inference for Online Prediction with Arbitrary Distribution Shifts (DtACI), JMLR
/// 25, 2024, algorithm 1; one speed alone is their ACI, NeurIPS 2021. Here b is taken against scores that were known
/// later than the promise, and the model may have changed between; what that leaves of a bias, a slow integral of the
/// real misses takes away (Angelopoulos, Candes & Tibshirani, Conformal PID control, NeurIPS 2023).
class AdaptiveMiss {
 public:
  /// @param target in (0, 1): the share of values that may fall outside
  explicit AdaptiveMiss(double target);
  /// Near the target while scores are exchangeable; 0 or a little below when even the extremes are too narrow.
  [[nodiscard]] double rate() const;
  /// @param still largest miss rate at which the value would have been inside, in [0, 1]
  /// @param missed did the value fall outside what was published?
  /// @param weight one over how many values were promised at once, for they tend to miss together
  void observe(double still, bool missed, double weight);

 private:
  static constexpr std::array<double, 4> kSpeeds{0.001, 0.004, 0.016, 0.064};
  double target_, eta_;
  double seen_ = 0.0;      ///< forecasts so far
  double integral_ = 0.0;  ///< of real misses
  std::array<double, kSpeeds.size()> rates_, weights_;
};

}  // namespace ace
