#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <random>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/spine.h"
#include "gateway/demo.h"
#include "gateway/service.h"

namespace ace::cli {
namespace {

struct Arguments {
  std::string config;
  bool demo = false;
};

/// Paths in a configuration are relative to its folder.
std::string beside(const std::filesystem::path& folder, const std::string& path) {
  return path.empty() ? path : (folder / path).lexically_normal().string();
}

Result<gateway::Config> parse_config(const std::string& path, const std::string& text, Context* context) {
  gateway::ConfigReading reading = gateway::parse_config(text, path);
  if (!reading.mistakes.empty()) return Error(Errc::bad_input, describe(reading.mistakes));
  if (context != nullptr)
    for (const std::string& warning : reading.warnings) *context->err << "ace: warning: " << warning << '\n';
  gateway::Config& config = reading.config;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (std::string* file :
       {&config.fleet, &config.prices, &config.spine_dir, &config.keys, &config.listen.certificate, &config.listen.key})
    *file = beside(folder, *file);
  if (config.admin)
    for (std::string* file : {&config.admin->certificate, &config.admin->key}) *file = beside(folder, *file);
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
  /// The next one; 0 if none comes in time.
  [[nodiscard]] int wait(std::chrono::seconds at_most) const {
    const timespec time{at_most.count(), 0};
    return std::max(sigtimedwait(&set_, nullptr, &time), 0);
  }

 private:
  sigset_t set_{};
};

void reload(const Arguments& arguments, gateway::Service& service, Context& context) {
  Result<std::string> text = read_file(arguments.config);
  const Result<std::vector<std::string>> notes =
      text ? service.apply(*text, false) : Result<std::vector<std::string>>(std::move(text).error());
  if (!notes) {
    *context.err << "ace: not reloaded: " << notes.error().what() << '\n';
    return;
  }
  *context.err << fmt::format("ace: reloaded {}, mode {}\n", arguments.config, service.mode().mode);
  for (const std::string& note : *notes) *context.err << "ace: note: " << note << '\n';
  if (const Result<bool> keys = service.refresh_keys(); !keys)
    *context.err << "ace: keys not reloaded: " << keys.error().what() << '\n';
}

/// One line of a demonstration: what the last seconds came to.
void show(gateway::DemoTraffic& traffic, gateway::Service& service, Context& context) {
  const gateway::DemoTraffic::Tally tally = traffic.take();
  std::uint64_t answers = 0;
  std::string places;
  for (const auto& [place, count] : tally.answers) {
    answers += count;
    places += fmt::format("  {} {:>3}", place, count);
  }
  const double saved =
      tally.baseline > Usd{}
          ? 100.0 * (1.0 - static_cast<double>(tally.cost.nano) / static_cast<double>(tally.baseline.nano))
          : 0.0;
  *context.out << fmt::format(
      "{:>4.0f} requests/s, {:>2} waiting {}  cost {} USD, at the default price {} USD ({:.0f}% less){}\n",
      static_cast<double>(answers) / 2.0, service.desk().view().waiting, places, to_decimal(tally.cost),
      to_decimal(tally.baseline), saved, tally.failures > 0 ? fmt::format(", {} failed", tally.failures) : "");
  context.out->flush();
}

/// Simulated destinations with a fleet file and a configuration in a folder of their own.
Result<std::unique_ptr<gateway::DemoUpstreams>> make_demo(Arguments& arguments, Context& context) {
  Result<std::unique_ptr<gateway::DemoUpstreams>> demo = gateway::DemoUpstreams::start();
  if (!demo) return demo;
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("ace-demo-{}", ::getpid());
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error(Errc::unavailable, "making " + folder.string() + ": " + failed.message());
  arguments.config = (folder / "ace.yaml").string();
  if (Result<void> written = write_file((folder / "fleet.yaml").string(), (*demo)->fleet_file()); !written)
    return std::move(written).error();
  if (Result<void> written = write_file(arguments.config,
                                        "version: 1\nfleet: fleet.yaml\nspine: {dir: spine}\nmode: inline\ntenant: "
                                        "demo\nthreads: 1\nlisten: {port: 0}\n");
      !written)
    return std::move(written).error();
  *context.err << fmt::format("ace: a demonstration with simulated destinations, in {}; end it with Ctrl-C\n",
                              folder.string());
  return demo;
}

Result<void> serve(Arguments& arguments, Context& context) {
  const Signals signals;
  std::unique_ptr<gateway::DemoUpstreams> demo;
  if (arguments.demo) {
    Result<std::unique_ptr<gateway::DemoUpstreams>> made = make_demo(arguments, context);
    if (!made) return std::move(made).error();
    demo = *std::move(made);
  }
  Result<std::string> text = read_file(arguments.config);
  if (!text) return std::move(text).error().with("loading the configuration");
  Result<gateway::Config> config = parse_config(arguments.config, *text, &context);
  if (!config) return std::move(config).error();
  gateway::Service::Options options;
  options.config = *config;
  options.load = [](const gateway::Config& of, std::vector<FleetText>* files) {
    return load_fleet(of.fleet, of.prices, files);
  };
  options.text = *std::move(text);
  options.parse = [path = arguments.config](const std::string& other) { return parse_config(path, other, nullptr); };
  options.on_drain = [] { (void)::kill(::getpid(), SIGTERM); };
  options.version = ACE_VERSION;
  options.secrets = secrets_of_process(std::filesystem::path(config->fleet).parent_path().string());
  std::random_device random;
  options.seed = (std::uint64_t{random()} << 32) | random();
  for (int i = 0; i < 32; ++i) options.salt += static_cast<char>(random() & 0xffU);
  // The directory first, so that the key has a place to lie.
  if (Result<std::unique_ptr<PosixDisk>> made = PosixDisk::open(config->spine_dir, PosixDisk::Access::own); !made)
    return std::move(made).error();
  const Result<spine::Signer> signer = signer_of(config->spine_dir);
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
  if (config->admin)
    *context.err << fmt::format("ace: admin on {}://{}:{}\n", config->admin->certificate.empty() ? "http" : "https",
                                config->admin->address, (*service)->admin_port());
  context.err->flush();
  std::unique_ptr<gateway::DemoTraffic> traffic =
      arguments.demo ? std::make_unique<gateway::DemoTraffic>((*service)->port()) : nullptr;
  for (int signal = 0; signal == 0 || signal == SIGHUP;) {
    signal = signals.wait(std::chrono::seconds{2});
    if (signal == SIGHUP) reload(arguments, **service, context);
    if (signal == 0)
      if (const Result<bool> keys = (*service)->refresh_keys(); !keys)
        *context.err << "ace: keys not reloaded: " << keys.error().what() << '\n';
    if (signal == 0 && traffic) show(*traffic, **service, context);
    context.err->flush();
  }
  traffic.reset();
  *context.err << fmt::format("ace: draining, for at most {} s\n", config->drain / kSecond);
  context.err->flush();
  const Result<Recording::Counts> counts = (*service)->stop();
  if (!counts) return Error(counts.error());
  *context.err << fmt::format("ace: {} events recorded in {}\n", counts->created, config->spine_dir);
  if (demo)
    *context.err << fmt::format("ace: now look at it: ace verify {0}; ace ledger report {0}\n", config->spine_dir);
  return {};
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "serve", "The gateway: OpenAI's and Anthropic's APIs in front of a fleet, each request where it costs least");
  command->add_option("--config", a->config, "ace.yaml (docs/GATEWAY.md)");
  command->add_flag("--demo", a->demo, "simulated destinations and traffic, to see it work: nothing to set up")
      ->excludes("--config");
  command->callback([a, &context] {
    if (a->config.empty() && !a->demo)
      return context.fail(Error(Errc::bad_input, "ace serve needs --config FILE (docs/GATEWAY.md), or --demo"));
    if (Result<void> done = serve(*a, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
