/// `providers:` of the fleet file: where they are bound by law, what they keep, how they are reached.
#include <fmt/format.h>

#include <algorithm>

#include "fleet/reading.h"

namespace ace::fleet_file {
namespace {

/// `key: {env: NAME}`. A literal is refused and never shown.
std::string read_key(Reading& reading, const Place& at) {
  if (!at) return "";
  if (at.is_scalar()) {
    reading.findings.mistake(at, "a literal key does not belong in this file",
                             "name a variable of the environment: {env: NAME}");
    return "";
  }
  Map map(reading.findings, at);
  const Place env = map.need("env", "write {env: NAME}");
  std::string name;
  if (env.is_scalar()) {
    const std::string_view text = env.text();
    const bool plain = !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
    // What does not look like a variable may be the key itself: it is not echoed.
    if (!plain)
      reading.findings.mistake(env, "expected the name of a variable, in capitals, digits and _", "write {env: NAME}");
    else
      name = std::string(text);
  } else {
    reading.findings.scalar(env, "the name of a variable");
  }
  map.done();
  // Unset is fine here: reading a fleet needs no keys, calling its providers does. Empty is never meant.
  if (!name.empty()) {
    const auto value = reading.environment(name);
    if (value && value->empty())
      reading.findings.mistake(env, fmt::format("the environment variable {} is empty", name),
                               fmt::format("set {} or unset it", name));
  }
  return name;
}

PromptCache read_cache(Reading& reading, const Place& at) {
  PromptCache cache;
  if (!at) return cache;
  Map map(reading.findings, at);
  cache.enabled = map.readable();
  if (const auto least = reading.findings.count(map.get("min_prefix"), 0, 1'000'000)) cache.min_prefix = Tokens{*least};
  if (const auto block = reading.findings.count(map.get("block"), 1, 1'000'000)) cache.block = Tokens{*block};
  if (const auto ttl = reading.findings.duration(map.get("ttl"), kSecond, 30 * kDay)) cache.ttl = *ttl;
  map.done();
  return cache;
}

}  // namespace

void read_providers(Reading& reading) {
  Findings& findings = reading.findings;
  reading.fleet.providers.resize(reading.provider_names.size());
  for (const auto& [name, place] : reading.providers) {
    Provider& provider = reading.fleet.providers[*reading.provider_names.find(name)];
    provider.name = name;
    Map map(findings, place);
    if (!map.readable()) continue;
    provider.jurisdictions = findings.names(map.need("jurisdictions", "say whose law applies: jurisdictions: [eu]"));
    std::sort(provider.jurisdictions.begin(), provider.jurisdictions.end());
    if (const auto retention = findings.duration(map.get("retention"))) provider.retention = *retention;
    if (const auto api = findings.word(map.get("api"), {"openai", "azure-openai", "anthropic"}))
      provider.api = std::vector<std::string>{"openai", "azure-openai", "anthropic"}[*api];
    const bool allow_private = findings.boolean(map.get("allow_private")).value_or(false);
    const Place url = map.get("url");
    if (url.is_scalar()) {
      Misread why;
      const auto checked = parse_url(url.text(), allow_private, why);
      if (checked)
        provider.url = *checked;
      else
        findings.mistake(url, fmt::format("expected {}, got \"{}\"", why.expected, url.text().substr(0, 64)), why.mend);
    } else {
      findings.scalar(url, "a URL");
    }
    provider.key_env = read_key(reading, map.get("key"));
    provider.cache = read_cache(reading, map.get("cache"));
    map.done();
  }
}

}  // namespace ace::fleet_file
