#pragma once
/// What the `ace trace` subcommands share.
#include <memory>
#include <string>

#include "cli/trace_arguments.h"

namespace ace::cli {

/// Which trace, how to read it, and who is known in it.
struct TraceArguments {
  std::string path, fleet;
  FormatArguments format;
};
void add_trace_arguments(CLI::App& command, TraceArguments& arguments);
Result<std::unique_ptr<RequestSource>> open_trace(const TraceArguments& arguments);

}  // namespace ace::cli
