#pragma once
/// Committed capacity as it is really sold, and the provider's own admission meter for it.
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/money.h"
#include "core/result.h"
#include "core/time.h"
#include "core/units.h"
#include "fleet/price.h"

namespace ace {

/// Provisioned throughput units (Azure): a normalized token rate per unit, a leaky bucket, 429 at once when full.
struct PtuTerms {
  std::int64_t units = 0;
  std::int64_t tokens_per_minute_per_unit = 0;  ///< normalized tokens, by model
  double output_ratio = 4.0;                    ///< one output token in normalized tokens
  double cached_weight = 0.0;                   ///< one cached input token in normalized tokens
  std::int64_t units_min = 15, units_increment = 5;
  bool native_spill = false;  ///< the provider itself re-sends what does not fit to a pay-as-you-go deployment
  friend bool operator==(const PtuTerms&, const PtuTerms&) = default;
};

/// Scale units of provisioned throughput (Google): burndown tokens per second per unit over an enforcement window that
/// shrinks with the size of the purchase; estimated at admission, reconciled at completion.
struct GsuTerms {
  std::int64_t units = 0;
  double tokens_per_second_per_unit = 0.0;  ///< burndown tokens
  double output_ratio = 1.0;                ///< burndown of one output token
  double cached_weight = 1.0;               ///< burndown of one cached input token
  std::int64_t units_increment = 1;
  Duration window{30 * kSecond};  ///< enforcement window at this size
  friend bool operator==(const GsuTerms&, const GsuTerms&) = default;
};

/// Published terms of one unit for a model by canonical name, without `units`; nothing for a model not in the table.
/// @param regional sizes of regional deployments; otherwise those of global and data-zone ones
std::optional<PtuTerms> ptu_terms(std::string_view model, bool regional);
/// Published burndown tokens per second of one unit, 0 for a model not in the table.
double gsu_tokens_per_second(std::string_view model);

/// Weighted tokens of a request under the terms: uncached + weight x cached + ratio x output.
double normalized_tokens(const PtuTerms& terms, Tokens uncached, Tokens cached, Tokens output);
double normalized_tokens(const GsuTerms& terms, Tokens uncached, Tokens cached, Tokens output);

/// Units to buy for a normalized rate: the least size at or above it, where sizes are minimum + k x increment. That is
/// how we read the tables: an increment is what a deployment of minimum size grows by (o1, minimum 25 and increment 50:
/// 25, 75, 125...). For every other row the minimum is a multiple of the increment and the readings agree.
/// @param normalized_per_minute not negative  @return 0 for 0
std::int64_t ptu_units_for(const PtuTerms& terms, double normalized_per_minute);
std::int64_t gsu_units_for(const GsuTerms& terms, double burndown_per_second);

/// Units billed by the hour: what is in use beyond the reservation. Reservations match on kind, region and scope, never
/// on the model. Source: Azure's example, 500 reserved and 300 + 300 in use bill 100 hourly.
std::int64_t hourly_overage(std::int64_t reserved, std::int64_t in_use);

/// Enforcement window of a purchase of `units`, linear between the published points (615 s at 1 unit, 100 s at 10, 5 s
/// at 123 and beyond). Source: facts on Google provisioned throughput (fleet file may state another window).
Duration gsu_window_for(std::int64_t units);

/// The provider's meter: a leaky bucket of weighted tokens that drains at the committed rate. Pure; the dispatcher runs
/// one as its belief, the replayed world runs one as the truth.
class CommitmentMeter {
 public:
  /// @param rate_per_second drain in weighted tokens per second  @param window bucket depth = rate x window
  CommitmentMeter(double rate_per_second, Duration window) : rate_(rate_per_second), window_(to_seconds(window)) {}
  CommitmentMeter(const PtuTerms& terms);
  CommitmentMeter(const GsuTerms& terms);

  /// Level after draining to `now`, as a share of the bucket, in [0, ...).
  [[nodiscard]] double level(Instant now) const;
  /// Admits if the bucket is not full yet after draining (the published rule: a call is accepted while utilization is
  /// below 100%, and may overshoot by its own size); then adds the estimate.
  bool admit(Instant now, double weighted_estimate);
  /// Time until the level is below 1 again; zero if it is.
  [[nodiscard]] Duration retry_after(Instant now) const;
  /// At completion: what was really used replaces the estimate.
  void reconcile(Instant now, double weighted_estimate, double weighted_actual);
  [[nodiscard]] double capacity() const { return rate_ * window_; }
  [[nodiscard]] double rate() const { return rate_; }

 private:
  void drain(Instant now);
  double rate_, window_;
  double level_ = 0.0;  ///< weighted tokens in the bucket
  Instant last_{};
};

}  // namespace ace
