#pragma once
/// Work with a deadline on capacity that may be taken away: when to hold spot, when to wait, when to pay on demand.
///
/// Source: Wu et al., "Can't Be Late: Optimizing Spot Instance Savings under Deadlines", NSDI 2024.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/money.h"
#include "core/result.h"
#include "core/time.h"

namespace ace {

/// Work as running time on the capacity that it needs, all of it at a time.
struct SpotTask {
  Duration work{};        ///< without any loss
  Duration deadline{};    ///< after its start; at least work + changeover
  Duration changeover{};  ///< each start, spot or on demand, takes so long until work goes on; at most a step
  Duration checkpoint{};  ///< of the work since a start, whole intervals survive an eviction; 0 = the notice is long
                          ///< enough to save all
  friend bool operator==(const SpotTask&, const SpotTask&) = default;
};

/// Prices of an hour of the capacity that the task needs.
struct SpotPrices {
  Usd spot{}, on_demand{};
};

enum class SpotMode : std::uint8_t { idle, spot, on_demand };
enum class SpotRule : std::uint8_t {
  on_demand,         ///< always
  spot,              ///< always, deadline or not
  greedy,            ///< spot while it can be had; waits until the slack is gone
  uniform_progress,  ///< spot while it can be had; on demand when behind work x time / deadline, until two changeovers
                     ///< ahead of it
};
inline constexpr SpotRule kSpotRules[] = {SpotRule::on_demand, SpotRule::spot, SpotRule::greedy,
                                          SpotRule::uniform_progress};
std::string_view name_of(SpotRule rule);

/// What a rule may know.
struct SpotView {
  Duration now{};      ///< since the start
  Duration done{};     ///< work done
  Duration durable{};  ///< the part of it that an eviction cannot take
  SpotMode mode = SpotMode::idle;
  bool available = false;  ///< spot was to be had until now; nobody knows for how much longer
  Duration step{};         ///< until the next look
};

/// What to hold until the next look. `greedy` and `uniform_progress` never miss a deadline that on-demand capacity can
/// keep: they leave the machine to chance only if, were the whole step lost with all that is not durable, what is left
/// and a changeover would still fit before the deadline.
SpotMode next_mode(SpotRule rule, const SpotTask& task, const SpotView& view);

struct SpotOutcome {
  bool met = false;            ///< the deadline
  Duration finished{};         ///< after the start; the end of the trace if it never did
  Duration on_spot{}, paid{};  ///< time on spot, on demand
  Duration lost{};             ///< work done twice
  std::int64_t evictions = 0, switches = 0;
  Usd cost{};  ///< rounded once; a step in which spot is taken is not billed
};

/// Runs a task through a trace of availability. @param available  by step, whether all that the task needs was there
/// throughout; after its end there is none
/// @return bad_input if the task breaks its bounds or the step is not positive; out_of_range for a cost that is no Usd
Result<SpotOutcome> run_spot(SpotRule rule, const SpotTask& task, const SpotPrices& prices,
                             std::span<const std::uint8_t> available, Duration step);

/// The least that the task could have cost by its deadline for who knew the whole trace, under the same changeovers: a
/// bound for every rule. Dynamic program over steps, modes and work in units of the greatest common divisor of step,
/// changeover and work: O(deadline / step x work / unit).
/// @return as above, and bad_input if that product is above 10^8
Result<Usd> spot_optimum(const SpotTask& task, const SpotPrices& prices, std::span<const std::uint8_t> available,
                         Duration step);

}  // namespace ace
