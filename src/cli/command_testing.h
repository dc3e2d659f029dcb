#pragma once
/// Runs one command of the program as main() would, for tests.
#include <CLI/CLI.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/cli.h"

namespace ace::cli {

struct CommandRun {
  int code = 0;
  std::string out, err;
};

/// @param add e.g. add_verify @param arguments with the command's own name first
inline CommandRun run_command(void (*add)(CLI::App&, Context&), const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  Context context;
  context.out = &out;
  context.err = &err;
  CLI::App app;
  add(app, context);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 takes them
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    const bool fine = app.exit(error, out, err) == 0;
    return {fine ? 0 : 2, out.str(), err.str()};
  }
  return {context.exit_code, out.str(), err.str()};
}

}  // namespace ace::cli
