#pragma once
/// A calendar of commitments: which term of a supply to begin when, for a demand that is known or forecast by period.
#include <cstdint>
#include <string>
#include <vector>

#include "plan/commitments.h"
#include "plan/series.h"

namespace ace {

struct TermProblem {
  Supply supply;  ///< sizes and capacity; the fee is its terms'
  double payg = 0.0;
  std::vector<Term> terms;
  Duration period = 30 * kDay;
  std::int64_t held_units = 0;   ///< committed already...
  std::size_t held_periods = 0;  ///< ...for so many periods from the start
};

struct TermPlan {
  struct Bought {
    std::size_t term = 0, period = 0;  ///< of TermProblem::terms; that it begins with, from 0
    std::int64_t units = 0;
    Usd fee{};  ///< within the series
  };
  struct Period {
    Instant start{};
    std::int64_t held = 0;
    Usd payg{};  ///< of what is held, with what its work costs
  };
  std::vector<Bought> bought;  ///< by period, then by term
  std::vector<Period> periods;
  Usd fees{};        ///< without those of what was committed already
  Usd payg{};        ///< of all periods
  Usd all_payg{};    ///< were nothing held at all
  double gap = 0.0;  ///< relative, of the program
  [[nodiscard]] Usd total() const { return fees + payg; }
};

/// @return bad_input for a period shorter than a step, terms of no period, no term at all or demand that is none;
///         out_of_range for more than 120 periods, or more than 4.6 billion USD of PAYG
Result<TermPlan> plan_terms(const Series& demand, const TermProblem& problem, const LpSolver& solver);

}  // namespace ace
