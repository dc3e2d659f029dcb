#pragma once
/// Least-cost split of a given load over a supply curve: the merit order as a table.
#include <cstdint>
#include <span>
#include <vector>

#include "core/result.h"

namespace ace {

/// One step of a supply curve: `quantity` more units at this marginal cost. Steps of one source must not get cheaper
/// (convex), or filling in merit order is not the optimum.
struct Step {
  std::uint32_t source = 0;
  double marginal_cost = 0.0;
  double quantity = 0.0;
};
struct Filled {
  std::vector<double> by_source;  ///< quantity taken
  double cost = 0.0;
  double price = 0.0;  ///< marginal cost of the dearest step used (lambda)
  double unserved = 0.0;
};
/// Fills from the cheapest step up, ties by source; the last step in part.
/// @return bad_input if a quantity is negative or not finite.
Result<Filled> fill(std::span<const Step> steps, double load);

}  // namespace ace
