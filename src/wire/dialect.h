#pragma once
/// The APIs we speak, and errors in the words of each.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ace::wire {

enum class Dialect : std::uint8_t { openai, anthropic };

/// What a request asks for.
enum class Operation : std::uint8_t {
  chat,          ///< POST /v1/chat/completions
  responses,     ///< POST /v1/responses
  completions,   ///< POST /v1/completions
  embeddings,    ///< POST /v1/embeddings
  models,        ///< GET /v1/models
  messages,      ///< POST /v1/messages (Anthropic)
  count_tokens,  ///< POST /v1/messages/count_tokens (Anthropic)
};
inline constexpr std::size_t kOperations = 7;
/// "chat_completions" and the like, for metrics.
std::string_view name_of(Operation operation);
Dialect dialect_of(Operation operation);

/// The only way from a path to an operation: exact bytes, nothing decoded. A known path with another method is none.
std::optional<Operation> operation_of(std::string_view method, std::string_view path);
/// The dialect to answer in where there is no operation: Anthropic's below /v1/messages.
Dialect dialect_of(std::string_view path);

/// What is wrong with a request, in terms that both dialects have.
struct WireError {
  int status = 400;
  std::string code;     ///< ours, stable: "duplicate_key"
  std::string message;  ///< what was expected and what came, at most 64 characters of it
  std::string param{};  ///< the field, "" if none
  friend bool operator==(const WireError&, const WireError&) = default;
};

/// The body of an error response; also the data of the event that ends a stream which has failed, so that it never just
/// stops. That event is of type "error" for Anthropic, of none for OpenAI, and no success follows it.
std::string error_body(Dialect dialect, const WireError& error);

/// At most 64 bytes of outside text, whole UTF-8 characters, control bytes and quotes left out: fit to be echoed.
std::string echo(std::string_view text);

}  // namespace ace::wire
