#include "wire/dialect.h"

#include <fmt/format.h>

#include "core/text.h"

namespace ace::wire {
namespace {

struct Path {
  Operation operation;
  std::string_view name, method, path;
};
constexpr Path kPaths[kOperations] = {
    {Operation::chat, "chat_completions", "POST", "/v1/chat/completions"},
    {Operation::responses, "responses", "POST", "/v1/responses"},
    {Operation::completions, "completions", "POST", "/v1/completions"},
    {Operation::embeddings, "embeddings", "POST", "/v1/embeddings"},
    {Operation::models, "models", "GET", "/v1/models"},
    {Operation::messages, "messages", "POST", "/v1/messages"},
    {Operation::count_tokens, "count_tokens", "POST", "/v1/messages/count_tokens"},
};

/// OpenAI's type of an error of this status.
std::string_view openai_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 429:
      return "rate_limit_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

std::string_view anthropic_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 402:
      return "billing_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
    case 529:
      return "overloaded_error";
    case 504:
      return "timeout_error";
    default:
      return status >= 500 ? "api_error" : "invalid_request_error";
  }
}

}  // namespace

std::string_view name_of(Operation operation) { return kPaths[static_cast<std::size_t>(operation)].name; }

Dialect dialect_of(Operation operation) {
  return operation == Operation::messages || operation == Operation::count_tokens ? Dialect::anthropic
                                                                                  : Dialect::openai;
}

std::optional<Operation> operation_of(std::string_view method, std::string_view path) {
  for (const Path& known : kPaths) {
    if (known.path == path && known.method == method) return known.operation;
  }
  return std::nullopt;
}

Dialect dialect_of(std::string_view path) {
  return path == "/v1/messages" || path.starts_with("/v1/messages/") ? Dialect::anthropic : Dialect::openai;
}

std::string error_body(Dialect dialect, const WireError& error) {
  if (dialect == Dialect::anthropic)
    return fmt::format(R"({{"type":"error","error":{{"type":"{}","message":{},"code":{}}}}})",
                       anthropic_type(error.status), json_text(error.message), json_text(error.code));
  return fmt::format(R"({{"error":{{"message":{},"type":"{}","param":{},"code":{}}}}})", json_text(error.message),
                     openai_type(error.status), error.param.empty() ? "null" : json_text(error.param),
                     json_text(error.code));
}

std::string echo(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t size = first < 0x80 ? 1U : first >= 0xf0 ? 4U : first >= 0xe0 ? 3U : first >= 0xc0 ? 2U : 0U;
    bool whole = size > 0 && i + size <= text.size();
    for (std::size_t k = 1; whole && k < size; ++k) whole = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
    if (whole && out.size() + size > 64) break;
    if (whole && (size > 1 || (first >= 0x20 && first != 0x7f && first != '"'))) out += text.substr(i, size);
    i += whole ? size : 1;
  }
  return out;
}

}  // namespace ace::wire
