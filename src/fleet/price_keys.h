#pragma once
/// The grammar of a price list's key names: "cache_read_input_token_cost_above_272k_tokens_priority".
#include <cstdint>
#include <optional>
#include <string_view>

#include "fleet/price.h"

namespace ace {

struct PriceKey {
  enum class Kind : std::uint8_t {
    unit,   ///< the price of a unit of Usage
    named,  ///< a price no unit counts; kept under its name
  } kind = Kind::unit;
  Unit unit = Unit::input;
  std::int64_t above = 0;  ///< total prompt context in tokens
  ServiceTier service = ServiceTier::standard;
  friend bool operator==(const PriceKey&, const PriceKey&) = default;
};

/// What a key prices; nothing if it is no price key we know. A threshold beyond 10^12 tokens is no threshold.
/// Source: BerriAI/litellm, model_prices_and_context_window.json and litellm_core_utils/llm_cost_calc/utils.py.
std::optional<PriceKey> price_key(std::string_view key);

/// Does this name sound like money? Then a list that uses it without our knowing it is reported.
bool sounds_like_a_price(std::string_view key);

/// Keys with facts, limits and capabilities, which carry no price.
bool known_without_price(std::string_view key);

}  // namespace ace
