#pragma once
/// Files of deferrable jobs.
#include <optional>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "plan/valley.h"

namespace ace {

/// Reads a CSV with a header:
///   name                     of the job, once
///   gpu_hours, or tokens     its work: one of the two columns
///   earliest, deadline       2026-12-01T00:00:00Z
///   units_min, units_max     side by side while it runs; 1 and 1 if the column is missing or the cell empty
///   preemptible              yes (if missing) or no
///   restart_s                seconds that each unit loses when the job goes on after a pause; 0 if missing
/// @param tokens_per_unit_hour  what a unit does at its knee; needed for `tokens`
/// @return bad_input naming the line and what was expected; corrupt if the file is no CSV
Result<std::vector<DeferrableJob>> parse_jobs(std::string_view csv, std::optional<double> tokens_per_unit_hour = {});

}  // namespace ace
