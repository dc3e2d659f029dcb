#include "fleet/price_keys.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace ace {
namespace {

constexpr std::pair<std::string_view, Unit> kUnitKeys[] = {
    {"input_cost_per_token", Unit::input},
    {"output_cost_per_token", Unit::output},
    {"output_cost_per_reasoning_token", Unit::reasoning},
    {"cache_read_input_token_cost", Unit::cached_input},
    {"input_cost_per_token_cache_hit", Unit::cached_input},
    {"cache_creation_input_token_cost", Unit::cache_write},
    {"cache_creation_input_token_cost_above_1hr", Unit::cache_write_1h},
    {"input_cost_per_audio_token", Unit::audio_input},
    {"output_cost_per_audio_token", Unit::audio_output},
    {"input_cost_per_image_token", Unit::image_input},
    {"output_cost_per_image_token", Unit::image_output},
    {"input_cost_per_video_token", Unit::video_input},
    {"input_cost_per_character", Unit::character_input},
    {"output_cost_per_character", Unit::character_output},
    {"input_cost_per_second", Unit::second_input},
    {"output_cost_per_second", Unit::second_output},
    {"input_cost_per_audio_per_second", Unit::audio_second_input},
    {"input_cost_per_video_per_second", Unit::video_second_input},
    {"input_cost_per_image", Unit::image_count_input},
    {"output_cost_per_image", Unit::image_count_output},
    {"input_cost_per_pixel", Unit::pixel_input},
    {"output_cost_per_pixel", Unit::pixel_output},
    {"input_cost_per_query", Unit::query},
    {"ocr_cost_per_page", Unit::page},
    {"code_interpreter_cost_per_session", Unit::session},
};

// Prices of things a Usage does not count, and cache classes of modalities that no usage record tells apart.
constexpr std::string_view kNamedKeys[] = {
    "citation_cost_per_token",
    "input_cost_per_request",
    "cache_read_input_audio_token_cost",
    "cache_read_input_image_token_cost",
    "cache_read_input_token_cost_per_audio_token",
    "cache_creation_input_audio_token_cost",
    "annotation_cost_per_page",
    "ocr_cost_per_credit",
    "output_cost_per_video_per_second",
    "file_search_cost_per_1k_calls",
    "file_search_cost_per_gb_per_day",
    "vector_store_cost_per_gb_per_day",
    "computer_use_input_cost_per_1k_tokens",
    "computer_use_output_cost_per_1k_tokens",
    "input_cost_per_token_batch_requests",
};
// Followed by a resolution, a length or a size: priced by a property that a usage record does not carry.
constexpr std::string_view kNamedPrefixes[] = {
    "output_cost_per_second_",
    "output_cost_per_image_",
    "input_cost_per_image_",
    "input_cost_per_video_per_second_",
    "output_cost_per_video_per_second_",
    "output_cost_per_pixel_",
};

constexpr std::string_view kFacts[] = {
    "litellm_provider",
    "mode",
    "source",
    "as_of",
    "deprecation_date",
    "output_vector_size",
    "metadata",
    "rpm",
    "tpm",
    "valid_from",
    "valid_to",
    "accept_delta",
    "recorded",
    "reason",
    "comment",
    "max_tokens",
    "prompt_cache_min_tokens",
    "web_search_billing_unit",
    "tool_use_system_prompt_tokens",
    "multi_vendor",
    "gemini_audio_only_live",
    "gemini_native_audio",
    "uses_embed_content",
};
constexpr std::string_view kFactPrefixes[] = {"supports_", "supported_", "max_"};

constexpr std::string_view kMoneyWords[] = {
    "cost", "costs", "price",  "prices",  "pricing",   "fee",    "fees",       "rate",     "rates",  "usd",
    "eur",  "dbu",   "charge", "charges", "surcharge", "uplift", "multiplier", "discount", "tariff", "spend",
};

bool cut_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

/// "..._above_200k_tokens" -> 200,000 and the rest. @return 0 if the text does not end like this
std::int64_t cut_threshold(std::string_view& text) {
  std::string_view rest = text;
  if (!cut_suffix(rest, "_tokens")) return 0;
  const std::size_t at = rest.rfind("_above_");
  if (at == std::string_view::npos) return 0;
  std::string_view number = rest.substr(at + 7);
  const std::int64_t scale = cut_suffix(number, "k") ? 1'000 : cut_suffix(number, "m") ? 1'000'000 : 1;
  if (number.empty() || number.size() > 12) return 0;
  std::int64_t value = 0;
  for (const char c : number) {
    if (c < '0' || c > '9') return 0;
    value = value * 10 + (c - '0');
  }
  if (value > 1'000'000'000'000 / scale) return 0;
  text = rest.substr(0, at);
  return value * scale;
}

bool any_prefix(std::string_view key, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return key.starts_with(p); });
}

}  // namespace

std::optional<PriceKey> price_key(std::string_view key) {
  PriceKey made;
  std::string_view base = key;
  bool service_seen = false, ultrafast = false;
  for (bool cut = true; cut;) {
    cut = false;
    if (!service_seen) {
      if (cut_suffix(base, "_batches"))
        made.service = ServiceTier::batch, service_seen = cut = true;
      else if (cut_suffix(base, "_flex"))
        made.service = ServiceTier::flex, service_seen = cut = true;
      else if (cut_suffix(base, "_priority"))
        made.service = ServiceTier::priority, service_seen = cut = true;
      else if (cut_suffix(base, "_ultrafast"))
        ultrafast = service_seen = cut = true;
    }
    if (made.above == 0) {
      made.above = cut_threshold(base);
      cut = cut || made.above != 0;
    }
  }
  for (const auto& [name, unit] : kUnitKeys)
    if (base == name) {
      made.unit = unit;
      if (ultrafast) made = {.kind = PriceKey::Kind::named};
      return made;
    }
  const bool named = std::find(std::begin(kNamedKeys), std::end(kNamedKeys), base) != std::end(kNamedKeys);
  if (named || any_prefix(base, kNamedPrefixes)) return PriceKey{.kind = PriceKey::Kind::named};
  return std::nullopt;
}

bool sounds_like_a_price(std::string_view key) {
  while (!key.empty()) {
    const std::size_t end = std::min(key.find_first_of("_-."), key.size());
    std::string word(key.substr(0, end));
    for (char& c : word)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (std::find(std::begin(kMoneyWords), std::end(kMoneyWords), word) != std::end(kMoneyWords)) return true;
    key.remove_prefix(std::min(end + 1, key.size()));
  }
  return false;
}

bool known_without_price(std::string_view key) {
  if (std::find(std::begin(kFacts), std::end(kFacts), key) != std::end(kFacts)) return true;
  return any_prefix(key, kFactPrefixes) && !sounds_like_a_price(key);
}

}  // namespace ace
