#include "replay/shadow_prices.h"

#include <algorithm>

#include "core/check.h"

namespace ace {

std::size_t TimeGrid::of(Instant t) const {
  const std::int64_t i = floor_div(nanos(t - start), nanos(width));
  return static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, static_cast<std::int64_t>(buckets) - 1));
}

ShadowPrices::ShadowPrices(const TimeGrid& grid, std::vector<double> capacity, bool one_over)
    : grid_(grid),
      capacity_(std::move(capacity)),
      price_(grid.buckets),
      step_(grid.buckets),
      worth_(grid.buckets),
      used_(grid.buckets + 1),
      sign_(grid.buckets),
      one_over_(one_over) {
  ACE_CHECK(capacity_.size() == grid.buckets, "one capacity per bucket");
  while (leaves_ < grid.buckets) leaves_ *= 2;
  tree_.resize(2 * leaves_);
  rebuild();
}

void ShadowPrices::rebuild() {
  const auto better = [&](std::size_t a, std::size_t b) {  // a is left of b
    if (b >= price_.size()) return a;
    return price_[b] < price_[a] ? b : a;
  };
  for (std::size_t i = 0; i < leaves_; ++i) tree_[leaves_ + i] = i;
  for (std::size_t i = leaves_ - 1; i > 0; --i) tree_[i] = better(tree_[2 * i], tree_[2 * i + 1]);
}

ShadowPrices::Least ShadowPrices::least(Instant from, Instant to) const {
  std::size_t low = grid_.of(from) + leaves_, high = grid_.of(to) + leaves_ + 1;
  std::size_t best = low - leaves_;
  const auto consider = [&](std::size_t bucket) {
    if (price_[bucket] < price_[best] || (price_[bucket] == price_[best] && bucket < best)) best = bucket;
  };
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) consider(tree_[low++]);
    if (high % 2 == 1) consider(tree_[--high]);
  }
  return {price_[best], best};
}

void ShadowPrices::use(Instant from, Instant to, double amount) {
  const std::size_t first = grid_.of(from), last = grid_.of(to);
  const double each = amount / static_cast<double>(last - first + 1);
  used_[first] += each;
  used_[last + 1] -= each;
}

void ShadowPrices::worth(std::size_t bucket, double price) { worth_[bucket] = std::max(worth_[bucket], price); }

void ShadowPrices::seen(double amount) {
  if (one_over_) largest_ = std::max(largest_, amount);
}

double ShadowPrices::value_over() const {
  double sum = 0.0;
  for (const double price : price_) sum += price * largest_;
  return sum;
}

void ShadowPrices::move(const std::vector<bool>& held, const std::vector<double>& first_price) {
  double used = 0.0;
  for (std::size_t t = 0; t < price_.size(); ++t) {
    used += used_[t];
    const double excess = used - (held[t] ? capacity_[t] + largest_ : 0.0);
    const auto sign = static_cast<signed char>(excess > 0.0 ? 1 : excess < 0.0 ? -1 : 0);
    used_[t] = 0.0;
    if (!moved_) {
      const double start = first_price[t] > 0.0 ? std::min(first_price[t], worth_[t]) : worth_[t] / 2.0;
      step_[t] = start / 2.0;
      if (sign > 0) price_[t] = start;
      sign_[t] = sign;
      continue;
    }
    if (step_[t] == 0.0)
      step_[t] = worth_[t] / 4.0;  // load that was driven here from a dearer stretch
    else if (sign * sign_[t] > 0)
      step_[t] *= 1.5;
    else if (sign * sign_[t] < 0)
      step_[t] *= 0.5;
    if (sign != 0) sign_[t] = sign;
    // Nobody would pay more than it is worth.
    price_[t] = std::clamp(price_[t] + sign * step_[t], 0.0, worth_[t]);
  }
  used_.back() = 0.0;
  moved_ = true;
  rebuild();
}

}  // namespace ace
