#include "core/statistics.h"

#include <algorithm>
#include <bit>

#include "core/check.h"

namespace ace {
namespace {
constexpr std::uint64_t kExact = 1 << 16;
constexpr int kSubBits = 7;  // 128 buckets per power of two above kExact
constexpr double kZ = 1.959963984540054;
}  // namespace

std::size_t Histogram::bucket_of(std::uint64_t value) {
  if (value < kExact) return value;
  const int exponent = static_cast<int>(std::bit_width(value)) - 1;
  const std::uint64_t sub = (value >> (exponent - kSubBits)) - (1ULL << kSubBits);
  return kExact + (static_cast<std::uint64_t>(exponent - 16) << kSubBits) + sub;
}

std::uint64_t Histogram::upper_edge(std::size_t bucket) {
  if (bucket < kExact) return bucket;
  const std::uint64_t above = bucket - kExact;
  const int exponent = static_cast<int>(above >> kSubBits) + 16;
  const std::uint64_t sub = (above & ((1ULL << kSubBits) - 1)) + (1ULL << kSubBits);
  return ((sub + 1) << (exponent - kSubBits)) - 1;
}

void Histogram::add(std::int64_t value, std::uint64_t times) {
  ACE_CHECK(value >= 0, "a histogram counts non-negative integers");
  if (times == 0) return;
  const std::size_t bucket = bucket_of(static_cast<std::uint64_t>(value));
  if (bucket >= buckets_.size())
    buckets_.resize(std::max(bucket + 1, std::min<std::size_t>(buckets_.size() * 2, kExact)));
  buckets_[bucket] += times;
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  count_ += times;
  sum_ += static_cast<int128>(value) * static_cast<std::int64_t>(times);
}

void Histogram::merge(const Histogram& other) {
  if (other.count_ == 0) return;
  if (other.buckets_.size() > buckets_.size()) buckets_.resize(other.buckets_.size());
  for (std::size_t i = 0; i < other.buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = count_ == 0 ? other.max_ : std::max(max_, other.max_);
  count_ += other.count_;
  sum_ += other.sum_;
}

double Histogram::mean() const { return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_); }

std::int64_t Histogram::quantile(double q) const {
  if (count_ == 0) return 0;
  // 0.07 * 100 is 7.000000000000001 in doubles and must still ask for rank 7.
  const double wanted = q * static_cast<double>(count_) * (1.0 - 1e-15);
  auto rank = static_cast<std::uint64_t>(wanted);
  if (static_cast<double>(rank) < wanted) ++rank;
  rank = std::clamp<std::uint64_t>(rank, 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= rank) return std::min(static_cast<std::int64_t>(upper_edge(i)), max_);
  }
  return max_;
}

double wilson_lower(std::uint64_t failures, std::uint64_t trials) {
  if (trials == 0 || failures == 0) return 0.0;
  const double n = static_cast<double>(trials);
  const double p = static_cast<double>(failures) / n;
  const double z2 = kZ * kZ;
  const double centre = p + z2 / (2.0 * n);
  const double spread = kZ * std::sqrt(p * (1.0 - p) / n + z2 / (4.0 * n * n));
  return std::max(0.0, (centre - spread) / (1.0 + z2 / n));
}

double wilson_upper(std::uint64_t failures, std::uint64_t trials) {
  if (trials == 0) return 1.0;
  const double n = static_cast<double>(trials);
  const double p = static_cast<double>(failures) / n;
  const double z2 = kZ * kZ;
  const double centre = p + z2 / (2.0 * n);
  const double spread = kZ * std::sqrt(p * (1.0 - p) / n + z2 / (4.0 * n * n));
  return std::min(1.0, (centre + spread) / (1.0 + z2 / n));
}

void RateEwma::add(Instant at, double amount) {
  const double dt = at > last_ ? to_seconds(at - last_) : 0.0;
  mass_ = mass_ * (tau_ / (tau_ + dt)) + amount;
  last_ = std::max(last_, at);
}

double RateEwma::per_second(Instant at) const {
  const double dt = at > last_ ? to_seconds(at - last_) : 0.0;
  return mass_ * (tau_ / (tau_ + dt)) / tau_;
}

}  // namespace ace
