#include "plan/conformal.h"

#include <algorithm>
#include <cmath>

#include "core/numeric.h"
#include "plan/pinball.h"

namespace ace {
namespace {

constexpr double kMemory = 500.0;  ///< forecasts over which the speeds compete: |I| of the source
constexpr double kUnsure = 8.0;    ///< forecasts before anything is learnt: a miss among fewer says nothing
constexpr double kIntegral = 0.02;
constexpr double kBeyond = 0.02;  ///< how far below 0 a rate may go

}  // namespace

AdaptiveMiss::AdaptiveMiss(double target) : target_(target) {
  // The source's eta, section 3.2, at its sigma = 1 / (2 |I|).
  const double rest = 1.0 - target;
  const double spread = rest * rest * target * target * target + target * target * rest * rest * rest;
  eta_ = std::sqrt(3.0 / kMemory) *
         std::sqrt((numeric::log(kMemory * static_cast<double>(kSpeeds.size())) + 2.0) / spread);
  rates_.fill(target);
  weights_.fill(1.0 / static_cast<double>(kSpeeds.size()));
}

double AdaptiveMiss::rate() const {
  double sum = integral_;
  for (std::size_t k = 0; k < kSpeeds.size(); ++k) sum += weights_[k] * rates_[k];
  return std::clamp(sum, -kBeyond, 1.0);
}

void AdaptiveMiss::observe(double still, bool missed, double weight) {
  seen_ += weight;
  if (seen_ < kUnsure) return;
  const double most = std::min(target_, 1.0 - target_);
  integral_ = std::clamp(integral_ + weight * kIntegral * (target_ - (missed ? 1.0 : 0.0)), -most, most);
  double total = 0.0;
  for (std::size_t k = 0; k < kSpeeds.size(); ++k) {
    weights_[k] *= numeric::exp(-weight * eta_ * pinball(target_, rates_[k], still));
    total += weights_[k];
  }
  const double share = weight / (2.0 * kMemory);  // sigma: no speed is ever forgotten
  for (std::size_t k = 0; k < kSpeeds.size(); ++k) {
    const double kept = total > 0.0 ? weights_[k] / total : 1.0 / static_cast<double>(kSpeeds.size());
    weights_[k] = (1.0 - share) * kept + share / static_cast<double>(kSpeeds.size());
    rates_[k] += weight * kSpeeds[k] * (target_ - (still < rates_[k] ? 1.0 : 0.0));
    rates_[k] = std::clamp(rates_[k], 0.0, 1.0);
  }
}

}  // namespace ace
