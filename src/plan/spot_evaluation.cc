#include "plan/spot_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/int128.h"

namespace ace {

Result<SpotEvaluation> evaluate_spot(const SpotTask& task, const SpotPrices& prices,
                                     std::span<const std::uint8_t> available, Duration step, std::size_t stride) {
  if (step <= Duration{} || stride == 0) return Error(Errc::bad_input, "a step and a stride are positive");
  const auto length =
      static_cast<std::size_t>(std::max<std::int64_t>(1, -floor_div(-nanos(task.deadline), nanos(step))));
  if (available.size() < length)
    return Error(Errc::bad_input, fmt::format("the trace of {:.2f} h is shorter than the deadline of {:.2f} h",
                                              to_seconds(static_cast<std::int64_t>(available.size()) * step) / 3600.0,
                                              to_seconds(task.deadline) / 3600.0));
  const int128 looks = int128{(available.size() - length) / stride + 1} * length;
  if (looks * nanos(step) > int128{nanos(kHour)} * std::numeric_limits<std::int64_t>::max() /
                                std::max<std::int64_t>(1, std::max(prices.spot, prices.on_demand).nano))
    return Error(
        Errc::out_of_range,
        fmt::format("{} an hour: all starts together may cost more than 9.2 billion USD; take fewer of them, or "
                    "fewer units",
                    to_display(std::max(prices.spot, prices.on_demand))));
  SpotEvaluation evaluation;
  evaluation.availability = static_cast<double>(std::count_if(available.begin(), available.end(),
                                                              [](std::uint8_t there) { return there != 0; })) /
                            static_cast<double>(available.size());
  for (const SpotRule rule : kSpotRules) evaluation.rules.push_back({rule});
  for (std::size_t start = 0; start + length <= available.size(); start += stride) {
    const std::span<const std::uint8_t> ahead = available.subspan(start, length);
    const Result<Usd> least = spot_optimum(task, prices, ahead, step);
    if (!least) return Error(least.error());
    evaluation.optimum += *least;
    ++evaluation.runs;
    for (SpotTally& tally : evaluation.rules) {
      const Result<SpotOutcome> run = run_spot(tally.rule, task, prices, ahead, step);
      if (!run) return Error(run.error());
      tally.missed += run->met ? 0 : 1;
      tally.evictions += run->evictions;
      tally.switches += run->switches;
      tally.on_spot += run->on_spot;
      tally.paid += run->paid;
      tally.lost += run->lost;
      tally.cost += run->cost;
    }
  }
  return evaluation;
}

}  // namespace ace
