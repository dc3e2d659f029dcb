#pragma once
/// How long answers will be, by model and tenant; learnt at completion only.
#include <array>
#include <cstdint>
#include <vector>

#include "core/units.h"
#include "dispatch/kin.h"
#include "dispatch/live.h"
#include "dispatch/snapshot.h"

namespace ace {

/// Output lengths in half-octave buckets with exponential forgetting: mean and p90 of min(length, cap).
class LengthSketch {
 public:
  void add(std::int64_t tokens);
  [[nodiscard]] std::uint32_t count() const { return total_; }
  /// @param cap longest answer the request allows; 0 = none
  [[nodiscard]] Prediction capped(std::int64_t cap) const;

 private:
  static constexpr std::size_t kBuckets = 40;         ///< up to 2^20 tokens
  static constexpr std::uint32_t kRemembered = 4096;  ///< all counts are halved when they reach this
  [[nodiscard]] static std::size_t bucket_of(std::int64_t tokens);
  [[nodiscard]] static double lower_edge(std::size_t bucket);
  [[nodiscard]] Prediction compute(std::int64_t cap) const;
  std::array<std::uint32_t, kBuckets> counts_{};
  std::array<std::int64_t, kBuckets> sums_{};
  std::uint32_t total_ = 0;
  // The last answer, reused until a thirty-second of the sample is new: tenants rarely change their cap.
  mutable std::int64_t cap_ = -1;
  mutable std::uint32_t added_ = 0, fresh_until_ = 0;
  mutable Prediction answer_{};
};

/// Conditional mean output, E[min(X, max_output)], and its p90: of model x tenant once kEnough completions were seen,
/// else of the model, else of the class, else of the shipped prior. Deterministic; O(1) but for a changed cap (40
/// buckets). Memory: at most kCells cells of 600 B beside one per model and class; a pair beyond those is predicted by
/// its model.
class Predictor {
 public:
  static constexpr std::uint32_t kEnough = 16;
  static constexpr std::size_t kCells = 8192;
  explicit Predictor(const Snapshot& snapshot);

  [[nodiscard]] Prediction predict(ModelId model, TenantId tenant, SloId slo, Tokens max_output) const;
  void completed(ModelId model, TenantId tenant, SloId slo, Tokens output);
  /// What another one has learnt of the same models, tenants and classes. @pre this one has learnt nothing
  void inherit(const Predictor& before, const Kin& kin);

 private:
  [[nodiscard]] std::size_t pair_of(ModelId model, TenantId tenant) const;
  std::size_t tenants_;                 ///< declared ones and one place for all others
  std::vector<std::uint32_t> cell_of_;  ///< by model x tenant; kNone = no cell yet
  std::vector<LengthSketch> cells_, by_model_, by_class_;
  std::vector<bool> deferrable_;  ///< by class
};

}  // namespace ace
