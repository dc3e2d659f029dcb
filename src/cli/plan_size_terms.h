#pragma once
/// The calendar of `ace plan size --term`.
#include <string>
#include <vector>

#include "core/result.h"
#include "plan/term_plan.h"

namespace ace::cli {

/// "year:12:221" or "year:12:221:500": name, periods, USD for a unit and period, USD for a unit once.
/// @return bad_input naming the option
Result<Term> term_from(const std::string& text);
std::string calendar_text(const std::string& series, const TermProblem& problem, const TermPlan& plan);
std::string calendar_json(const std::string& series, const TermProblem& problem, const TermPlan& plan);

}  // namespace ace::cli
