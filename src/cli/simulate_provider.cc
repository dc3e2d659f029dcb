/// ace simulate-provider: a provider that exists only here, for trying ACE out and for tests of other programs.
#include <fmt/format.h>
#include <signal.h>

#include <memory>
#include <ostream>

#include "cli/cli.h"
#include "cli/files.h"
#include "simulated/upstream.h"

namespace ace::cli {
namespace {

struct Arguments {
  std::string script;
  std::uint16_t port = 0;
};

Result<void> run(const Arguments& a, Context& context) {
  simulated::Script script;
  if (!a.script.empty()) {
    const Result<std::string> text = read_file(a.script);
    if (!text) return text.error();
    Result<simulated::Script> read = simulated::read_script(*text, a.script);
    if (!read) return read.error();
    script = *std::move(read);
  }
  // Blocked before there is a second thread, so that none but this one is told to end.
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  Result<std::unique_ptr<simulated::Upstream>> upstream = simulated::Upstream::start(std::move(script), a.port);
  if (!upstream) return std::move(upstream).error();
  *context.out << fmt::format("http://127.0.0.1:{}\n", (*upstream)->port());
  context.out->flush();
  int signal = 0;
  sigwait(&ending, &signal);
  return {};
}

}  // namespace

void add_simulate_provider(CLI::App& app, Context& context) {
  auto a = std::make_shared<Arguments>();
  CLI::App* simulate = app.add_subcommand("simulate-provider",
                                          "Serve OpenAI's and Anthropic's APIs from a script of speeds, limits and "
                                          "faults, for tests and trying out; prints its "
                                          "URL, ends on SIGTERM");
  simulate
      ->add_option("--script", a->script,
                   "YAML or JSON file (docs/SIMULATED_PROVIDER.md); without it every answer is at once")
      ->check(CLI::ExistingFile);
  simulate->add_option("--port", a->port, "on 127.0.0.1; 0 for any free one")->capture_default_str();
  simulate->callback([a, &context] {
    if (Result<void> done = run(*a, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
