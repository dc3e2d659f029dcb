/// The file of keys, read and written.
#include <fmt/format.h>

#include "core/text.h"
#include "fleet/yaml_file.h"
#include "gateway/keys.h"
#include "spine/spine.h"

namespace ace::gateway {
namespace {

using fleet_file::Findings;
using fleet_file::Map;
using fleet_file::Misread;
using fleet_file::Place;

std::optional<KeyDigest> parse_digest(std::string_view text, Misread& why) {
  const auto value = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  KeyDigest digest{};
  bool good = text.size() == 2 * digest.size();
  for (std::size_t i = 0; good && i < digest.size(); ++i) {
    const int high = value(text[2 * i]), low = value(text[2 * i + 1]);
    good = high >= 0 && low >= 0;
    if (good) digest[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  if (good) return digest;
  why = {"64 hexadecimal digits", "the file holds digests; make a key with: ace keys new"};
  return std::nullopt;
}

std::optional<Instant> parse_instant(std::string_view text, Misread& why) {
  const Result<Instant> at = parse_rfc3339(text);
  if (at) return *at;
  why = {"a time such as 2026-11-30T09:00:00Z", ""};
  return std::nullopt;
}

Key::Secret read_secret(Findings& findings, const Place& at) {
  Key::Secret secret;
  Map map(findings, at);
  secret.digest =
      findings.value<KeyDigest>(map.need("sha256", "the digest of the key"), parse_digest).value_or(KeyDigest{});
  secret.from = findings.value<Instant>(map.get("from"), parse_instant).value_or(secret.from);
  secret.until = findings.value<Instant>(map.get("until"), parse_instant).value_or(secret.until);
  map.done();
  return secret;
}

Key read_key(Findings& findings, const Place& at) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  Key key;
  Map map(findings, at);
  key.id = findings.name(map.need("id", "what logs and bills call the key")).value_or("");
  key.name = findings.text(map.get("name")).value_or("");
  if (const auto role = findings.word(map.get("role"), {"client", "admin"})) key.role = static_cast<Role>(*role);
  for (const Place& secret : findings.list(map.need("secrets", "ace keys new makes one"), "secrets"))
    key.secrets.push_back(read_secret(findings, secret));
  key.revoked = findings.value<Instant>(map.get("revoked"), parse_instant);
  const Place tenant = key.role == Role::client ? map.need("tenant", "who is charged") : map.get("tenant");
  key.tenant = findings.name(tenant).value_or("");
  key.team = findings.name(map.get("team")).value_or("");
  key.project = findings.name(map.get("project")).value_or("");
  key.models = findings.names(map.get("models"));
  std::vector<std::string> operations;
  for (std::size_t i = 0; i < wire::kOperations; ++i) operations.emplace_back(name_of(static_cast<wire::Operation>(i)));
  for (const Place& entry : findings.list(map.get("operations"), "operations"))
    if (const auto operation = findings.word(entry, operations))
      key.operations.push_back(static_cast<wire::Operation>(*operation));
  key.compliance = findings.name(map.get("compliance")).value_or("");
  key.slo = findings.name(map.get("slo")).value_or("");
  key.rpm = findings.count(map.get("rpm"), 1, kMost).value_or(0);
  key.tpm = findings.count(map.get("tpm"), 1, kMost).value_or(0);
  key.concurrency = findings.count(map.get("concurrency"), 1, kMost).value_or(0);
  map.done();
  return key;
}

}  // namespace

Result<KeyRing> KeyRing::read(std::string_view yaml, const std::string& file) {
  KeyRing ring;
  Result<void> readable = read_yaml(yaml, file, [&](Findings& findings, Map& root) {
    const Place version = root.need("version", "write version: 1");
    if (const auto number = findings.count(version, 0, 1'000'000); number && *number != 1)
      findings.mistake(version, fmt::format("expected version 1, got {}", *number), "write version: 1");
    for (const Place& entry : findings.list(root.get("keys"), "keys")) ring.keys_.push_back(read_key(findings, entry));
  });
  if (!readable) return std::move(readable).error();
  if (Result<void> indexed = ring.index(); !indexed) return std::move(indexed).error().with(file);
  return ring;
}

std::string KeyRing::write() const {
  std::string out =
      "# Who may use the gateway, by the digests of their keys. `ace keys` writes this file and keeps no comments; "
      "names, scopes\n"
      "# and limits may be edited by hand.\nversion: 1\n";
  if (!keys_.empty()) out += "keys:\n";
  for (const Key& key : keys_) {
    const auto text = [&](std::string_view name, const std::string& value) {
      if (!value.empty()) out += fmt::format("    {}: {}\n", name, json_text(value));
    };
    const auto number = [&](std::string_view name, std::int64_t value) {
      if (value > 0) out += fmt::format("    {}: {}\n", name, value);
    };
    const auto list = [&](std::string_view name, const auto& values, auto of) {
      std::string items;
      for (const auto& value : values) items += (items.empty() ? "" : ", ") + json_text(of(value));
      if (!values.empty()) out += fmt::format("    {}: [{}]\n", name, items);
    };
    out += fmt::format("  - id: {}\n", json_text(key.id));
    text("name", key.name);
    if (key.role == Role::admin) text("role", "admin");
    out += "    secrets:\n";
    for (const Key::Secret& secret : key.secrets) {
      out += fmt::format("      - {{sha256: \"{}\"", to_hex(view(secret.digest)));
      if (secret.from != Instant::min()) out += fmt::format(", from: \"{}\"", to_rfc3339(secret.from));
      if (secret.until != Instant::max()) out += fmt::format(", until: \"{}\"", to_rfc3339(secret.until));
      out += "}\n";
    }
    if (key.revoked) text("revoked", to_rfc3339(*key.revoked));
    text("tenant", key.tenant);
    text("team", key.team);
    text("project", key.project);
    list("models", key.models, [](const std::string& model) { return model; });
    list("operations", key.operations, [](wire::Operation operation) { return std::string(name_of(operation)); });
    text("compliance", key.compliance);
    text("slo", key.slo);
    number("rpm", key.rpm);
    number("tpm", key.tpm);
    number("concurrency", key.concurrency);
  }
  return out;
}

}  // namespace ace::gateway
