#include "cli/cli.h"

#include <ostream>

namespace ace::cli {

void Context::fail(const Error& error) {
  *err << "ace: " << error.what();
  if (error.what().empty() || error.what().back() != '\n') *err << '\n';
  exit_code = ace::exit_code(error.code());
}

int run(int argc, const char* const* argv, Context& context) {
  CLI::App app("Merit-order economic dispatch for GPU and API fleets.", "ace");
  app.set_version_flag("--version", std::string("ace ") + ACE_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 yes, 1 a check failed, 2 bad usage or input, 3 the environment failed.");
  add_analyze(app, context);
  add_explain(app, context);
  add_verify(app, context);
  add_trace(app, context);
  add_fleet(app, context);
  add_prices(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    *context.out << app.help("", CLI::AppFormatMode::Sub);
    return 0;
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, *context.out, *context.err);
    return code == 0 ? 0 : 2;
  }
  return context.exit_code;
}

}  // namespace ace::cli
