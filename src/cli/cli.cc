#include "cli/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "core/text.h"

namespace ace::cli {

void Context::fail(const Error& error) {
  *err << "ace: " << error.what();
  if (error.what().empty() || error.what().back() != '\n') *err << '\n';
  exit_code = ace::exit_code(error.code());
}

namespace {

/// "ace trace stats", as typed.
std::string path_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : path_of(*app.get_parent()) + " " + app.get_name();
}

/// The command or option that was probably meant, or nothing.
std::string meant(const CLI::App& app, const std::string& word) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, std::min<std::size_t>(3, word.size() / 3)) + 1;
  const auto consider = [&](const std::string& name) {
    if (const std::size_t distance = edit_distance(word, name); distance < least) {
      least = distance;
      best = name;
    }
  };
  if (word.starts_with('-')) {
    for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; }))
      for (const std::string& name : option->get_lnames()) consider("--" + name);
  } else {
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) consider(sub->get_name());
  }
  return best.empty() ? "" : "; did you mean " + best + "?";
}

/// What CLI11 says, or better: a word it does not know comes before what it then finds missing.
std::string what_is_wrong(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App* app = &root;
  while (true) {
    for (const std::string& given : app->remaining()) {
      const std::string word = given.substr(0, std::min<std::size_t>(given.find('='), 64));
      if (word == "--") continue;
      const bool needs_command = app->get_require_subcommand_min() > 0;
      const char* const kind = word.starts_with('-') ? "option" : needs_command ? "command" : "argument";
      return fmt::format("{} takes no {} \"{}\"{}; see {} --help", path_of(*app), kind, word, meant(*app, word),
                         path_of(*app));
    }
    const std::vector<CLI::App*> below = app->get_subcommands();
    if (below.empty()) break;
    app = below.front();
  }
  std::string what = error.what();
  if (app->get_require_subcommand_min() > 0 && app->get_subcommands().empty()) {
    what = "a command is missing:";
    for (const CLI::App* sub : app->get_subcommands([](const CLI::App*) { return true; }))
      what += " " + sub->get_name();
  }
  return fmt::format("{}; see {} --help", what, path_of(*app));
}

}  // namespace

int run(int argc, const char* const* argv, Context& context) {
  CLI::App app("Merit-order economic dispatch for GPU and API fleets.", "ace");
  app.set_version_flag("--version", std::string("ace ") + ACE_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 yes, 1 a check failed, 2 bad usage or input, 3 the environment failed.");
  add_analyze(app, context);
  add_ingest(app, context);
  add_explain(app, context);
  add_verify(app, context);
  add_ledger(app, context);
  add_trace(app, context);
  add_fleet(app, context);
  add_import(app, context);
  add_prices(app, context);
  add_plan(app, context);
  add_spine(app, context);
  add_serve(app, context);
  add_keys(app, context);
  add_simulate_provider(app, context);
  add_completion(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    *context.out << app.help();
    return 0;
  } catch (const CLI::CallForVersion& version) {
    *context.out << version.what() << '\n';
    return 0;
  } catch (const CLI::ParseError& error) {
    *context.err << "ace: " << what_is_wrong(app, error) << '\n';
    return 2;
  }
  return context.exit_code;
}

}  // namespace ace::cli
