#pragma once
/// Commitment sizing: how much of each kind of capacity to hold so that what is bought by the token carries the tail
/// alone. Exact by load-duration and screening curves where costs are linear; see lp.h and benders.h for what is not.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/money.h"
#include "core/result.h"
#include "plan/absorbed.h"

namespace ace {

/// A kind of capacity that can be held: a destination's unit under one term.
struct Supply {
  std::string name;
  double capacity = 1.0;  ///< of one unit, in the unit of demand: at the knee, availability-weighted; positive
  Usd fee_hourly{};       ///< of one unit, used or not; up-front fees spread over the term; not negative
  double variable = 0.0;  ///< USD for capacity 1 at work for an hour: energy, or a declared fee per token
  std::int64_t units_min = 1, increment = 1;  ///< sizes are 0, or minimum + k x increment
  std::optional<std::int64_t> units_max{};
  std::int64_t units_today = 0;
  friend bool operator==(const Supply&, const Supply&) = default;
};

/// What is to be sized. Demand that no supply absorbs is served at `payg`, as much of it as there is.
struct SizingProblem {
  std::vector<Supply> supplies;
  double payg = 0.0;  ///< USD for work of capacity 1 x 1 h, at the cheapest compliant pay-as-you-go price
  AbsorbedLoad load;
};

/// @return bad_input naming the supply and what was expected of it
Result<void> check(const SizingProblem& problem);

/// Supplies that are cheaper at work than PAYG, least variable cost first, ties by position.
std::vector<std::size_t> merit_order(const SizingProblem& problem);

/// USD over the hours of the load.
struct SizingCost {
  double fixed = 0.0, variable = 0.0, payg = 0.0;
  double absorbed = 0.0;  ///< capacity x hours
  [[nodiscard]] double total() const { return fixed + variable + payg; }
};
/// Of holding `units` of each supply and dispatching them in merit order, each only while it is cheaper than PAYG:
///   cost = sum f u + e A + p (D - A)       ECONOMICS 10
/// @param units one for each supply, not negative, not necessarily whole
SizingCost cost_of(const SizingProblem& problem, std::span<const double> units);
/// What one more increment (of what is not held: its minimum) saves over the hours of the load; negative if it costs.
double value_of_next(const SizingProblem& problem, std::span<const double> units, std::size_t supply);

/// Share of the hours that a unit must be at work to pay for itself against PAYG: f / (p - e) by capacity; infinite
/// where it never does, because each hour of work costs as much as PAYG or more. Above 1 it never does either: a price
/// inversion, of which the optimum holds nothing.
double break_even_utilization(const Supply& supply, double payg);

/// The optimum with sizes that need not be whole, and no limits. Each bit of capacity that is at work for h hours goes
/// to the supply with the least F + e h, so that supplies stack in merit order and change where these lines cross.
/// With one supply and an even spread it is the newsvendor's quantile: P(D > C) = f / (p - e).
std::vector<double> screening_optimum(const SizingProblem& problem);

/// Sizes to hold at a total capacity, by the same lines: the stack of the optimum is cut at `capacity`, or its last
/// supply grows to it; what nothing pays for goes to the supply that is cheapest there. Offered for availability
/// targets such as p90, which are cost-optimal only by chance (p90: at a discount of 90%).
std::vector<double> screening_at(const SizingProblem& problem, double capacity);

/// Nearest sizes that can be bought, at or below and at or above: 0, or minimum + k x increment, at most the maximum.
struct Sizes {
  std::int64_t floor = 0, ceil = 0;
};
Sizes sizes_around(const Supply& supply, double units);

/// The best whole sizes next to `units`: all combinations of floor, ceil and nothing where there are few supplies, and
/// from the best of them single increments up and down as long as that helps. For one supply it is the optimum, because
/// its cost is convex; for several it need not be, which is what benders.h is for.
std::vector<std::int64_t> rounded(const SizingProblem& problem, std::span<const double> units);

/// A plan in money: fees are exact integers; what A(C) says, a double, is rounded to a nano-dollar once for each part.
struct PricedPlan {
  std::vector<std::int64_t> units;
  Usd fixed{}, variable{}, payg{};
  double absorbed = 0.0;
  [[nodiscard]] Usd total() const { return fixed + variable + payg; }
};
/// @return out_of_range if an amount leaves what Usd holds
Result<PricedPlan> price_plan(const SizingProblem& problem, std::span<const std::int64_t> units);

}  // namespace ace
