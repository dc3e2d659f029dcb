/// `providers:` of the fleet file: where they are bound by law, what they keep, how they are reached.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "core/text.h"
#include "fleet/reading.h"

namespace ace::fleet_file {
namespace {

const std::vector<std::string> kApiWords = {"openai", "azure-openai", "anthropic", "vertex", "bedrock"};
const std::vector<std::string> kCacheFields = {"prompt_cache_key", "cache_salt"};
const std::vector<std::string> kOperationWords = {"chat",       "responses", "completions",
                                                  "embeddings", "messages",  "count_tokens"};

/// The name of a variable. What does not look like one may be the secret itself: it is not echoed.
std::string read_variable(Reading& reading, const Place& at) {
  if (!at.is_scalar()) {
    reading.findings.scalar(at, "the name of a variable");
    return "";
  }
  const std::string_view text = at.text();
  const bool plain = !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!plain) {
    reading.findings.mistake(at, "expected the name of a variable, in capitals, digits and _", "write {env: NAME}");
    return "";
  }
  // Unset is fine here: reading a fleet needs no keys, calling its providers does. Empty is never meant.
  const auto value = reading.environment(std::string(text));
  if (value && value->empty())
    reading.findings.mistake(at, fmt::format("the environment variable {} is empty", text),
                             fmt::format("set {} or unset it", text));
  return std::string(text);
}

/// `{env: NAME}` or `{file: PATH}`. A literal is refused and never shown.
SecretName read_secret(Reading& reading, const Place& at) {
  SecretName name;
  if (!at) return name;
  if (at.is_scalar()) {
    reading.findings.mistake(at, "a literal key does not belong in this file",
                             "name a variable of the environment: {env: NAME}");
    return name;
  }
  Map map(reading.findings, at);
  const Place file = map.get("file");
  const Place env = file ? map.get("env") : map.need("env", "write {env: NAME}, or {file: PATH}");
  if (file && env)
    reading.findings.mistake(file, "a file beside a variable", "keep one of env and file");
  else if (file)
    name.file = reading.findings.text(file).value_or("");
  else if (env)
    name.env = read_variable(reading, env);
  map.done();
  return name;
}

/// The automatic prompt cache, and the field by which a request names its part of it.
PromptCache read_cache(Reading& reading, const Place& at, std::string& field) {
  PromptCache cache;
  if (!at) return cache;
  Map map(reading.findings, at);
  cache.enabled = map.readable();
  if (const auto least = reading.findings.count(map.get("min_prefix"), 0, 1'000'000)) cache.min_prefix = Tokens{*least};
  if (const auto block = reading.findings.count(map.get("block"), 1, 1'000'000)) cache.block = Tokens{*block};
  if (const auto ttl = reading.findings.duration(map.get("ttl"), kSecond, 30 * kDay)) cache.ttl = *ttl;
  if (const auto word = reading.findings.word(map.get("key"), kCacheFields)) field = kCacheFields[*word];
  map.done();
  return cache;
}

/// What else an API needs to be called, and what means nothing to it.
void read_api(Reading& reading, Map& map, Provider& provider) {
  Findings& findings = reading.findings;
  if (const auto api = findings.word(map.get("api"), kApiWords)) provider.api = static_cast<Api>(*api + 1);
  const auto only_for = [&](std::string_view key, std::initializer_list<Api> apis) {
    if (std::find(apis.begin(), apis.end(), provider.api) != apis.end()) return true;
    if (provider.api == Api::none)
      map.refuse(key, fmt::format("`{}` means nothing without an api", key), "say how it is called: api: openai");
    else
      map.refuse(key, fmt::format("`{}` means nothing for api {}", key, name_of(provider.api)), "remove it");
    return false;
  };
  const auto name = [&](std::string_view key, std::initializer_list<Api> apis, std::string& into) {
    if (only_for(key, apis)) into = findings.name(map.get(key)).value_or("");
  };
  name("organization", {Api::openai}, provider.organization);
  name("project", {Api::openai, Api::vertex}, provider.project);
  name("region", {Api::vertex, Api::bedrock}, provider.region);
  if (provider.api == Api::vertex) map.need("project", "name the Google Cloud project: project: my-project");
  if (provider.api == Api::vertex || provider.api == Api::bedrock)
    map.need("region", "name the provider's region, e.g. region: us-east5");
  if (only_for("api_version", {Api::azure_openai, Api::anthropic})) {
    const Place version = map.get("api_version");
    provider.api_version = findings.name(version).value_or("");
    const std::string day = provider.api_version.substr(0, 10), rest = provider.api_version.substr(day.size());
    Misread why;
    const bool dated = parse_date(day, why) && (rest.empty() || rest == "-preview");
    if (version && !dated && !(provider.api == Api::azure_openai && provider.api_version == "v1"))
      findings.mistake(version, fmt::format("expected a version of the API, got \"{}\"", provider.api_version),
                       provider.api == Api::azure_openai ? "write e.g. 2024-10-21, or v1" : "write 2023-06-01");
  }
  if (only_for("key_id", {Api::bedrock})) provider.key_id = read_secret(reading, map.get("key_id"));
  if (only_for("session_token", {Api::bedrock}))
    provider.session_token = read_secret(reading, map.get("session_token"));
  if (!provider.session_token.empty() && provider.key_id.empty())
    findings.mistake(map.place(), "a session_token without a key_id", "add key_id: {env: AWS_ACCESS_KEY_ID}");
  const Place surfaces = map.get("surfaces");
  provider.surfaces = findings.names(surfaces);
  for (const std::string& surface : provider.surfaces) {
    const bool word = std::find(kOperationWords.begin(), kOperationWords.end(), surface) != kOperationWords.end();
    const bool path = surface.starts_with("/v1/") && surface.size() > 4 && surface.back() != '/' &&
                      surface.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-/") == std::string::npos;
    if (!word && !path)
      findings.mistake(surfaces, fmt::format("\"{}\" is no operation and no path", surface),
                       fmt::format("write {}, or a path such as /v1/images", listed(kOperationWords)));
  }
}

}  // namespace

std::optional<Endpoint> read_endpoint(Reading& reading, const Place& at, bool allow_private) {
  if (!at || !reading.findings.scalar(at, "a URL")) return std::nullopt;
  Misread why;
  std::optional<Endpoint> endpoint = parse_url(at.text(), allow_private, why);
  if (!endpoint)
    reading.findings.mistake(at, fmt::format("expected {}, got \"{}\"", why.expected, at.text().substr(0, 64)),
                             why.mend);
  return endpoint;
}

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
    provider.allow_private = findings.boolean(map.get("allow_private")).value_or(false);
    provider.endpoint = read_endpoint(reading, map.get("url"), provider.allow_private);
    provider.key = read_secret(reading, map.get("key"));
    provider.cache = read_cache(reading, map.get("cache"), provider.cache_field);
    read_api(reading, map, provider);
    map.done();
  }
}

}  // namespace ace::fleet_file
