#include "adapters/provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "adapters/provider_parts.h"

namespace ace {
namespace {

using wire::Operation;

constexpr std::uint32_t kNone = 0;
constexpr std::uint32_t kOpenAiAll = bit_of(Operation::chat) | bit_of(Operation::responses) |
                                     bit_of(Operation::completions) | bit_of(Operation::embeddings);

/// What an API answers where the fleet file does not say. By Api.
constexpr std::array<std::uint32_t, kApis> kNative = {kNone,
                                                      kOpenAiAll,
                                                      kOpenAiAll,
                                                      bit_of(Operation::messages) | bit_of(Operation::count_tokens),
                                                      bit_of(Operation::chat),
                                                      bit_of(Operation::messages)};

std::uint32_t operations_of(const Provider& provider) {
  static constexpr std::pair<std::string_view, Operation> words[] = {{"chat", Operation::chat},
                                                                     {"responses", Operation::responses},
                                                                     {"completions", Operation::completions},
                                                                     {"embeddings", Operation::embeddings},
                                                                     {"messages", Operation::messages},
                                                                     {"count_tokens", Operation::count_tokens}};
  std::uint32_t operations = 0;
  for (const auto& [word, operation] : words)
    if (std::find(provider.surfaces.begin(), provider.surfaces.end(), word) != provider.surfaces.end())
      operations |= bit_of(operation);
  return operations != 0 ? operations : kNative[static_cast<std::size_t>(provider.api)];  // paths alone add to them
}

/// Where it is called: what the fleet file says, else the published host of a region.
std::optional<Endpoint> endpoint_of(const Provider& provider, const Destination& destination) {
  if (destination.endpoint) return destination.endpoint;
  if (provider.endpoint) return provider.endpoint;
  Endpoint endpoint;
  if (provider.api == Api::vertex)
    endpoint.host = provider.region == "global" ? "aiplatform.googleapis.com"
                                                : fmt::format("{}-aiplatform.googleapis.com", provider.region);
  else if (provider.api == Api::bedrock)
    endpoint.host = fmt::format("bedrock-runtime.{}.amazonaws.com", provider.region);
  else
    return std::nullopt;
  return endpoint;
}

/// A secret fit for a line of a head.
Result<Secret> secret_of(const SecretName& name, const ReadSecret& read) {
  if (name.empty()) return Secret();
  Result<Secret> secret = read(name);
  if (!secret) return secret;
  const std::string_view text = secret->reveal();
  const bool plain = !text.empty() && text.size() <= 8192 &&
                     std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!plain)
    return Error(Errc::bad_input, fmt::format("the key in {} is empty, longer than 8 KiB, or has blanks or control "
                                              "characters in it",
                                              name.env.empty() ? name.file : name.env));
  return secret;
}

}  // namespace

std::string_view model_name_at(const Fleet& fleet, DestinationId destination, ModelId model) {
  for (const Serving& serving : fleet.destinations[destination.value].serving)
    if (serving.model == model && !serving.name.empty()) return serving.name;
  return fleet.models[model.value].name;
}

Result<std::unique_ptr<Upstream>> make_upstream(const Fleet& fleet, DestinationId id, const ReadSecret& read) {
  const Destination& destination = fleet.destinations[id.value];
  const Provider& provider = fleet.providers[destination.provider.value];
  const auto wrong = [&](std::string_view what) {
    return Error(Errc::bad_input, fmt::format("destination \"{}\" of provider \"{}\" cannot be called: {}",
                                              destination.name, provider.name, what));
  };
  const std::optional<Endpoint> endpoint = endpoint_of(provider, destination);
  if (provider.api == Api::none) return wrong("it has no api; write e.g. api: openai");
  if (!endpoint) return wrong("it has no url; write e.g. url: \"https://api.example.com/v1\"");
  Contact contact;
  contact.api = provider.api;
  contact.origin = {endpoint->host, endpoint->port, endpoint->tls, endpoint->allow_private};
  contact.path = endpoint->path;
  contact.api_version = provider.api_version;
  contact.region = provider.region;
  contact.project = provider.project;
  contact.organization = provider.organization;
  contact.operations = operations_of(provider);
  for (const std::string& surface : provider.surfaces)
    if (surface.starts_with('/')) contact.paths.push_back(surface);
  // What our own engines keep of a prompt is shared by all tenants unless it is salted.
  contact.cache_field = !provider.cache_field.empty() ? provider.cache_field
                        : destination.vram_bytes > 0  ? "cache_salt"
                                                      : "";
  contact.committed = destination.tier == Tier::reserved;
  for (const auto& [name, secret] : {std::pair{&provider.key, &contact.key},
                                     {&provider.key_id, &contact.key_id},
                                     {&provider.session_token, &contact.session_token}}) {
    Result<Secret> got = secret_of(*name, read);
    if (!got) return wrong(got.error().what());
    *secret = *std::move(got);
  }
  if (provider.api == Api::anthropic) return anthropic_upstream(std::move(contact));
  if (provider.api == Api::bedrock) return bedrock_upstream(std::move(contact));
  return openai_upstream(std::move(contact));
}

}  // namespace ace
