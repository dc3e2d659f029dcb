#include "fleet/price_draft.h"

#include <algorithm>

#include "core/time.h"
#include "fleet/price_keys.h"

namespace ace {
namespace {

// USD per single unit x 10^6 units x 10^9 nano.
constexpr int kNanoPerMillion = 15;

/// A price, or why it is none.
Result<UsdPerMtok> parse_price(std::string_view text) {
  const Result<std::int64_t> nano = parse_decimal(text, kNanoPerMillion);
  if (!nano) {
    if (nano.error().code() == Errc::out_of_range)
      return Error(Errc::out_of_range, "\"" + std::string(text.substr(0, 64)) +
                                           "\" is not representable: a price has at most 9 decimals of USD per million "
                                           "units (15 per unit) and stays below 9.2 billion");
    return Error(Errc::bad_input, "expected a decimal number of USD per unit, got \"" +
                                      std::string(text.substr(0, 64)) +
                                      "\"; write 3e-06 for $3 per million, or leave the key out if there is no price");
  }
  if (*nano < 0)
    return Error(Errc::bad_input, "a price is not negative, got \"" + std::string(text.substr(0, 64)) + "\"");
  return UsdPerMtok{*nano};
}

/// Where `unit` has no price yet, it has that of `from`.
void fall_back(Rates& rates, std::uint32_t blocked, Unit unit, Unit from) {
  if ((blocked >> static_cast<unsigned>(unit) & 1U) != 0) return;
  if (!rates[unit] && rates[from]) rates.set(unit, rates.priced(from));
}

/// What `over` prices, else what `under` does; nothing for a blocked unit.
Rates merged(Rates under, const Rates& over, std::uint32_t blocked) {
  for (std::uint32_t left = over.mask() & ~blocked; left != 0; left &= left - 1) {
    const auto unit = static_cast<Unit>(std::countr_zero(left));
    under.set(unit, over.priced(unit));
  }
  return under;
}

template <class Named>
void insert_sorted(std::vector<Named>& list, Named item) {
  const auto at =
      std::lower_bound(list.begin(), list.end(), item, [](const Named& a, const Named& b) { return a.name < b.name; });
  list.insert(at, std::move(item));
}

}  // namespace

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto number = [&](std::size_t at, std::size_t size) {
    int value = 0;
    for (const char c : text.substr(at, size)) {
      if (c < '0' || c > '9') return -1;
      value = value * 10 + (c - '0');
    }
    return value;
  };
  const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  return year >= 1970 && year <= 2200 && month >= 1 && day >= 1 &&
         valid_date(year, static_cast<unsigned>(month), static_cast<unsigned>(day));
}

void PriceDraft::add(bool error, std::string_view field, std::string what) {
  failed_ = failed_ || error;
  findings_.push_back({error, row_.key, std::string(field), std::move(what)});
}

bool PriceDraft::first(const std::string& field) {
  if (std::find(seen_.begin(), seen_.end(), field) != seen_.end()) {
    error(field, "the key is given twice; keep one");
    return false;
  }
  seen_.push_back(field);
  return true;
}

void PriceDraft::price(std::string_view field, std::string_view text, std::int64_t above_at_least) {
  const std::optional<PriceKey> key = price_key(field);
  if (!key) return unknown(field);
  if (key->kind == PriceKey::Kind::named) return named_price(std::string(field), text);
  if (above_at_least > 0 && key->above > 0)
    return error(field, "a threshold in the key and another in its tier of tiered_pricing; keep one");
  const Result<UsdPerMtok> price = parse_price(text);
  if (!price && price.error().code() == Errc::out_of_range && dialect_ == PriceDialect::community) {
    blocked_ |= 1U << static_cast<unsigned>(key->unit);  // never rounded, and nothing else stands in for it
    findings_.push_back({true, row_.key, std::string(field),
                         price.error().what() + "; " + std::string(name_of(key->unit)) + " is unpriced in this row",
                         true});
    return;
  }
  if (!price) return error(field, price.error().what());
  Rates& rates = given_[std::max(key->above, above_at_least)][static_cast<std::size_t>(key->service)];
  if (rates[key->unit] && rates[key->unit] != *price)
    return error(field, "this price is given a second time, and differently, under another key");
  rates.set(key->unit, *price);
}

void PriceDraft::settle_off_peak() {
  for (const auto& [field, text] : off_peak_) {
    const std::optional<PriceKey> key = price_key(field);
    const Result<UsdPerMtok> price = parse_price(text);
    std::optional<UsdPerMtok> own;
    if (key && key->kind == PriceKey::Kind::unit)
      if (const auto tier = given_.find(key->above); tier != given_.end())
        own = tier->second[static_cast<std::size_t>(key->service)][key->unit];
    if (price && own && *own == *price) continue;
    return error("off_peak_pricing",
                 field +
                     " differs at some hours: a price here holds all day, so this row would be wrong at one hour or "
                     "another. Give the destination the price you pay (price: in the fleet file), or take "
                     "off_peak_pricing out of the row to use its own prices for all hours");
  }
}

void PriceDraft::named_price(std::string name, std::string_view text) {
  const Result<UsdPerMtok> price = parse_price(text);
  if (!price) return error(name, price.error().what());
  insert_sorted(row_.other, NamedPrice{std::move(name), *price});
}

void PriceDraft::factor(std::string_view field, std::string name, std::string_view text) {
  const Result<std::int64_t> ppm = parse_decimal(text, 6);
  if (!ppm || *ppm < 1 || *ppm > 10'000'000)
    return error(field, "expected a factor above 0 and at most 10 with at most 6 decimals, got \"" +
                            std::string(text.substr(0, 64)) + "\"");
  if (field == "regional_processing_uplift_multiplier_eu")
    row_.uplift_ppm_eu = *ppm;
  else if (field == "regional_processing_uplift_multiplier_us")
    row_.uplift_ppm_us = *ppm;
  else
    insert_sorted(row_.factors, NamedFactor{std::move(name), *ppm});
}

void PriceDraft::limit(std::string_view field, std::string_view text) {
  const Result<std::int64_t> count = parse_decimal(text, 0);
  if (!count || *count < 0)
    return add(dialect_ == PriceDialect::own, field,
               "expected a whole number from 0 up, got \"" + std::string(text.substr(0, 64)) + "\"");
  if (field == "max_input_tokens") row_.context_max = Tokens{*count};
  if (field == "max_output_tokens") row_.output_max = Tokens{*count};
  if (field == "max_tokens") tokens_max_ = Tokens{*count};
  if (field == "prompt_cache_min_tokens") row_.cache_min = Tokens{*count};
  if (field == "rpm") row_.rpm = *count;
  if (field == "tpm") row_.tpm = *count;
}

void PriceDraft::text(std::string_view field, std::string_view text) {
  const auto date = [&](std::string& into) {
    if (!text.empty() && !is_date(text))
      add(dialect_ == PriceDialect::own, field,
          "expected a day as YYYY-MM-DD (UTC), got \"" + std::string(text.substr(0, 64)) + "\"");
    else
      into = text;
  };
  if (field == "litellm_provider") row_.provider = text;
  if (field == "mode") row_.mode = text;
  if (field == "source") row_.source = text;
  if (field == "deprecation_date") date(row_.deprecation_date);
  if (dialect_ != PriceDialect::own) return;
  if (field == "as_of") date(row_.as_of);
  if (field == "valid_from") date(row_.valid_from);
  if (field == "valid_to") date(row_.valid_to);
  if (field == "accept_delta") row_.accept_delta = text;
  if (field == "recorded") date(row_.recorded);
  if (field == "reason") row_.reason = text;
}

void PriceDraft::unknown(std::string_view field) {
  if (dialect_ == PriceDialect::own)
    error(field, "unknown key; prices end in _cost_per_token and the like, see the price list's documentation");
  else if (sounds_like_a_price(field))
    warning(field, "unknown price; it is not used");
}

PriceRow PriceDraft::resolve() && {
  // The legacy limit is the input's where the list has no other word on it.
  if (!row_.context_max) row_.context_max = tokens_max_;
  constexpr auto kStandard = static_cast<std::size_t>(ServiceTier::standard);
  given_.try_emplace(0);  // the first tier exists even if nothing is priced in it
  std::array<Rates, kServiceTiers> below{};
  for (const auto& [above, given] : given_) {
    ContextTier tier{{above}, {}};
    for (std::size_t s = 0; s < kServiceTiers; ++s)
      below[s] = merged(merged(below[s], given[kStandard], blocked_), given[s], blocked_);
    tier.by_service = below;  // the next tier inherits what was listed, not what fell back
    for (Rates& rates : tier.by_service) {
      fall_back(rates, blocked_, Unit::cached_input, Unit::input);
      fall_back(rates, blocked_, Unit::cache_write, Unit::input);
      fall_back(rates, blocked_, Unit::cache_write_1h, Unit::cache_write);
      fall_back(rates, blocked_, Unit::reasoning, Unit::output);
      fall_back(rates, blocked_, Unit::image_input, Unit::input);
    }
    row_.tiers.push_back(tier);
  }
  return std::move(row_);
}

}  // namespace ace
