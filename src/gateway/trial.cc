#include "gateway/trial.h"

#include <fmt/format.h>

#include <cmath>

namespace ace::gateway {
namespace {

double usd(Usd amount) { return static_cast<double>(amount.nano) * 1e-9; }

}  // namespace

TrialArm& TrialArm::operator+=(const TrialArm& other) {
  requests += other.requests;
  served += other.served;
  cost += other.cost;
  baseline += other.baseline;
  predicted += other.predicted;
  would += other.would;
  predicted_s += other.predicted_s;
  realised_s += other.realised_s;
  return *this;
}

void Trial::open(Instant now) {
  window_ = {};
  window_.from = now;
  window_.to = now + gates_.window;
  classes_.clear();
}

void Trial::restart(Instant now) {
  clean_ = 0;
  open(now);
}

std::optional<TrialWindow> Trial::close(Instant now, const Fleet& fleet) {
  if (now < window_.to) return std::nullopt;
  window_.enough = window_.arms[0].requests + window_.arms[1].requests >= gates_.requests_min;
  window_.breach = breach(fleet);
  if (!window_.breach.empty())
    clean_ = 0;
  else if (window_.enough)
    ++clean_;
  windows_.push_back(window_);
  if (windows_.size() > kKept) windows_.pop_front();
  open(now);
  return windows_.back();
}

std::optional<TrialWindow> Trial::add(Instant now, const Fleet& fleet, const TrialRequest& r) {
  std::optional<TrialWindow> ended = close(now, fleet);
  TrialArm one;
  one.requests = 1;
  one.served = r.served ? 1 : 0;
  if (r.served && r.priced) {
    one.cost = r.cost;
    one.baseline = r.baseline;
    one.predicted = r.predicted;
    one.would = r.would.value_or(r.cost);
    one.predicted_s = to_seconds(r.predicted_time);
    one.realised_s = to_seconds(r.realised_time);
  }
  window_.arms[r.acts ? 1 : 0] += one;
  total_[r.acts ? 1 : 0] += one;
  if (r.acts && r.served && r.slo.valid()) {
    if (classes_.size() <= r.slo.value) classes_.resize(r.slo.value + 1);
    ++classes_[r.slo.value].served;
    classes_[r.slo.value].met += r.slo_met ? 1 : 0;
  }
  return ended;
}

std::string Trial::breach(const Fleet& fleet) const {
  const TrialArm& acted = window_.arms[1];
  if (acted.requests >= gates_.requests_min) {
    const double served = static_cast<double>(acted.served) / static_cast<double>(acted.requests);
    if (served < gates_.served_min)
      return fmt::format("served {:.2f}% of its requests, the gate is {:.2f}%", 100.0 * served,
                         100.0 * gates_.served_min);
  }
  for (std::size_t c = 0; c < classes_.size() && c < fleet.slo_classes.size(); ++c) {
    if (classes_[c].served < gates_.requests_min) continue;
    const double met = static_cast<double>(classes_[c].met) / static_cast<double>(classes_[c].served);
    if (met < fleet.slo_classes[c].target)
      return fmt::format("kept the SLO of class {} for {:.2f}%, its target is {:.2f}%", fleet.slo_classes[c].name,
                         100.0 * met, 100.0 * fleet.slo_classes[c].target);
  }
  if (!window_.enough) return {};
  TrialArm both = window_.arms[0];
  both += window_.arms[1];
  if (both.cost > Usd{}) {
    const double error = std::abs(usd(both.predicted) - usd(both.cost)) / usd(both.cost);
    if (error > gates_.cost_error_max)
      return fmt::format("predicted {} USD for what cost {} USD, {:.1f}% off; the gate is {:.1f}%",
                         to_decimal(both.predicted), to_decimal(both.cost), 100.0 * error,
                         100.0 * gates_.cost_error_max);
  }
  return {};
}

std::optional<Trial::Difference> Trial::difference() const {
  double sum = 0.0, squares = 0.0;
  std::size_t n = 0;
  for (const TrialWindow& w : windows_) {
    if (w.arms[0].baseline <= Usd{} || w.arms[1].baseline <= Usd{}) continue;
    const double d = usd(w.arms[1].cost) / usd(w.arms[1].baseline) - usd(w.arms[0].cost) / usd(w.arms[0].baseline);
    sum += d;
    squares += d * d;
    ++n;
  }
  if (n < 2) return std::nullopt;
  const double count = static_cast<double>(n), mean = sum / count;
  const double variance = std::max(0.0, (squares - sum * mean) / (count - 1.0));
  return Difference{mean, 1.96 * std::sqrt(variance / count), n};
}

}  // namespace ace::gateway
