#pragma once
/// The arguments that `analyze`, `explain` and `verify` share: a trace, a fleet and how to replay one on the other.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/fleet_files.h"
#include "cli/trace_arguments.h"
#include "replay/replay.h"

namespace ace::cli {

struct ReplayArguments {
  std::string trace, fleet, prices;
  FormatArguments format;
  std::string model, model_map, window, gaps;
  std::string baseline = "all-payg", sensitivity = "sample", settlement = "pooled", idle = "by-usage";
  bool bound = false, no_spool = false;
  bool read_again = false;  ///< the command goes through the trace once more itself
  double plant_slowdown = 1.0;
  unsigned threads = 0;  ///< 0 = all
  std::uint64_t seed = 1;
};
/// What is read and how: fleet, prices, names, formats.
void add_reading_arguments(CLI::App& command, ReplayArguments& arguments);
/// The trace, all of the above, and what to compute.
void add_replay_arguments(CLI::App& command, ReplayArguments& arguments);

/// Everything loaded and opened.
struct Prepared {
  explicit Prepared(Fleet f) : fleet(std::move(f)), snapshot(fleet) {}
  Fleet fleet;
  Snapshot snapshot;  ///< refers to `fleet`
  std::unique_ptr<RequestSource> source;
  AnalyzeOptions options;
  std::string trace_name, fleet_name;
  std::vector<FleetText> files;  ///< that the fleet was read from
  bool stable_masks = false;     ///< undeclared names have the same mask in every run
};
/// Loads the fleet, opens the trace, which its first pass writes to a spool if there will be another and it was not
/// forbidden. Warnings go to stderr.
Result<std::unique_ptr<Prepared>> prepare(const ReplayArguments& arguments, Context& context);

}  // namespace ace::cli
