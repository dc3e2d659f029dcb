#pragma once
/// What providers say when they do not answer: in status, head and body, each in its own words.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "adapters/provider.h"

namespace ace {

/// The body of an error, in any of the shapes that are known: OpenAI's {"error": {...}}, Anthropic's {"type": "error",
/// "error": {...}}, Google's [{"error": {"status", "details"}}], AWS's {"message"}, vLLM's {"object": "error",
/// "message"}, FastAPI's {"detail"}, Ollama's and TGI's {"error": "text"}.
struct ErrorBody {
  std::string message, type, code, param;
  std::optional<Duration> retry_after;  ///< Google's RetryInfo
};
ErrorBody read_error_body(std::string_view body, wire::Json& json);

/// How long to wait: `retry-after-ms`, else `retry-after` in seconds or as a date (RFC 9110, 10.2.3); from nothing to a
/// day. Nothing if neither is there or neither can be read.
std::optional<Duration> read_retry_after(std::span<const net::Field> fields, Instant now);

/// "6m0s", "1.5s", "20ms", as OpenAI writes the reset of a window.
std::optional<Duration> read_go_duration(std::string_view text);

/// `x-ratelimit-*` of OpenAI and its like, `anthropic-ratelimit-*` of Anthropic.
Windows read_windows(std::span<const net::Field> fields, Instant now);

/// What a client is told of a call that was refused for what we are: nothing of the provider's words, which may name
/// keys, accounts and hosts.
wire::WireError refused_call(int status);

/// The rule for all providers; who has other words mends the result.
Refusal read_refusal(int status, std::span<const net::Field> fields, std::string_view body, Instant now,
                     wire::Json& json);

}  // namespace ace
