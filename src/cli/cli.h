#pragma once
/// The command line: one thin file per subcommand. main() hands in the world; subcommands read, ask, print.
#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <string>

#include "core/result.h"

namespace ace::cli {

/// What a subcommand may touch besides its arguments.
struct Context {
  std::ostream* out = nullptr;   ///< results
  std::ostream* err = nullptr;   ///< everything else
  bool err_is_terminal = false;  ///< progress bars only then
  int exit_code = 0;             ///< set by the subcommand that ran

  /// Prints the error and remembers its exit code.
  void fail(const Error& error);
};

void add_analyze(CLI::App& app, Context& context);
void add_ingest(CLI::App& app, Context& context);
void add_explain(CLI::App& app, Context& context);
void add_verify(CLI::App& app, Context& context);
void add_ledger(CLI::App& app, Context& context);
void add_fleet(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);
void add_prices(CLI::App& app, Context& context);
void add_trace(CLI::App& app, Context& context);
void add_spine(CLI::App& app, Context& context);
void add_serve(CLI::App& app, Context& context);
void add_keys(CLI::App& app, Context& context);
void add_plan(CLI::App& app, Context& context);
void add_simulate_provider(CLI::App& app, Context& context);
void add_completion(CLI::App& app, Context& context);

/// Parses the arguments and runs the subcommand. @return the process exit code
int run(int argc, const char* const* argv, Context& context);

}  // namespace ace::cli
