/// OpenAI and all that speak as it does; Azure OpenAI and Vertex AI, which differ in where and how they are asked.
#include <fmt/format.h>

#include "adapters/provider_answer.h"
#include "adapters/provider_parts.h"
#include "adapters/provider_refusal.h"

namespace ace {
namespace {

using wire::Operation;

/// Below the version of the API.
std::string_view path_of(Operation operation) {
  switch (operation) {
    case Operation::chat:
      return "/chat/completions";
    case Operation::responses:
      return "/responses";
    case Operation::completions:
      return "/completions";
    case Operation::embeddings:
      return "/embeddings";
    case Operation::messages:
      return "/messages";
    case Operation::count_tokens:
      return "/messages/count_tokens";
    case Operation::models:
      break;
  }
  return "/models";
}

class OpenAi : public HttpUpstream {
 public:
  using HttpUpstream::HttpUpstream;

  [[nodiscard]] std::variant<Prepared, wire::WireError> prepare(const Ask& ask, wire::Json& json) const override {
    const wire::Request& request = ask.request;
    Prepared out;
    if (has(request.operation)) {
      out.target = target(request.operation, ask.model);
      out.body = changed(ask);
      const bool has_option = request.operation == Operation::chat || request.operation == Operation::completions;
      out.answer = native_answer(request, has_option && request.stream && !request.include_usage);
    } else if (request.operation == Operation::messages && has(Operation::chat)) {
      if (!json.parse(ask.body)) return unspoken(request.operation);
      wire::Translated translated = wire::request_to_openai(json.root(), ask.model);
      if (translated.error) return std::move(*translated.error);
      out.target = target(Operation::chat, ask.model);
      out.body = std::move(translated.body);
      out.answer = messages_from_chat();
    } else {
      return unspoken(request.operation);
    }
    std::string fields;
    net::HeadWriter head(fields);
    write_common_fields(head, ask);
    write_own_fields(fields);
    out.fields = Secret(std::move(fields));
    return out;
  }

 protected:
  [[nodiscard]] virtual std::string target(Operation operation, std::string_view /*model*/) const {
    return *base() + std::string(path_of(operation));
  }
  [[nodiscard]] std::optional<std::string> base() const override {
    return contact_.path.empty() ? std::string("/v1") : contact_.path;
  }
  void write_own_fields(std::string& fields) const override {
    net::HeadWriter head(fields);
    write_bearer(fields, contact_.key);
    if (!contact_.organization.empty()) head.field("openai-organization", contact_.organization);
    if (!contact_.project.empty()) head.field("openai-project", contact_.project);
  }

 private:
  /// The body with what has to change; empty if nothing has.
  [[nodiscard]] std::string changed(const Ask& ask) const {
    const wire::Request& request = ask.request;
    wire::Changes changes;
    if (ask.model != request.model) changes.model = std::string(ask.model);
    changes.force_usage = true;
    changes.max_tokens = ask.max_tokens;
    if (!ask.cache_key.empty()) changes.cache_key = std::string(ask.cache_key);
    changes.cache_field = request.operation == Operation::embeddings ? std::string_view() : contact_.cache_field;
    std::string body = wire::rewritten(ask.body, request, changes);
    if (body == ask.body) body.clear();
    return body;
  }
};

/// `/openai/v1/...`, or `/openai/deployments/NAME/...?api-version=` where a version with a date is asked for.
/// Responses name their deployment in the body in both.
class AzureOpenAi final : public OpenAi {
 public:
  using OpenAi::OpenAi;

  [[nodiscard]] Refusal refusal(int status, std::span<const net::Field> fields, std::string_view body, Instant now,
                                wire::Json& json) const override {
    Refusal out = read_refusal(status, fields, body, now, json);
    // A filtered prompt was read, and is charged. Source: learn.microsoft.com/answers/questions/1632971, 2024-03.
    out.billed = status == 400 && out.error.code == "content_filter";
    return out;
  }

  [[nodiscard]] Told told(std::span<const net::Field> fields, Instant now) const override {
    Told out = HttpUpstream::told(fields, now);
    // Azure may have spilled by itself, by a property of the deployment.
    const net::Field* name = net::find(fields, "x-ms-deployment-name");
    const bool spilled = net::find(fields, "x-ms-spillover-from-deployment") != nullptr ||
                         net::find(fields, "x-ms-is-spilled-over") != nullptr;
    if (spilled) out.served_by = name != nullptr ? name->value : "spillover";
    return out;
  }

 protected:
  [[nodiscard]] std::string target(Operation operation, std::string_view model) const override {
    const std::string& version = contact_.api_version;
    if (const auto v1 = base()) return *v1 + std::string(path_of(operation));
    if (operation == Operation::responses)
      return fmt::format("{}/openai/responses?api-version={}", contact_.path, version);
    return fmt::format("{}/openai/deployments/{}{}?api-version={}", contact_.path, percent_encoded(model),
                       path_of(operation), version);
  }
  [[nodiscard]] std::optional<std::string> base() const override {
    if (!contact_.api_version.empty() && contact_.api_version != "v1") return std::nullopt;
    return contact_.path + "/openai/v1";
  }
  void write_own_fields(std::string& fields) const override {
    if (!contact_.key.empty()) fields.append("api-key: ").append(contact_.key.reveal()).append("\r\n");
  }
};

/// The OpenAI-compatible endpoint of a project and region. Models are named "google/gemini-2.5-flash" there.
class Vertex final : public OpenAi {
 public:
  using OpenAi::OpenAi;

 protected:
  [[nodiscard]] std::string target(Operation operation, std::string_view /*model*/) const override {
    if (!contact_.path.empty()) return contact_.path + std::string(path_of(operation));
    return fmt::format("/v1/projects/{}/locations/{}/endpoints/openapi{}", percent_encoded(contact_.project),
                       percent_encoded(contact_.region), path_of(operation));
  }
  [[nodiscard]] std::optional<std::string> base() const override { return std::nullopt; }
  void write_own_fields(std::string& fields) const override {
    write_bearer(fields, contact_.key);
    // Provisioned throughput alone, with a 429 when it is used up; or past it. Without this line what overflows is
    // charged by the token unseen.
    net::HeadWriter(fields).field("x-vertex-ai-llm-request-type", contact_.committed ? "dedicated" : "shared");
  }
};

}  // namespace

std::unique_ptr<Upstream> openai_upstream(Contact contact) {
  switch (contact.api) {
    case Api::azure_openai:
      return std::make_unique<AzureOpenAi>(std::move(contact));
    case Api::vertex:
      return std::make_unique<Vertex>(std::move(contact));
    default:
      return std::make_unique<OpenAi>(std::move(contact));
  }
}

}  // namespace ace
