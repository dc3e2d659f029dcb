#include "plan/conformal.h"

#include <algorithm>
#include <cmath>

#include "core/numeric.h"
#include "plan/pinball.h"

namespace ace {
namespace {

constexpr double kMemory = 500.0;  ///< observations over which the speeds compete: |I| of the source
constexpr double kBeyond = 0.25;   ///< how far outside [0, 1] a level may go

}  // namespace

AdaptiveLevel::AdaptiveLevel(double target) : target_(target) {
  // The source's eta, section 3.2, at its optimal sigma = 1 / (2 |I|).
  const double miss = 1.0 - target;
  const double spread = miss * miss * target * target * target + target * target * miss * miss * miss;
  rate_ = std::sqrt(3.0 / kMemory) *
          std::sqrt((numeric::log(kMemory * static_cast<double>(kSpeeds.size())) + 2.0) / spread);
  levels_.fill(target);
  weights_.fill(1.0 / static_cast<double>(kSpeeds.size()));
}

double AdaptiveLevel::level() const {
  double sum = 0.0;
  for (std::size_t k = 0; k < kSpeeds.size(); ++k) sum += weights_[k] * levels_[k];
  return sum;
}

void AdaptiveLevel::observe(double low, double high) {
  double total = 0.0;
  for (std::size_t k = 0; k < kSpeeds.size(); ++k) {
    weights_[k] *= numeric::exp(-rate_ * pinball(target_, levels_[k], std::clamp(levels_[k], low, high)));
    total += weights_[k];
  }
  constexpr double kShare = 1.0 / (2.0 * kMemory);  // sigma: no speed is ever forgotten
  for (std::size_t k = 0; k < kSpeeds.size(); ++k) {
    const double kept = total > 0.0 ? weights_[k] / total : 1.0 / static_cast<double>(kSpeeds.size());
    weights_[k] = (1.0 - kShare) * kept + kShare / static_cast<double>(kSpeeds.size());
    const bool tied = low < high && low <= levels_[k] && levels_[k] <= high;
    if (!tied) levels_[k] += kSpeeds[k] * (target_ - (high <= levels_[k] ? 1.0 : 0.0));
    levels_[k] = std::clamp(levels_[k], -kBeyond, 1.0 + kBeyond);
  }
}

}  // namespace ace
