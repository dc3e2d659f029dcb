#pragma once
/// Streaming statistics: mergeable, bounded, and the same bits whatever the order of merging integer parts.
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/int128.h"
#include "core/time.h"

namespace ace {

/// Counts of non-negative integers: exact below 2^16, above in buckets of 1/128 relative width. Nearest-rank quantiles.
class Histogram {
 public:
  void add(std::int64_t value, std::uint64_t times = 1);
  void merge(const Histogram& other);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::int64_t min() const { return min_; }
  [[nodiscard]] std::int64_t max() const { return max_; }
  [[nodiscard]] double mean() const;
  /// Smallest value with at least share q of the sample at or below it; the upper edge of its bucket (exact under
  /// 2^16), never above max(). 0 for an empty sample. @param q in [0, 1]
  [[nodiscard]] std::int64_t quantile(double q) const;
  [[nodiscard]] int128 sum() const { return sum_; }

 private:
  static std::size_t bucket_of(std::uint64_t value);
  static std::uint64_t upper_edge(std::size_t bucket);
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::int64_t min_ = 0, max_ = 0;
  int128 sum_ = 0;
};

/// Mean and population variance by Welford's update.
struct Moments {
  std::uint64_t count = 0;
  double mean = 0.0, m2 = 0.0;
  void add(double x) {
    ++count;
    const double delta = x - mean;
    mean += delta / static_cast<double>(count);
    m2 += delta * (x - mean);
  }
  [[nodiscard]] double variance() const { return count == 0 ? 0.0 : m2 / static_cast<double>(count); }
  [[nodiscard]] double deviation() const { return std::sqrt(variance()); }
  /// Coefficient of variation: deviation over mean, 0 when the mean is 0.
  [[nodiscard]] double cv() const { return mean == 0.0 ? 0.0 : deviation() / mean; }
};

/// Two-sided 95% Wilson score bounds of a proportion: failures out of trials. Source: Wilson 1927; z = 1.959964.
/// With 0 of 381 the upper bound is below 1%; with 0 of 765 below 0.5%. trials = 0 gives [0, 1].
double wilson_lower(std::uint64_t failures, std::uint64_t trials);
double wilson_upper(std::uint64_t failures, std::uint64_t trials);

/// Rate of a stream in units per second, exponentially forgotten with time constant tau, from a rational kernel:
/// each step dt keeps tau / (tau + dt) of what was there, which needs no exp().
class RateEwma {
 public:
  explicit RateEwma(Duration tau = 10 * kSecond) : tau_(to_seconds(tau)) {}
  void add(Instant at, double amount);
  [[nodiscard]] double per_second(Instant at) const;

 private:
  double tau_;
  double mass_ = 0.0;
  Instant last_{};
};

}  // namespace ace
