#include "plan/spot_hazard.h"

#include <algorithm>
#include <cmath>

#include "core/numeric.h"

namespace ace {
namespace {

constexpr int kTermsMost = 10'000;
constexpr double kEnough = 1e-15;

/// x^a e^-x / Gamma(a).
double leading(double a, double x) { return numeric::exp(a * numeric::log(x) - x - numeric::log_gamma(a)); }

}  // namespace

double gamma_share(double a, double x) {
  if (x <= 0.0) return 0.0;
  if (x < a + 1.0) {
    double term = 1.0 / a, sum = term;
    for (int n = 1; n < kTermsMost && term > sum * kEnough; ++n) sum += term *= x / (a + n);
    return sum * leading(a, x);
  }
  // Lentz's method for the continued fraction of 1 - P.
  constexpr double kTiny = 1e-300;
  double b = x + 1.0 - a, c = 1.0 / kTiny, d = 1.0 / b, h = d;
  for (int i = 1; i < kTermsMost; ++i) {
    const double an = -i * (i - a);
    b += 2.0;
    d = an * d + b;
    c = b + an / c;
    if (std::fabs(d) < kTiny) d = kTiny;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1.0 / d;
    h *= d * c;
    if (std::fabs(d * c - 1.0) < kEnough) break;
  }
  return 1.0 - h * leading(a, x);
}

double gamma_quantile(double shape, double share) {
  double low = 0.0, high = shape + 1.0;
  while (gamma_share(shape, high) < share) high *= 2.0;
  for (int i = 0; i < 200 && high - low > 1e-14 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (gamma_share(shape, middle) < share ? low : high) = middle;
  }
  return high;
}

void SpotHazard::learn(const CapacityLog& log) {
  for (std::size_t i = 1; i < log.changes.size(); ++i) {
    const auto &before = log.changes[i - 1], &after = log.changes[i];
    held(static_cast<double>(before.units), after.at - before.at);
    if (after.units < before.units) taken(before.units - after.units);
  }
}

double SpotHazard::chance_per_hour() const {
  return 1.0 - numeric::exp(shape() * numeric::log(exposure() / (exposure() + 1.0)));
}

double SpotHazard::chance_per_hour(double confidence) const { return 1.0 - numeric::exp(-rate_upper(confidence)); }

std::vector<std::uint8_t> available_steps(const CapacityLog& log, std::int64_t units, Duration step) {
  std::vector<std::uint8_t> steps;
  for (const double held : log.availability(step).values) steps.push_back(held >= static_cast<double>(units) ? 1 : 0);
  return steps;
}

}  // namespace ace
