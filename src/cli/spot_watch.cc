/// ace plan spot watch: says when this machine is about to be taken.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "adapters/eviction_watch.h"
#include "cli/plan.h"
#include "fleet/values.h"

namespace ace::cli {
namespace {

struct WatchArguments {
  std::string cloud, metadata, machine, every = "5s", give_up;
};

Result<EvictionWatch::Options> options_from(const WatchArguments& a) {
  EvictionWatch::Options options;
  options.cloud = *cloud_of(a.cloud);  // CLI11 has checked it
  options.metadata = metadata_of(options.cloud);
  options.machine = a.machine;
  if (!a.metadata.empty()) {
    fleet_file::Misread why;
    const std::optional<Endpoint> at = fleet_file::parse_url(a.metadata, true, why);
    if (!at || at->tls || !at->path.empty())
      return Error(Errc::bad_input,
                   "--metadata: expected http:// and a host, without a path, got \"" + a.metadata + "\"");
    options.metadata = {at->host, at->port, false, true, false};
  }
  const Result<Duration> every = duration_from("--every", a.every);
  if (!every) return Error(every.error());
  if (*every < Duration{100'000'000} || *every > 30 * kSecond)
    return Error(Errc::bad_input, "--every: expected 100ms to 30s; the shortest notice is 30s");
  options.every = *every;
  return options;
}

net::Detached watch(net::Loop& loop, net::Client& client, EvictionWatch& eviction, net::Cancel& cancel,
                    Context& context, std::optional<EvictionNotice>& notice) {
  const std::function<void(const Error&)> trouble = [&context](const Error& error) {
    *context.err << "ace: warning: " << error.what() << "; silence is no all-clear\n" << std::flush;
  };
  notice = co_await eviction.next(cancel, trouble);
  client.close_kept();
  loop.stop();
}

Result<void> run_watch(const WatchArguments& a, Context& context) {
  const Result<EvictionWatch::Options> options = options_from(a);
  if (!options) return Error(options.error());
  Duration limit = Duration::max();
  if (!a.give_up.empty()) {
    const Result<Duration> read = duration_from("--for", a.give_up);
    if (!read) return Error(read.error());
    limit = *read;
  }
  net::Loop loop;
  std::optional<EvictionNotice> notice;
  Instant now{};
  {
    net::Client client(loop, {});
    EvictionWatch eviction(loop, client, *options);
    net::Cancel cancel;
    net::Timer end([&] { cancel.cancel(); });
    loop.post([&] {
      if (limit != Duration::max()) loop.arm(end, loop.now() + limit);
      watch(loop, client, eviction, cancel, context, notice);
    });
    loop.run();
    now = loop.utc();
  }
  if (!notice) return Error(Errc::check_failed, "no notice came within " + a.give_up);
  const nlohmann::ordered_json line = {
      {"schema", "ace.eviction/1"},
      {"cloud", name_of(options->cloud)},
      {"what", name_of(notice->what)},
      {"gone", to_rfc3339(notice->gone)},
      {"lead_s", to_seconds(std::max(Duration{}, notice->gone - now))},
      {"event", notice->event.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(notice->event)}};
  *context.out << line.dump() << '\n';
  return {};
}

}  // namespace

void add_spot_watch(CLI::App& spot, Context& context) {
  auto a = std::make_shared<WatchArguments>();
  CLI::App* command = spot.add_subcommand("watch",
                                          "Wait for the notice that this machine is about to be taken, print it as "
                                          "JSON and end: what drains it can follow");
  command->add_option("--cloud", a->cloud, "whose machine this is")
      ->required()
      ->check(CLI::IsMember({"aws", "gcp", "azure"}));
  command->add_option("--metadata", a->metadata, "another place of the metadata service, for tests")->type_name("URL");
  command->add_option("--machine", a->machine, "Azure: its name as events have it; else asked of the service");
  command->add_option("--every", a->every, "between two questions")->capture_default_str();
  command->add_option("--for", a->give_up, "give up after so long, with exit code 1; else never");
  command->callback([a, &context] {
    if (Result<void> done = run_watch(*a, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
