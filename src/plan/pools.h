#pragma once
/// From a fleet to what can be sized: pools of capacity, what a request takes of them and what it costs without them.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/dispatch.h"
#include "plan/size.h"
#include "replay/replay.h"

namespace ace {

/// Destinations that can be held in units, and the models that they serve: what shares neither is sized apart.
struct Pool {
  std::string name;  ///< its models
  std::vector<ModelId> models;
  std::vector<DestinationId> destinations;  ///< in order of id; demand is counted in units of the first
};
/// In order of their first model. Models that no such destination serves are in none.
std::vector<Pool> pools_of(const Snapshot& fleet);

/// What can be bought at a destination, but for what depends on demand: `capacity` is the share of time that a unit is
/// there (spot: of its availability series, or from the hazard and 5 minutes to start again), `variable` is 0. The fee
/// is amortization with idle power, the fee of one committed unit, or the rent at `t`.
Supply supply_of(const Snapshot& fleet, DestinationId destination, Instant t);

/// What one request means for the pool of its model.
struct PoolUse {
  std::size_t pool = 0;
  Usd payg{};  ///< at the cheapest compliant pay-as-you-go price
  /// Of each destination of the pool.
  struct At {
    /// Seconds that one unit, full at its knee with requests like this one, needs for it; negative where it may not or
    /// cannot go there.
    double unit_s = -1.0;
    Usd at_work{};  ///< marginal cost there: energy, or a declared fee
    /// How long before a request work may be piled up: on GPUs the latest end within the limits of its class, and its
    /// own work counts; at a provider's meter the window, and the request itself may overshoot it.
    double patience_s = 0.0;
    bool metered = false;
    [[nodiscard]] bool can() const { return unit_s >= 0.0; }
  };
  std::vector<At> at;
};

/// Why a request is no demand of a pool.
enum class Unpooled : std::uint8_t {
  no_pool,   ///< no destination with units serves its model
  unpriced,  ///< no compliant pay-as-you-go price, so that not serving it has none
  barred,    ///< it may not go to any of the pool, or fits none
};
inline constexpr std::size_t kUnpooled = 3;
std::string_view name_of(Unpooled why);

/// Weighs requests; reuses one buffer. Equivalent models are left out: routing is the fast loop's.
class PoolScale {
 public:
  explicit PoolScale(const Snapshot& fleet);
  [[nodiscard]] const std::vector<Pool>& pools() const { return pools_; }
  /// @return the use, valid until the next call, or why there is none
  [[nodiscard]] const PoolUse* weigh(const Demand& demand, Unpooled& why);

 private:
  void weigh_at(PoolUse::At& use, OfferId offer, const Demand& demand, const Usage& usage) const;
  const Snapshot* fleet_;
  Belief belief_;  ///< of which nothing was learnt: its knees are the priors
  std::vector<Pool> pools_;
  std::vector<std::size_t> pool_of_;  ///< by model; pools_.size() = none
  PoolUse use_;
};

}  // namespace ace
