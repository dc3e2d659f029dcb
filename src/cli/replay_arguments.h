#pragma once
/// The arguments that `analyze`, `explain` and `verify` share: a trace, a fleet and how to replay one on the other.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/fleet_files.h"
#include "cli/trace_arguments.h"
#include "replay/replay.h"
#include "report/report.h"

namespace ace::cli {

/// A fleet, and how the names of a log become its names.
struct NamingArguments {
  std::string fleet, prices, model, model_map;
  std::vector<std::pair<std::string, std::string>> model_pairs;  ///< in the place of the file
};
void add_naming_arguments(CLI::App& command, NamingArguments& arguments);
/// @return bad_input for a model that the fleet has not
Result<Naming> naming_from(const NamingArguments& arguments, const Fleet& fleet);

struct ReplayArguments : NamingArguments {
  std::string trace, window;
  std::string spine;                      ///< in the place of a trace
  std::string archive;                    ///< of the spine: segments that were pruned since
  std::optional<std::uint64_t> snapshot;  ///< of a spine: only requests under this fleet
  FormatArguments format;
  std::string gaps;
  std::string baseline = "all-payg", sensitivity = "sample", settlement = "pooled", idle = "by-usage";
  bool bound = false, no_spool = false;
  bool recorded = false;    ///< decide as a run that is recorded does
  bool read_again = false;  ///< the command goes through the trace once more itself
  std::optional<double> plant_slowdown;
  std::vector<std::string> held;  ///< names of destinations
  unsigned threads = 0;           ///< 0 = all
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
  HowRead read;
  // Where the requests come from a spine:
  std::unique_ptr<Snapshots> snapshots;
  std::unique_ptr<Realised> realised;
  Experiences predicted;  ///< filled by options.each
  [[nodiscard]] std::optional<Comparison> comparison() const {
    return realised ? std::optional<Comparison>({realised.get(), &predicted}) : std::nullopt;
  }
};
/// Loads the fleet, opens the trace, which its first pass writes to a spool if there will be another and it was not
/// forbidden. Warnings go to stderr.
Result<std::unique_ptr<Prepared>> prepare(const ReplayArguments& arguments, Context& context);

}  // namespace ace::cli
