#pragma once
/// ace explain ID --spine DIR: one request, action or plan from its records alone.
#include <string>

#include "cli/cli.h"

namespace ace::cli {

struct SpinePlace {
  std::string directory, archive;  ///< of segments that were pruned; empty = none
};

/// @param id "req_...", "act_..." or "plan_..." @return not_found if the spine holds no such thing
Result<void> explain_spine(const std::string& id, const SpinePlace& place, Context& context);

}  // namespace ace::cli
