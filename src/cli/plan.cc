#include "cli/plan.h"

#include <fmt/core.h>

#include "fleet/values.h"

namespace ace::cli {

Result<Duration> duration_from(const std::string& option, const std::string& text) {
  fleet_file::Misread why;
  if (const std::optional<Duration> read = fleet_file::parse_duration(text, why)) return *read;
  return Error(Errc::bad_input, fmt::format("{}: expected {}, got \"{}\"{}{}", option, why.expected, text.substr(0, 64),
                                            why.mend.empty() ? "" : "; ", why.mend));
}

void add_plan(CLI::App& app, Context& context) {
  CLI::App* plan = app.add_subcommand("plan", "The slow loop: what demand will be, and what to hold for it");
  plan->require_subcommand(1);
  add_plan_forecast(*plan, context);
  add_plan_size(*plan, context);
  add_plan_valley(*plan, context);
  add_plan_spot(*plan, context);
}

}  // namespace ace::cli
