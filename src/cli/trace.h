#pragma once
/// What the `ace trace` subcommands share.
#include <memory>
#include <string>

#include "cli/cli.h"
#include "trace/trace.h"

namespace ace::cli {

/// How to read a trace, as the command line says it.
struct TraceArguments {
  std::string path, format, columns, tz, model, salt_file, fleet, on_bad_row = "fail", delimiter = ",";
  bool sort = false;
};
void add_trace_arguments(CLI::App& command, TraceArguments& arguments);
Result<std::unique_ptr<RequestSource>> open_trace(const TraceArguments& arguments);

}  // namespace ace::cli
