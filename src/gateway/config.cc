#include "gateway/config.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "fleet/findings.h"

namespace ace::gateway {
namespace {

using fleet_file::Findings;
using fleet_file::Map;
using fleet_file::Place;

Config::Listen read_listen(Findings& findings, const Place& at, Config::Listen listen) {
  Map map(findings, at);
  if (const auto address = findings.text(map.get("address"))) listen.address = *address;
  if (const auto port = findings.count(map.get("port"), 0, 65535)) listen.port = static_cast<std::uint16_t>(*port);
  if (const Place tls = map.get("tls")) {
    Map files(findings, tls);
    listen.certificate = findings.text(files.need("certificate", "a PEM file with the chain")).value_or("");
    listen.key = findings.text(files.need("key", "a PEM file")).value_or("");
    files.done();
  }
  map.done();
  return listen;
}

/// The mode is the one thing that must never be more than was meant: what cannot be read acts on nothing.
void read_mode(Findings& findings, Map& root, Config& config) {
  const Place mode = root.get("mode"), canary = root.get("canary");
  const auto observe = [&](const Place& at, const std::string& why) {
    config.mode = Mode::observe;
    config.canary_ppm = 0;
    findings.warn(at, why + ", so the mode is observe");
  };
  if (mode) {
    const std::vector<std::string> words = {"observe", "shadow", "canary", "inline"};
    const auto found = std::find(words.begin(), words.end(), mode.text());
    if (!mode.is_scalar() || found == words.end())
      return observe(mode, fmt::format("expected one of {}", listed(words)));
    config.mode = static_cast<Mode>(found - words.begin());
  }
  if (canary) {
    fleet_file::Misread why;
    const auto share = fleet_file::parse_percent_ppm(canary.text(), why);
    if (!share || *share <= 0 || *share > 1'000'000)
      return observe(canary, "expected a share of the traffic such as 5%");
    config.canary_ppm = *share;
  }
  if (config.mode == Mode::canary && config.canary_ppm == 0)
    observe(mode, "mode canary needs its share of the traffic, canary: 5%");
}

void read_trial(Findings& findings, const Place& at, TrialGates& gates) {
  if (!at) return;
  Map map(findings, at);
  if (const auto window = findings.duration(map.get("window"), kSecond, kDay)) gates.window = *window;
  if (const auto least = findings.count(map.get("requests_min"), 1, 1'000'000'000))
    gates.requests_min = static_cast<std::uint64_t>(*least);
  if (const auto served = findings.ratio(map.get("served_min"), 0.0, 1.0)) gates.served_min = *served;
  if (const auto error = findings.ratio(map.get("cost_error_max"), 0.0, 10.0)) gates.cost_error_max = *error;
  if (const auto clean = findings.count(map.get("clean_windows"), 1, 10'000))
    gates.clean_windows = static_cast<std::size_t>(*clean);
  map.done();
}

void read_timeouts(Findings& findings, const Place& at, Config& config) {
  if (!at) return;
  Map map(findings, at);
  const auto read = [&](const char* key, Duration& into) {
    if (const auto d = findings.duration(map.get(key), Duration{1'000'000}, 24 * kHour)) into = *d;
  };
  read("connect", config.timeouts.connect);
  read("first_token", config.timeouts.first_token);
  read("next_token", config.timeouts.next_token);
  read("total", config.timeouts.total);
  map.done();
}

void read_spine(Findings& findings, const Place& at, Config& config) {
  Map map(findings, at);
  config.spine_dir = findings.text(map.need("dir", "a directory, made if it is not there")).value_or("");
  if (const auto durability = findings.word(map.get("durability"), {"strict", "group", "relaxed"}))
    config.durability =
        std::vector{spine::Durability::strict, spine::Durability::group, spine::Durability::relaxed}[*durability];
  if (const Place strict = map.get("strict")) {
    for (std::string& tenant : findings.names(strict)) config.strict.insert(std::move(tenant));
    if (config.durability == spine::Durability::relaxed)
      findings.mistake(strict, "durability is relaxed, which makes nothing durable before it is acknowledged",
                       "write durability: group");
  }
  if (const auto failing = findings.word(map.get("on_failure"), {"refuse", "serve_unledgered"}))
    config.serve_unledgered = *failing == 1;
  map.done();
}

void read_cache(Findings& findings, const Place& at, Config::Cache& cache) {
  Map map(findings, at);
  const auto size = [&](const char* key, std::size_t& into) {
    if (const auto bytes = findings.value<double>(map.get(key), fleet_file::parse_bytes))
      into = static_cast<std::size_t>(std::min(std::max(*bytes, 0.0), 1e12));
  };
  size("bytes", cache.bytes);
  size("answer_bytes", cache.answer_bytes);
  if (const auto ttl = findings.duration(map.get("ttl"), kSecond, 30 * kDay)) cache.ttl = *ttl;
  if (const auto sampled = findings.boolean(map.get("sampled"))) cache.sampled = *sampled;
  map.done();
}

bool loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

}  // namespace

ConfigReading parse_config(std::string_view yaml, const std::string& file) {
  ConfigReading out;
  Config& config = out.config;
  ace::yaml::Document document;
  ace::yaml::read(yaml, {}, document);
  Findings findings(file, document);
  for (const ace::yaml::Fault& fault : document.faults)
    findings.mistake(fault.line, fault.column, fault.path, fault.what, fault.mend);
  const bool readable =
      std::none_of(document.faults.begin(), document.faults.end(), [](const auto& fault) { return fault.stops; });
  if (readable) {
    Map root(findings, {&document.root, nullptr, ""});
    if (const auto version = findings.count(root.need("version", "write version: 1"), 0, 1'000'000);
        version && *version != 1)
      findings.mistake(root.get("version"), fmt::format("expected version 1, got {}", *version), "write version: 1");
    if (const Place listen = root.get("listen")) config.listen = read_listen(findings, listen, config.listen);
    if (const auto threads = findings.count(root.get("threads"), 1, 256))
      config.threads = static_cast<unsigned>(*threads);
    config.fleet = findings.text(root.need("fleet", "the path of the fleet file")).value_or("");
    config.prices = findings.text(root.get("prices")).value_or("");
    read_spine(findings, root.need("spine", "write spine: {dir: PATH}"), config);
    if (const Place admin = root.get("admin")) {
      Config::Listen own;
      own.port = 9090;
      config.admin = read_listen(findings, admin, own);
    }
    config.keys = findings.text(root.get("keys")).value_or("");
    config.tenant = findings.name(root.get("tenant")).value_or("");
    for (const Config::Listen* listen : {&config.listen, config.admin ? &*config.admin : nullptr})
      if (listen != nullptr && config.keys.empty() && !loopback(listen->address))
        findings.mistake(root.get(listen == &config.listen ? "listen" : "admin"),
                         fmt::format("whoever reaches {} could use it: nobody is asked for a key", listen->address),
                         "name a file of keys (keys: PATH, made by ace keys), or listen on 127.0.0.1");
    if (const Place cache = root.get("cache")) read_cache(findings, cache, config.cache.emplace());
    read_mode(findings, root, config);
    if (const auto alike = findings.boolean(root.get("alike"))) config.alike = *alike && config.mode == Mode::canary;
    read_trial(findings, root.get("trial"), config.trial);
    if (const Place routes = root.get("routes"))
      for (const auto& [model, place] : findings.named(routes, "routes"))
        if (const auto destination = findings.name(place)) config.routes[model] = *destination;
    if (const Place queue = root.get("queue")) {
      Map map(findings, queue);
      if (const auto length = findings.count(map.get("length"), 0, 1'000'000))
        config.queue_length = static_cast<std::size_t>(*length);
      if (const auto patience = findings.duration(map.get("patience"), Duration{0}, kHour)) config.patience = *patience;
      map.done();
    }
    read_timeouts(findings, root.get("timeouts"), config);
    if (const Place telemetry = root.get("telemetry")) {
      Map map(findings, telemetry);
      config.telemetry = findings.value<Endpoint>(
          map.need("endpoint", "an OTLP/HTTP collector, e.g. http://127.0.0.1:4318"),
          [](std::string_view text, fleet_file::Misread& why) { return fleet_file::parse_url(text, true, why); });
      map.done();
    }
    if (const auto drain = findings.duration(root.get("drain"), Duration{0}, kHour)) config.drain = *drain;
    if (const auto bytes = findings.count(root.get("body_bytes"), 1024, 1 << 30))
      config.body_bytes = static_cast<std::uint64_t>(*bytes);
    root.done();
  }
  out.mistakes = findings.take_mistakes();
  out.warnings = findings.take_warnings();
  return out;
}

Result<std::vector<OfferId>> static_routes(const Snapshot& snapshot, const std::map<std::string, std::string>& routes,
                                           const std::vector<bool>& callable) {
  const Fleet& fleet = snapshot.fleet();
  std::vector<OfferId> out(fleet.models.size());
  std::vector<std::uint64_t> best(out.size(), UINT64_MAX);
  for (std::uint32_t o = 0; o < snapshot.offers().size(); ++o) {
    const Offer& offer = snapshot.offers()[o];
    if (!callable[offer.destination.value]) continue;
    const auto& baseline = fleet.models[offer.model.value].baseline;
    const Destination& d = fleet.destinations[offer.destination.value];
    std::uint64_t place = (offer.tier == Tier::payg ? 1ULL : 2ULL) << 32 | d.declared;
    if (baseline && baseline->destination == offer.destination) place = 0;
    if (place >= best[offer.model.value]) continue;
    best[offer.model.value] = place;
    out[offer.model.value] = OfferId{o};
  }
  for (const auto& [name, to] : routes) {
    const auto model = fleet.model(name);
    if (!model) return Error(Errc::not_found, fmt::format("routes: the fleet has no model {}", name));
    const auto destination = fleet.destination(to);
    if (!destination)
      return Error(Errc::not_found, fmt::format("routes.{}: the fleet has no destination {}", name, to));
    OfferId found;
    for (std::uint32_t o = 0; o < snapshot.offers().size(); ++o)
      if (snapshot.offers()[o].model == *model && snapshot.offers()[o].destination == *destination) found = OfferId{o};
    if (!found.valid()) return Error(Errc::bad_input, fmt::format("routes.{}: {} does not serve that model", name, to));
    if (!callable[destination->value])
      return Error(Errc::bad_input,
                   fmt::format("routes.{}: the fleet file does not say how {} is called (api and url)", name, to));
    out[model->value] = found;
  }
  return out;
}

}  // namespace ace::gateway
