/// Anthropic's messages: as they are, or for a client of chat completions.
#include <fmt/format.h>

#include <algorithm>

#include "adapters/provider_answer.h"
#include "adapters/provider_messages.h"
#include "adapters/provider_refusal.h"

namespace ace {
namespace {

using wire::Operation;

/// The messages body with its changes; empty if nothing changes.
std::string changed(std::string_view body, const wire::Request& request, const Ask& ask) {
  wire::Changes changes;
  if (ask.model != request.model) changes.model = std::string(ask.model);
  if (request.operation == Operation::messages) changes.max_tokens = ask.max_tokens;
  std::string out = wire::rewritten(body, request, changes);
  if (out == ask.body) out.clear();
  return out;
}

class Anthropic final : public MessagesUpstream {
 public:
  using MessagesUpstream::MessagesUpstream;

 protected:
  void finish(const Ask& ask, Operation operation, wire::Json& /*json*/, Prepared& out) const override {
    out.target = *base() + (operation == Operation::count_tokens ? "/messages/count_tokens" : "/messages");
    std::string fields;
    net::HeadWriter head(fields);
    write_common_fields(head, ask);
    if (const std::string betas = betas_of(ask.fields); !betas.empty()) head.field("anthropic-beta", betas);
    write_own_fields(fields);
    out.fields = Secret(std::move(fields));
  }
  [[nodiscard]] std::optional<std::string> base() const override {
    return contact_.path.empty() ? std::string("/v1") : contact_.path;
  }
  void write_own_fields(std::string& fields) const override {
    net::HeadWriter(fields).field("anthropic-version",
                                  contact_.api_version.empty() ? "2023-06-01" : contact_.api_version);
    if (!contact_.key.empty()) fields.append("x-api-key: ").append(contact_.key.reveal()).append("\r\n");
  }
};

}  // namespace

std::variant<Prepared, wire::WireError> MessagesUpstream::prepare(const Ask& ask, wire::Json& json) const {
  const wire::Request& request = ask.request;
  Prepared out;
  Operation operation = request.operation;
  if (has(operation)) {
    out.body = changed(ask.body, request, ask);
    out.answer = native_answer(request, false);
  } else if (operation == Operation::chat && has(Operation::messages)) {
    operation = Operation::messages;
    if (!json.parse(ask.body)) return unspoken(request.operation);
    const std::int64_t most = ask.output_max > 0 ? ask.output_max : kAnswerMost;
    wire::Translated translated = wire::request_to_anthropic(json.root(), ask.model, most);
    if (translated.error) return std::move(*translated.error);
    out.body = std::move(translated.body);
    if (ask.max_tokens) {
      const wire::ReadRequest read = wire::read_request(operation, out.body, {}, json);
      out.body = wire::rewritten(out.body, read.request, {.max_tokens = ask.max_tokens});
    }
    out.answer = chat_from_messages(request, ask.now);
  } else {
    return unspoken(request.operation);
  }
  finish(ask, operation, json, out);
  return out;
}

Refusal MessagesUpstream::refusal(int status, std::span<const net::Field> fields, std::string_view body, Instant now,
                                  wire::Json& json) const {
  Refusal out = read_refusal(status, fields, body, now, json);
  // An account without money answers as if the request were wrong.
  if (status == 400 && out.error.message.find("credit balance is too low") != std::string::npos) {
    out.why = Rejection::refused;
    out.error = refused_call(status);
  }
  return out;
}

std::string betas_of(std::span<const net::Field> fields) {
  std::string out;
  for (const net::Field& field : fields) {
    if (!net::equals_ignoring_case(field.name, "anthropic-beta") || field.value.empty()) continue;
    out.append(out.empty() ? "" : ",").append(field.value);
  }
  const bool plain = out.size() <= 1024 && std::all_of(out.begin(), out.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                              c == '_' || c == '.' || c == ',' || c == ' ';
                     });
  return plain ? out : std::string();
}

std::unique_ptr<Upstream> anthropic_upstream(Contact contact) {
  return std::make_unique<Anthropic>(std::move(contact));
}

}  // namespace ace
