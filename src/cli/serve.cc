#include <fmt/format.h>
#include <signal.h>

#include <filesystem>
#include <ostream>
#include <random>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/spine.h"
#include "gateway/service.h"

namespace ace::cli {
namespace {

struct Arguments {
  std::string config;
  bool check = false;
};

/// Paths in a configuration are relative to its folder.
std::string beside(const std::filesystem::path& folder, const std::string& path) {
  return path.empty() ? path : (folder / path).lexically_normal().string();
}

Result<gateway::Config> read_config(const std::string& path, Context& context) {
  Result<std::string> text = read_file(path);
  if (!text) return std::move(text).error().with("loading the configuration");
  gateway::ConfigReading reading = gateway::parse_config(*text, path);
  if (!reading.mistakes.empty()) return Error(Errc::bad_input, describe(reading.mistakes));
  for (const std::string& warning : reading.warnings) *context.err << "ace: warning: " << warning << '\n';
  gateway::Config& config = reading.config;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (std::string* file :
       {&config.fleet, &config.prices, &config.spine_dir, &config.listen.certificate, &config.listen.key})
    *file = beside(folder, *file);
  return config;
}

/// Signals that end or reload the process, taken by one thread that waits for them. Made before any other thread is.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, number);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    signal(SIGPIPE, SIG_IGN);
  }
  int wait() const {
    int got = 0;
    while (sigwait(&set_, &got) != 0) {
    }
    return got;
  }

 private:
  sigset_t set_{};
};

void reload(const Arguments& arguments, gateway::Service& service, Context& context) {
  const Result<gateway::Config> config = read_config(arguments.config, context);
  if (!config) {
    *context.err << "ace: not reloaded: " << config.error().what() << '\n';
    return;
  }
  const Result<std::vector<std::string>> notes = service.reload(*config, false);
  if (!notes) {
    *context.err << "ace: not reloaded: " << notes.error().what() << '\n';
    return;
  }
  *context.err << fmt::format("ace: reloaded {}, mode {}\n", arguments.config, gateway::name_of(config->mode));
  for (const std::string& note : *notes) *context.err << "ace: note: " << note << '\n';
}

Result<void> serve(const Arguments& arguments, Context& context) {
  const Signals signals;
  Result<gateway::Config> config = read_config(arguments.config, context);
  if (!config) return std::move(config).error();
  gateway::Service::Options options;
  options.config = *config;
  options.load = [](const gateway::Config& of, std::vector<FleetText>* files) {
    return load_fleet(of.fleet, of.prices, files);
  };
  options.secrets = secrets_of_process(std::filesystem::path(config->fleet).parent_path().string());
  std::random_device random;
  options.seed = (std::uint64_t{random()} << 32) | random();
  // The directory first, so that the key has a place to lie.
  if (Result<std::unique_ptr<PosixDisk>> made = PosixDisk::open(config->spine_dir, PosixDisk::Access::own); !made)
    return std::move(made).error();
  const Result<spine::Signer> signer = signer_at(signing_key_of(config->spine_dir));
  if (!signer) return Error(signer.error());
  options.store = store_options(*signer, config->durability);
  options.store.spool_bytes = 32U << 20;
  Result<std::unique_ptr<gateway::Service>> service = gateway::Service::start(std::move(options));
  if (!service) return std::move(service).error();
  if (const spine::Recovery& found = (*service)->recovery(); found.bytes_cut > 0)
    *context.err << fmt::format("ace: cut {} bytes at {}, which nobody was told were durable\n", found.bytes_cut,
                                spine::to_text({found.cut_segment, found.cut_offset}));
  *context.err << fmt::format("ace: serving on {}://{}:{}, mode {}, spine {}\n",
                              config->listen.certificate.empty() ? "http" : "https", config->listen.address,
                              (*service)->port(), gateway::name_of(config->mode), config->spine_dir);
  context.err->flush();
  while (signals.wait() == SIGHUP) {
    reload(arguments, **service, context);
    context.err->flush();
  }
  *context.err << fmt::format("ace: draining, for at most {} s\n", config->drain / kSecond);
  context.err->flush();
  const Result<Recording::Counts> counts = (*service)->stop();
  if (!counts) return Error(counts.error());
  *context.err << fmt::format("ace: {} events recorded in {}\n", counts->created, config->spine_dir);
  return {};
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "serve", "The gateway: OpenAI's and Anthropic's APIs in front of a fleet, each request where it costs least");
  command->add_option("--config", a->config, "ace.yaml (docs/GATEWAY.md)")->required();
  command->callback([a, &context] {
    if (Result<void> done = serve(*a, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
