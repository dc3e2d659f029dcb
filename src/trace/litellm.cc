#include "trace/litellm.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>

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

using simdjson::dom::element;

/// The first of these paths that holds a count. null and absent say nothing.
Result<std::optional<std::int32_t>> count_at(element usage, std::initializer_list<const char*> pointers) {
  for (const char* pointer : pointers) {
    element value;
    if (usage.at_pointer(pointer).get(value) != simdjson::SUCCESS || value.is_null()) continue;
    std::int64_t tokens = 0;
    if (value.get_int64().get(tokens) != simdjson::SUCCESS || tokens < 0 || tokens > kTokensMax) {
      return Error(Errc::bad_input, fmt::format("usage_object{}: expected a number of tokens", pointer));
    }
    return std::optional(static_cast<std::int32_t>(tokens));
  }
  return std::optional<std::int32_t>();
}

/// Nano-USD of a price in the log; nothing for what is no number.
std::int64_t nano_usd(element value) {
  double usd = 0.0;
  if (value.get_double().get(usd) != simdjson::SUCCESS) return 0;
  const Result<std::int64_t> nano = parse_nano_usd(fmt::format("{}", usd));  // what was printed from a double
  return nano ? *nano : 0;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Counts that LiteLLM or a provider may add to a usage object one day: told, not dropped.
void tell_unknown(element usage, std::string_view where, std::initializer_list<std::string_view> known,
                  Remarks& remarks) {
  simdjson::dom::object object;
  if (usage.get_object().get(object) != simdjson::SUCCESS) return;
  for (const auto& [name, value] : object) {
    double amount = 0.0;
    if (is_one_of(name, known) || value.get_double().get(amount) != simdjson::SUCCESS || !(amount > 0.0)) continue;
    const auto whole = static_cast<std::int64_t>(std::min(amount, 1e15));
    remarks.see(fmt::format("{}{}", where, name), whole, "units", "unknown to this reader and not replayed");
  }
}

Result<void> read_usage(element usage, Arrival& row, Remarks& remarks) {
  const auto take = [&](std::int32_t& into, std::initializer_list<const char*> pointers) -> Result<void> {
    const auto count = count_at(usage, pointers);
    if (!count) return count.error();
    if (*count) into = **count;
    return {};
  };
  // OpenAI's shape first; the names of Anthropic and DeepSeek as LiteLLM passes them on.
  std::int32_t audio_cached = 0, image_cached = 0, video = 0;
  const struct {
    std::int32_t* into;
    std::initializer_list<const char*> pointers;
  } counts[] = {
      {&row.cached, {"/prompt_tokens_details/cached_tokens", "/cache_read_input_tokens", "/prompt_cache_hit_tokens"}},
      {&row.cache_write,
       {"/prompt_tokens_details/cache_creation_tokens", "/prompt_tokens_details/cache_write_tokens",
        "/cache_creation_input_tokens"}},
      {&row.cache_write_1h,
       {"/prompt_tokens_details/cache_creation_token_details/ephemeral_1h_input_tokens",
        "/cache_creation/ephemeral_1h_input_tokens"}},
      {&row.reasoning, {"/completion_tokens_details/reasoning_tokens"}},
      {&row.audio_prompt, {"/prompt_tokens_details/audio_tokens"}},
      {&row.image_prompt, {"/prompt_tokens_details/image_tokens"}},
      {&row.audio_output, {"/completion_tokens_details/audio_tokens"}},
      {&row.image_output, {"/completion_tokens_details/image_tokens"}},
      {&audio_cached, {"/prompt_tokens_details/cached_tokens_details/audio_tokens"}},
      {&image_cached, {"/prompt_tokens_details/cached_tokens_details/image_tokens"}},
      {&video, {"/prompt_tokens_details/video_tokens"}},
  };
  for (const auto& count : counts)
    if (Result<void> taken = take(*count.into, count.pointers); !taken) return taken;
  // Providers count cached audio as audio and as cached; a row counts it once, as cached.
  row.audio_prompt -= std::min(row.audio_prompt, audio_cached);
  row.image_prompt -= std::min(row.image_prompt, image_cached);
  constexpr std::string_view as_cached = "priced as cached text";
  if (audio_cached > 0) remarks.see("cached audio tokens", audio_cached, "tokens", as_cached);
  if (image_cached > 0) remarks.see("cached image tokens", image_cached, "tokens", as_cached);
  if (video > 0) remarks.see("usage_object.video_tokens", video, "tokens", "priced as text");

  std::string_view tier;
  if (usage["service_tier"].get_string().get(tier) == simdjson::SUCCESS) {
    if (tier == "batch")
      row.batch = true;
    else if (!is_one_of(tier, {"", "default", "standard", "auto", "on_demand"}))
      remarks.see(fmt::format("service tier {}", tier.substr(0, 32)), 0, "", "replayed at the standard tier");
  }
  const auto searches =
      count_at(usage, {"/server_tool_use/web_search_requests", "/prompt_tokens_details/web_search_requests"});
  if (!searches) return searches.error();
  if (searches->value_or(0) > 0)
    remarks.see("web_search_requests", **searches, "calls", "not replayed: no destination prices them");

  tell_unknown(usage, "usage_object.",
               {"prompt_tokens", "completion_tokens", "total_tokens", "cache_read_input_tokens",
                "cache_creation_input_tokens", "prompt_cache_hit_tokens", "prompt_cache_miss_tokens", "input_tokens",
                "output_tokens", "cost", "queue_time", "prompt_time", "completion_time", "total_time"},
               remarks);
  element part;
  if (usage["prompt_tokens_details"].get(part) == simdjson::SUCCESS)
    tell_unknown(part, "prompt_tokens_details.",
                 {"cached_tokens", "cache_creation_tokens", "cache_write_tokens", "audio_tokens", "image_tokens",
                  "text_tokens", "video_tokens", "web_search_requests"},
                 remarks);
  if (usage["completion_tokens_details"].get(part) == simdjson::SUCCESS)
    tell_unknown(part, "completion_tokens_details.",
                 {"reasoning_tokens", "audio_tokens", "image_tokens", "text_tokens",
                  // speculated tokens that were rejected are billed as output and are part of completion_tokens
                  "accepted_prediction_tokens", "rejected_prediction_tokens"},
                 remarks);
  return {};
}

}  // namespace

bool billed_by_tokens(std::string_view call_type) {
  if (call_type.starts_with('a')) call_type.remove_prefix(1);  // the asynchronous twin
  for (const std::string_view other :
       {"image", "transcription", "speech", "rerank", "search", "ocr", "video", "vector_store", "file", "moderation"})
    if (call_type.find(other) != std::string_view::npos) return false;
  return true;
}

Result<LiteLlmExtras> LiteLlmMetadata::read(std::string_view json, Arrival& row, Remarks& remarks) {
  element metadata, usage, costs;
  if (parser_->dom.parse(json.data(), json.size(), true).get(metadata) != simdjson::SUCCESS || !metadata.is_object()) {
    return Error(Errc::bad_input, "expected a JSON object");
  }
  LiteLlmExtras extras;
  if (metadata["usage_object"].get(usage) == simdjson::SUCCESS && usage.is_object()) {
    if (Result<void> read = read_usage(usage, row, remarks); !read) return read.error();
  }
  if (metadata["cost_breakdown"].get(costs) != simdjson::SUCCESS || !costs.is_object()) return extras;
  for (const char* name : {"tool_usage_cost", "margin_total_amount"}) {
    element cost;
    if (costs[name].get(cost) != simdjson::SUCCESS) continue;
    const std::int64_t nano = nano_usd(cost);
    if (nano <= 0) continue;
    remarks.see(fmt::format("cost_breakdown.{}", name), nano, "nano-USD",
                "no token explains it: taken off the cost as logged, and in no baseline");
    if (__builtin_add_overflow(extras.beyond_tokens_nano, nano, &extras.beyond_tokens_nano))
      extras.beyond_tokens_nano = std::numeric_limits<std::int64_t>::max();
  }
  tell_unknown(costs, "cost_breakdown.",
               {"input_cost", "output_cost", "total_cost", "tool_usage_cost", "original_cost", "discount_percent",
                "discount_amount", "margin_percent", "margin_fixed_amount", "margin_total_amount", "cache_read_cost",
                "cache_creation_cost", "reasoning_cost", "additional_costs"},
               remarks);
  return extras;
}

}  // namespace ace
