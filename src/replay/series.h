#pragma once
/// What happened over time, in buckets that double in width as the run gets longer: bounded memory for any length.
#include <cstdint>
#include <vector>

#include "core/money.h"
#include "core/time.h"
#include "core/units.h"

namespace ace {

struct SeriesBucket {
  std::vector<std::int64_t> requests, tokens;  ///< by destination: served, prompt + output
  std::vector<std::int64_t> cost_nano;         ///< by destination: marginal
  std::int64_t arrived = 0, arrived_tokens = 0, served = 0, slo_met = 0, not_served = 0;
};

class LoadSeries {
 public:
  static constexpr std::size_t kBucketsMax = 720;

  explicit LoadSeries(std::size_t destinations = 0) : destinations_(destinations) {}
  /// The bucket of `t`. @param t not before the first one ever asked for
  SeriesBucket& at(Instant t);
  void merge(const LoadSeries& other);
  [[nodiscard]] Instant start() const { return start_; }
  [[nodiscard]] Duration width() const { return width_; }
  [[nodiscard]] const std::vector<SeriesBucket>& buckets() const { return buckets_; }

 private:
  void widen();
  std::size_t destinations_;
  bool started_ = false;
  Instant start_{};  ///< a multiple of the width
  Duration width_{10 * kSecond};
  std::vector<SeriesBucket> buckets_;
};

}  // namespace ace
