#include "dispatch/knee.h"

#include <algorithm>
#include <cmath>

#include "core/numeric.h"
#include "core/statistics.h"

namespace ace {
namespace {

constexpr double kRise = 1.02, kCutMild = 0.97, kCutHard = 0.90, kReached = 0.97;

/// A pool at x requests/s per replica.
struct Point {
  bool meets = false;  ///< stable and within the limits
  double rho = 0.0;
};

Point at_rate(const ServerProfile& p, const SloClass& slo, const Shape& shape, double x) {
  const double prefill_s = shape.prompt_mean / p.prefill_tokens_per_s;
  const double held_mean = shape.prompt_mean + shape.output_mean / 2.0;
  const double per_running = p.step_per_sequence_s + p.step_per_kv_token_s * held_mean;
  const double left = 1.0 - x * prefill_s - x * shape.output_mean * per_running;
  if (left <= 0.0) return {};
  const double running = x * shape.output_mean * p.step_base_s / left;
  const double step = p.step_base_s * std::min(running, 1.0) + running * per_running;
  const double tpot = std::max(step, p.step_base_s) / (1.0 - x * prefill_s);
  const double chunk = static_cast<double>(std::max<std::int64_t>(p.prefill_chunk, 1));
  const double service = prefill_s * (1.0 + step * p.prefill_tokens_per_s / chunk);
  Point point;
  point.rho = std::max(x * service, running / static_cast<double>(p.batch_max));
  if (p.kv_tokens_max > 0)
    point.rho =
        std::max(point.rho, running * (shape.prompt_mean + shape.output_mean) / static_cast<double>(p.kv_tokens_max));
  point.meets = point.rho <= kKneeMost && (!slo.tpot || tpot <= to_seconds(*slo.tpot)) &&
                (!slo.ttft || service + step <= to_seconds(*slo.ttft));
  return point;
}

}  // namespace

double knee_prior(const ServerProfile& profile, const SloClass& slo, const Shape& shape) {
  // Rho, TPOT and service time all grow with the rate, so the knee is where the first of them reaches its limit.
  double low = 0.0, high = profile.prefill_tokens_per_s / std::max(shape.prompt_mean, 1.0);
  double rho = 0.0;
  for (int i = 0; i < 60; ++i) {
    const double x = (low + high) / 2.0;
    const Point point = at_rate(profile, slo, shape, x);
    if (point.meets) {
      low = x;
      rho = point.rho;
    } else {
      high = x;
    }
  }
  return std::clamp(rho, kKneeLeast, kKneeMost);
}

void Knee::admitted(double rho, double share) {
  ++admitted_;
  shares_ += share;
  const double bin = std::clamp(rho, 0.0, 1.0) * static_cast<double>(kBins - 1);
  ++rho_[static_cast<std::size_t>(bin)];
}

double Knee::typical_share() const { return admitted_ > 0 ? shares_ / static_cast<double>(admitted_) : 0.0; }

/// Middle of the bin that holds the nearest rank.
double Knee::rho_p95() const {
  const std::uint64_t rank = (admitted_ * 19 + 19) / 20;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < kBins; ++i)
    if ((below += rho_[i]) >= rank) return (static_cast<double>(i) + 0.5) / static_cast<double>(kBins - 1);
  return 1.0;
}

void Knee::restart(Instant now) {
  since_ = now;
  started_ = true;
  trials_ = misses_ = admitted_ = 0;
  shares_ = 0.0;
  rho_.fill(0);
}

bool Knee::ended(Instant now, Instant dispatched, bool slo_met, double epsilon) {
  if (!started_ || dispatched < since_) {
    if (started_) return false;
    since_ = dispatched;
    started_ = true;
  }
  ++trials_;
  if (slo_met) return false;
  ++misses_;
  if (misses_ < kMissesToCut || wilson_lower(misses_, trials_) <= epsilon) return false;
  const double rate = static_cast<double>(misses_) / static_cast<double>(trials_);
  const double least = std::max(kKneeLeast, std::min(typical_share(), kKneeMost));
  const double before = value_;
  value_ = std::max(value_ * (rate < 3.0 * epsilon ? kCutMild : kCutHard), least);
  moved_ = true;
  restart(now);
  return value_ != before;
}

bool Knee::close(Instant now, Duration window, double epsilon) {
  if (!started_ || now - since_ < window || trials_ == 0) return false;
  if (wilson_upper(misses_, trials_) >= epsilon) return false;
  const bool reached = rho_p95() + typical_share() >= kReached * value_;
  const double before = value_;
  if (reached) {
    value_ = std::min(value_ * kRise, kKneeMost);
    moved_ = true;
  }
  restart(now);
  return value_ != before;
}

bool Knee::refit(double prior) {
  if (moved_ || prior == value_) return false;
  value_ = prior;
  return true;
}

}  // namespace ace
