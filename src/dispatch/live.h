#pragma once
/// What this worker has seen, in columns by offer: the part of the world a decision depends on besides the fleet.
#include <array>
#include <cstdint>
#include <vector>

#include "core/time.h"
#include "core/units.h"
#include "dispatch/column.h"
#include "dispatch/snapshot.h"

namespace ace {

/// Expected output of a request; mean for price and scarcity, p90 for KV and meter admission.
struct Prediction {
  double output_mean = 0.0, output_p90 = 0.0;
  friend bool operator==(const Prediction&, const Prediction&) = default;
};

/// Knee of a destination of which nothing was learnt, as a share of the cap.
inline constexpr double kKneePrior = 0.9;

/// Columns by OfferId. Shares are of the destination's whole capacity in that resource (1 = at the cap); offers of one
/// destination share its resources, so their columns move together.
struct Live {
  /// Static columns from the fleet: units as declared, prices of 1970 (Belief turns the hours), prior knees, nothing in
  /// use.
  explicit Live(const Snapshot& snapshot);
  /// Resizes a destination to this many running units (0 = none): `per_unit` and `running` of its offers. What is in
  /// use is a share of the cap, so the caller rescales it.
  void size_to(const Snapshot& snapshot, DestinationId destination, std::int64_t units);
  /// Electricity as the brain sees it at `t` (day-ahead): the price columns of owned offers.
  void price_energy(const Snapshot& snapshot, Instant t);

  // What is in use now, as a share of the cap, by resource.
  std::array<Column<double>, kResources> use;
  // What one unit of a request adds: per uncached prompt token (prefill), per request (slots), per token held (kv),
  // per weighted token (tokens), per request (requests). 0 where the resource does not bind.
  std::array<Column<double>, kResources> per_unit;
  // Weights of the `tokens` meter: output and cached tokens in its own unit (PTU, GSU; 1 and 1 for TPM).
  Column<double> meter_output, meter_cached;

  Column<double> price_input, price_cached, price_output;  ///< nano-USD per token, as believed at this hour
  Column<std::uint8_t> tiered;                             ///< long-context tiers: price comes from the row
  Column<double> sustained;                                ///< prefill use, over kSustainedWindow
  /// Seconds of prefill work that stand before a new prompt, and that each of its own tokens adds.
  Column<double> wait, wait_per_token;
  /// [SloId][OfferId] Those seconds as utilization: share per second, such that they take what they may of the class's
  /// TTFT where its prior knee is; 0 where nothing queues or the class has no TTFT.
  std::vector<Column<double>> wait_scale;
  Column<double> knee;                        ///< smallest over the classes in flight, share of the cap
  std::vector<Column<double>> knee_by_class;  ///< [SloId][OfferId]
  Column<double> shadow_price;                ///< lambda: nano-USD per whole share of `scarce`
  Column<std::uint8_t> scarce;                ///< Resource that lambda prices
  Column<double> fail_probability;            ///< P(fail or evicted during the residence)
  Column<double> derate;                      ///< price factor of a derated destination, >= 1
  Column<double> warmth;                      ///< nano-USD per request of loads that fit the SLO
  Column<double> bias;                        ///< nano-USD per token, ordering only; never below Snapshot::bias_floor()
  Column<std::int64_t> throttled_until, tripped_until;  ///< ns since the epoch; 0 = not
  Column<std::uint8_t> running, resident;               ///< units up; weights loaded
  /// [SloId][OfferId] Resident, or a load is possible now and fits the class's TTFT (its deadline, if it has none).
  std::vector<Column<std::uint8_t>> ready;
  Column<std::int32_t> cached;    ///< predicted cached prompt tokens of THIS request
  Column<std::uint32_t> version;  ///< of the cost curve
  bool reserve_short = false;
};

}  // namespace ace
