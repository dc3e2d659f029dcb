#pragma once
/// The subcommands of `ace plan`, one file each, and what they share.
#include <string>

#include "cli/cli.h"
#include "core/time.h"

namespace ace::cli {

/// "7d", "5m", "1h" as the fleet file writes them; `m` is a minute. @return bad_input naming the option
Result<Duration> duration_from(const std::string& option, const std::string& text);

void add_plan_forecast(CLI::App& plan, Context& context);
void add_plan_size(CLI::App& plan, Context& context);
void add_plan_valley(CLI::App& plan, Context& context);
void add_plan_spot(CLI::App& plan, Context& context);
void add_spot_watch(CLI::App& spot, Context& context);  ///< below `ace plan spot`

}  // namespace ace::cli
