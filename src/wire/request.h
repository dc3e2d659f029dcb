#pragma once
/// What routing needs to know of a request, read once; and the few changes that are made before it is passed on.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/dialect.h"
#include "wire/json.h"

namespace ace::wire {

struct RequestLimits {
  JsonLimits json;
  std::int64_t choices = 8;             ///< of `n` and `best_of`
  std::int64_t max_tokens = 1'000'000;  ///< more is a typing error
  std::size_t model_bytes = 256;
  bool engine_parameters = false;  ///< let through what steers an inference engine: chat_template and its like
};

/// Fields of the body, as far as they matter here. Text is copied, the body is not.
struct Request {
  Operation operation = Operation::chat;
  std::string model;
  bool stream = false;
  bool include_usage = false;              ///< the client asked for the usage at the end of an OpenAI stream
  std::optional<std::int64_t> max_tokens;  ///< under whichever name the API has for it
  std::int64_t choices = 1;
  std::int64_t prompt_tokens = 0;  ///< estimate: bytes of text / 4, and a flat rate for each image

  bool tools = false, images = false, audio = false, files = false, structured_output = false, reasoning = false;
  bool stores = false;  ///< Responses API: continues from, or is kept in, the provider's memory
  std::string user;     ///< raw identity: goes to the perimeter and nowhere else
  std::string service_tier;
  bool cache_hints = false;  ///< Anthropic's cache_control

  /// Where things stand in the body, for rewriting; empty if they do not.
  struct Span {
    std::size_t begin = 0, end = 0;
    [[nodiscard]] bool empty() const { return begin == end; }
    friend bool operator==(const Span&, const Span&) = default;
  };
  Span model_at, max_tokens_at, stream_options_at, include_usage_at;
  std::array<Span, 2> cache_keys_at;  ///< values of prompt_cache_key and of cache_salt
  std::string max_tokens_name;
};

struct ReadRequest {
  Request request;
  std::optional<WireError> error;  ///< the first thing that is wrong
};

/// Reads the body of an operation other than `models`.
/// @param json  parsed here; its buffers are reused
ReadRequest read_request(Operation operation, std::string_view body, const RequestLimits& limits, Json& json);

/// What to change. Everything else of the body stays as it is, byte for byte.
struct Changes {
  std::optional<std::string> model{};
  bool force_usage = false;                  ///< OpenAI streams: ask for the usage, whatever the client said
  std::optional<std::int64_t> max_tokens{};  ///< replaces what is there; added under the API's name where nothing is
  std::optional<std::string> cache_key{};    ///< of the tenant: replaces the client's
  std::string_view cache_field = "prompt_cache_key";  ///< under which it is added where there is none; empty: not
};
/// @param request read from these bytes
std::string rewritten(std::string_view body, const Request& request, const Changes& changes);

}  // namespace ace::wire
