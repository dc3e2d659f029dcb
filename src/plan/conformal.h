#pragma once
/// Levels that adapt until what they promise is what happens.
#include <array>
#include <cstddef>

namespace ace {

/// One quantile's level, corrected online: where values fall below more often than the level says, the level sinks.
/// Several speeds run side by side; those that would have done better lately count for more.
///
///   level_k <- level_k + gamma_k (target - [rank <= level_k]);   weights by exponential pinball loss of rank at
///   level_k
///
/// Source: Gibbs & Candes, Conformal Inference for Online Prediction with Arbitrary Distribution Shifts (DtACI), JMLR
/// 25, 2024, algorithm 1, for a one-sided quantile; gamma alone is ACI (the same, NeurIPS 2021).
class AdaptiveLevel {
 public:
  /// @param target in (0, 1): the share of values that should fall at or below the quantile
  explicit AdaptiveLevel(double target);
  /// The level to ask the scores for; near the target while scores are exchangeable, and outside [0, 1] when even
  /// their ends are too narrow.
  [[nodiscard]] double level() const;
  /// The value's rank among the scores before it lies in [low, high], both in [0, 1]: apart where scores tie. A level
  /// within a tie learns nothing: the quantile would be the same.
  void observe(double low, double high);

 private:
  static constexpr std::array<double, 4> kSpeeds{0.001, 0.004, 0.016, 0.064};
  double target_, rate_;
  std::array<double, kSpeeds.size()> levels_, weights_;
};

}  // namespace ace
