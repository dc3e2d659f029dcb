#include "dispatch/fill.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>

namespace ace {

Result<Filled> fill(std::span<const Step> steps, double load) {
  if (!std::isfinite(load) || load < 0.0)
    return Error(Errc::bad_input, "filling a supply curve: expected a load of at least 0, got " + std::to_string(load));
  Filled filled;
  std::vector<std::uint32_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (!std::isfinite(step.quantity) || step.quantity < 0.0 || !std::isfinite(step.marginal_cost))
      return Error(Errc::bad_input, "filling a supply curve: step " + std::to_string(i) + " has quantity " +
                                        std::to_string(step.quantity) + " at cost " +
                                        std::to_string(step.marginal_cost) +
                                        "; both must be finite, quantity not below 0");
    if (filled.by_source.size() <= step.source) filled.by_source.resize(step.source + 1, 0.0);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(steps[a].marginal_cost, steps[a].source, a) < std::tie(steps[b].marginal_cost, steps[b].source, b);
  });
  double left = load;
  for (const std::uint32_t i : order) {
    if (!(left > 0.0)) break;
    const Step& step = steps[i];
    if (step.quantity == 0.0) continue;
    const double taken = std::min(left, step.quantity);
    filled.by_source[step.source] += taken;
    filled.cost += taken * step.marginal_cost;
    filled.price = step.marginal_cost;
    left -= taken;
  }
  filled.unserved = left;
  return filled;
}

}  // namespace ace
