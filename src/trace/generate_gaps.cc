#include "trace/generate_gaps.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/numeric.h"

namespace ace {
namespace {

constexpr double kLn2 = 0.69314718055994530942;

struct Tables {
  std::array<double, 256> log_of{};      ///< log of the middle of each 1/256 of [1, 2)
  std::array<double, 256> inverse_of{};  ///< and its reciprocal
  std::array<double, 256> power_of{};    ///< 2^(i/256)
  Tables() {
    for (std::size_t i = 0; i < 256; ++i) {
      const double middle = 1.0 + (static_cast<double>(i) + 0.5) / 256.0;
      log_of[i] = numeric::log(middle);
      inverse_of[i] = 1.0 / middle;
      power_of[i] = numeric::exp(kLn2 * static_cast<double>(i) / 256.0);
    }
  }
};
const Tables kTables;

/// P(k, x): the share of a Gamma(k, 1) below x, by its series; for x <= k + 1 or so.
double gamma_share_below(double k, double x) {
  if (x <= 0.0) return 0.0;
  double term = 1.0 / k;
  double sum = term;
  for (int n = 1; n < 500 && term > sum * 1e-14; ++n) {
    term *= x / (k + n);
    sum += term;
  }
  return sum * numeric::exp(k * numeric::log(x) - x - numeric::log_gamma(k));
}

}  // namespace

double fast_log(double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const double exponent = static_cast<double>(static_cast<int>(bits >> 52) - 1023);
  const std::size_t i = static_cast<std::size_t>(bits >> 44) & 255U;
  const double m = std::bit_cast<double>((bits & 0x000f'ffff'ffff'ffffULL) | 0x3ff0'0000'0000'0000ULL);
  const double r = m * kTables.inverse_of[i] - 1.0;  // |r| < 1/512
  return exponent * kLn2 + kTables.log_of[i] + r * (1.0 - r * (0.5 - r * (1.0 / 3.0 - r * 0.25)));
}

double fast_exp(double x) {
  if (x < -700.0) return 0.0;
  x = std::min(x, 700.0);
  const double scaled = std::floor(x * (256.0 / kLn2) + 0.5);
  const auto k = static_cast<std::int64_t>(scaled);
  const double r = x - scaled * (kLn2 / 256.0);  // |r| < 0.00136
  const double series = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0))));
  const auto exponent = static_cast<std::uint64_t>((k >> 8) + 1023) << 52;
  return series * kTables.power_of[static_cast<std::size_t>(k & 255)] * std::bit_cast<double>(exponent);
}

double cv_of(GapFamily family, double shape) {
  if (family == GapFamily::gamma) return 1.0 / std::sqrt(shape);
  const double ratio =
      numeric::exp(numeric::log_gamma(1.0 + 2.0 / shape) - 2.0 * numeric::log_gamma(1.0 + 1.0 / shape));
  return std::sqrt(std::max(0.0, ratio - 1.0));
}

double shape_of(GapFamily family, double cv) {
  cv = std::clamp(cv, 0.01, 1000.0);
  if (family == GapFamily::gamma) return 1.0 / (cv * cv);
  double low = 0.05;
  double high = 200.0;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    (cv_of(family, middle) > cv ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

double median_gap(GapFamily family, double shape) {
  if (family == GapFamily::weibull)
    return numeric::exp(numeric::log(kLn2) / shape - numeric::log_gamma(1.0 + 1.0 / shape));
  double low = -700.0;  // of log x: for small shapes the median is very small
  double high = numeric::log(shape + 1.0);
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (gamma_share_below(shape, numeric::exp(middle)) < 0.5 ? low : high) = middle;
  }
  return numeric::exp(low) / shape;
}

Gaps::Gaps(GapFamily family, double shape) : family_(family), shape_(shape), inverse_shape_(1.0 / shape) {
  if (family == GapFamily::gamma) {
    scale_ = inverse_shape_;
    d_ = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0;
    c_ = 1.0 / std::sqrt(9.0 * d_);
  } else {
    scale_ = numeric::exp(-numeric::log_gamma(1.0 + inverse_shape_));
  }
}

double Gaps::normal(Rng& rng) {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const auto [one, other] = rng.normals(fast_log);
  spare_ = other;
  has_spare_ = true;
  return one;
}

double Gaps::gamma(Rng& rng) {  // Marsaglia & Tsang (2000) with their squeeze
  while (true) {
    const double x = normal(rng);
    const double t = 1.0 + c_ * x;
    if (t <= 0.0) continue;
    const double v = t * t * t;
    const double u = 1.0 - rng.uniform();
    if (u < 1.0 - 0.0331 * x * x * x * x) return d_ * v;
    if (fast_log(u) < 0.5 * x * x + d_ - d_ * v + d_ * fast_log(v)) return d_ * v;
  }
}

double Gaps::next(Rng& rng) {
  if (family_ == GapFamily::gamma && shape_ != 1.0) {
    const double whole = scale_ * gamma(rng);
    return shape_ > 1.0 ? whole : whole * fast_exp(inverse_shape_ * fast_log(1.0 - rng.uniform()));
  }
  const double exponential = std::max(-fast_log(1.0 - rng.uniform()), 1e-300);
  return shape_ == 1.0 ? exponential : scale_ * fast_exp(inverse_shape_ * fast_log(exponential));
}

double Gaps::residual(Rng& rng) {
  const double biased = family_ == GapFamily::gamma
                            ? rng.gamma(shape_ + 1.0, scale_)
                            : scale_ * fast_exp(inverse_shape_ * fast_log(rng.gamma(1.0 + inverse_shape_, 1.0)));
  return biased * rng.uniform();
}

}  // namespace ace
