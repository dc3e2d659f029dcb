#include "trace/litellm.h"

#include <initializer_list>
#include <limits>

#include <fmt/core.h>
#include <simdjson.h>

#include "trace/numbers.h"

namespace ace {

struct LiteLlmMetadata::Parser {
  simdjson::dom::parser dom;
};

LiteLlmMetadata::LiteLlmMetadata() : parser_(std::make_unique<Parser>()) {}
LiteLlmMetadata::~LiteLlmMetadata() = default;

namespace {

/// The first of these paths that holds a count. null and absent say nothing.
Result<void> count_at(simdjson::dom::element usage, std::initializer_list<const char*> pointers, std::int32_t& into) {
  for (const char* pointer : pointers) {
    simdjson::dom::element value;
    if (usage.at_pointer(pointer).get(value) != simdjson::SUCCESS || value.is_null()) continue;
    std::int64_t tokens = 0;
    if (value.get_int64().get(tokens) != simdjson::SUCCESS || tokens < 0 || tokens > kTokensMax) {
      return Error(Errc::bad_input, fmt::format("usage_object{}: expected a number of tokens", pointer));
    }
    into = static_cast<std::int32_t>(tokens);
    return {};
  }
  return {};
}

}  // namespace

Result<void> LiteLlmMetadata::read(std::string_view json, Arrival& row) {
  simdjson::dom::element metadata, usage;
  if (parser_->dom.parse(json.data(), json.size(), true).get(metadata) != simdjson::SUCCESS || !metadata.is_object()) {
    return Error(Errc::bad_input, "expected a JSON object");
  }
  if (metadata["usage_object"].get(usage) != simdjson::SUCCESS || !usage.is_object()) return {};
  // OpenAI's shape first; Anthropic's names as LiteLLM passes them on.
  if (Result<void> r =
          count_at(usage, {"/prompt_tokens_details/cached_tokens", "/cache_read_input_tokens"}, row.cached);
      !r) {
    return r;
  }
  if (Result<void> r = count_at(usage, {"/prompt_tokens_details/cache_creation_tokens", "/cache_creation_input_tokens"},
                                row.cache_write);
      !r) {
    return r;
  }
  return count_at(usage, {"/completion_tokens_details/reasoning_tokens"}, row.reasoning);
}

}  // namespace ace
