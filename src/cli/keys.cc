/// ace keys: who may use the gateway.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "adapters/wall_clock.h"
#include "cli/cli.h"
#include "core/text.h"
#include "fleet/findings.h"
#include "gateway/keys_store.h"

namespace ace::cli {
namespace {

using gateway::Key;
using gateway::KeyRing;
using gateway::Role;
using Json = nlohmann::ordered_json;

struct Arguments {
  std::string file = "keys.yaml", id, expires, overlap = "24h";
  Key key;
  std::vector<std::string> operations;
  bool admin = false, json = false;
};

Result<Duration> duration_of(std::string_view option, std::string_view text) {
  fleet_file::Misread why;
  if (const std::optional<Duration> length = fleet_file::parse_duration(text, why)) return *length;
  return Error(Errc::bad_input, fmt::format("{}: expected {}, got \"{}\"", option, why.expected, text));
}

/// The one time that a key is shown: on standard output, alone, so that it can be piped to where it is kept.
void show_once(const Arguments& a, const std::string& id, const std::string& secret, Context& context) {
  if (a.json) {
    *context.out << Json({{"id", id}, {"key", secret}}).dump() << '\n';
    return;
  }
  *context.err << fmt::format("ace: {} in {}; the key is shown this once\n", id, a.file);
  *context.out << secret << '\n';
}

Result<void> make(const Arguments& a, Context& context) {
  Key key = a.key;
  key.role = a.admin ? Role::admin : Role::client;
  if (key.role == Role::client && key.tenant.empty())
    return Error(Errc::bad_input,
                 "--tenant: a key that asks models needs a tenant to charge; --admin makes one that steers");
  for (const std::string& name : a.operations)
    for (std::size_t i = 0; i < wire::kOperations; ++i)
      if (const auto operation = static_cast<wire::Operation>(i); name_of(operation) == name)
        key.operations.push_back(operation);
  const Instant now = WallClock().now();
  Key::Secret secret;
  secret.from = now;
  if (!a.expires.empty()) {
    const Result<Duration> length = duration_of("--expires", a.expires);
    if (!length) return length.error();
    secret.until = now + *length;
  }
  const std::string text = gateway::new_key(key.role);
  secret.digest = gateway::digest_of(text);
  key.id = gateway::key_id_of(text);
  key.secrets = {secret};
  Result<void> changed = gateway::change_keys(a.file, [&](KeyRing& ring) { return ring.add(key); });
  if (changed) show_once(a, key.id, text, context);
  return changed;
}

Result<void> rotate(const Arguments& a, Context& context) {
  const Result<Duration> overlap = duration_of("--overlap", a.overlap);
  if (!overlap) return overlap.error();
  std::string text;
  Result<void> changed = gateway::change_keys(a.file, [&](KeyRing& ring) -> Result<void> {
    const Key* key = ring.at(a.id);
    if (key == nullptr) return Error(Errc::not_found, fmt::format("there is no key {} in {}", a.id, a.file));
    text = gateway::new_key(key->role);
    return ring.rotate(a.id, text, *overlap, WallClock().now());
  });
  if (changed) show_once(a, a.id, text, context);
  return changed;
}

Result<void> revoke(const Arguments& a, Context& context) {
  Result<void> changed =
      gateway::change_keys(a.file, [&](KeyRing& ring) { return ring.revoke(a.id, WallClock().now()); });
  if (changed)
    *context.err << fmt::format("ace: {} is revoked; a gateway that runs takes note when it reloads\n", a.id);
  return changed;
}

std::string_view state_of(const Key& key, Instant now) {
  if (key.revoked && now >= *key.revoked) return "revoked";
  std::string_view state = "expired";
  for (const Key::Secret& secret : key.secrets) {
    if (now >= secret.from && now < secret.until) return "valid";
    if (now < secret.from) state = "not yet valid";
  }
  return state;
}

Result<void> list(const Arguments& a, Context& context) {
  const Result<KeyRing> ring = gateway::load_keys(a.file);
  if (!ring) return ring.error();
  const Instant now = WallClock().now();
  Json rows = Json::array();
  for (const Key& key : ring->keys()) {
    Instant until = Instant::min();
    for (const Key::Secret& secret : key.secrets) until = std::max(until, secret.until);
    const auto limit = [](std::int64_t value) { return value > 0 ? Json(value) : Json(); };
    std::vector<std::string_view> operations;
    for (const wire::Operation operation : key.operations) operations.push_back(name_of(operation));
    rows.push_back({{"id", key.id},
                    {"name", key.name},
                    {"role", key.role == Role::admin ? "admin" : "client"},
                    {"state", state_of(key, now)},
                    {"secrets", key.secrets.size()},
                    {"until", until == Instant::max() ? Json() : Json(to_rfc3339(until))},
                    {"tenant", key.tenant},
                    {"team", key.team},
                    {"project", key.project},
                    {"models", key.models},
                    {"operations", operations},
                    {"compliance", key.compliance},
                    {"slo", key.slo},
                    {"requests_per_minute", limit(key.rpm)},
                    {"tokens_per_minute", limit(key.tpm)},
                    {"concurrency", limit(key.concurrency)}});
  }
  if (a.json) {
    *context.out << rows.dump(1) << '\n';
    return {};
  }
  *context.out << fmt::format("{:<12}{:<8}{:<14}{:<16}{:<10}{:<12}{:<6} {}\n", "id", "role", "state", "tenant", "rpm",
                              "tpm", "at once", "name");
  const auto text = [](const Json& value) { return value.is_null() ? std::string("-") : value.dump(); };
  for (const Json& row : rows)
    *context.out << fmt::format(
        "{:<12}{:<8}{:<14}{:<16}{:<10}{:<12}{:<7} {}\n", row["id"].get<std::string>(), row["role"].get<std::string>(),
        row["state"].get<std::string>(), row["tenant"].get<std::string>(), text(row["requests_per_minute"]),
        text(row["tokens_per_minute"]), text(row["concurrency"]), row["name"].get<std::string>());
  return {};
}

}  // namespace

void add_keys(CLI::App& app, Context& context) {
  auto a = std::make_shared<Arguments>();
  CLI::App* keys = app.add_subcommand("keys", "Keys of those who may use the gateway; the file holds digests alone");
  keys->require_subcommand(1);
  const auto command = [&](const char* name, const char* what, Result<void> (*run)(const Arguments&, Context&)) {
    CLI::App* sub = keys->add_subcommand(name, what);
    sub->add_option("--file", a->file, "of keys, as ace.yaml names it")->capture_default_str();
    sub->callback([a, &context, run] {
      if (Result<void> done = run(*a, context); !done) context.fail(done.error());
    });
    return sub;
  };
  CLI::App* made = command("new", "Make a key and print it, once", make);
  made->add_option("--tenant", a->key.tenant, "who is charged, as the fleet file names it");
  made->add_option("--team", a->key.team, "of the tenant");
  made->add_option("--project", a->key.project, "of the team");
  made->add_option("--name", a->key.name, "for people");
  made->add_option("--model", a->key.models, "that may be asked for; all if none is named")->delimiter(',');
  std::vector<std::string> operations;
  for (std::size_t i = 0; i < wire::kOperations; ++i) operations.emplace_back(name_of(static_cast<wire::Operation>(i)));
  made->add_option("--operation", a->operations, "that may be used; all if none is named")
      ->delimiter(',')
      ->check(CLI::IsMember(operations));
  made->add_option("--compliance", a->key.compliance,
                   "rule of the fleet that its requests are held to, beside their tenant's");
  made->add_option("--slo", a->key.slo, "class of its requests; the tenant's if none is named");
  const auto limit = CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000'000});
  made->add_option("--rpm", a->key.rpm, "requests a minute")->check(limit);
  made->add_option("--tpm", a->key.tpm, "tokens a minute, of prompts and answers")->check(limit);
  made->add_option("--concurrency", a->key.concurrency, "requests at a time")->check(limit);
  made->add_option("--expires", a->expires, "after so long, e.g. 90d; never if it is not given");
  made->add_flag("--admin", a->admin, "a key for the admin API: it steers the gateway and asks no models");
  made->add_flag("--json", a->json, "one object with id and key");
  command("list", "Show all keys, without their secrets", list)->add_flag("--json", a->json, "for programs");
  CLI::App* rotated =
      command("rotate", "Give a key a new secret, printed once; the old one goes on for a while", rotate);
  rotated->add_option("id", a->id, "of the key")->required();
  rotated->add_option("--overlap", a->overlap, "how long the old secret still opens")->capture_default_str();
  rotated->add_flag("--json", a->json, "one object with id and key");
  command("revoke", "End a key for good", revoke)->add_option("id", a->id, "of the key")->required();
}

}  // namespace ace::cli
