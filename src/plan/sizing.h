#pragma once
/// A plan made on one stretch and judged on the next: the optimum beside what else could be held, its regret, and what
/// it costs if demand falls.
#include <cstdint>
#include <string>
#include <vector>

#include "plan/size.h"

namespace ace {

/// Sizes to hold and what they cost on the stretch that judges.
struct SizedPlan {
  std::string name;  ///< "nothing", "optimum", "p90", "today", "oracle"
  PricedPlan priced;
};

/// The optimum's sizes on a demand that is lower by `fall` than that of the judging stretch.
struct Exposure {
  double fall = 0.0;
  Usd held{};     ///< cost with the optimum's sizes
  Usd nothing{};  ///< all at PAYG
  Usd best{};     ///< with the sizes that would then be best; held - best is stranded
};

struct Sizing {
  std::vector<double> relaxed;     ///< the optimum if sizes need not be whole
  std::vector<double> break_even;  ///< by supply, on the stretch that was planned on
  std::vector<Usd> next_saves;     ///< by supply: what one more increment than the optimum saves there, for an hour
  double p90 = 0.0;                ///< of demand by interval, likewise
  SizedPlan nothing, optimum, availability, today, oracle;
  Usd regret{};  ///< optimum - oracle
  std::vector<Exposure> exposure;
};

/// @param train,judge the same supplies in the same order; one problem twice = in-sample
/// @param optimum sizes made on `train`, as by size_together() or rounded()
/// @return bad_input as check(), out_of_range as price_plan()
Result<Sizing> size_up(const SizingProblem& train, const SizingProblem& judge, std::vector<std::int64_t> optimum,
                       const std::vector<double>& falls);

}  // namespace ace
