#pragma once
/// What a bill counts, what a price list says, and the exact price of a request.
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/money.h"
#include "core/units.h"

namespace ace {

/// The units a provider bills. The token classes are disjoint: a token is counted in exactly one of them.
enum class Unit : std::uint8_t {
  input,           ///< uncached prompt tokens
  cached_input,    ///< prompt tokens read from the provider's prompt cache
  cache_write,     ///< prompt tokens written to it, 5-minute lifetime
  cache_write_1h,  ///< the same with a 1-hour lifetime
  output,          ///< visible completion tokens
  reasoning,       ///< hidden completion tokens
  audio_input,
  audio_output,
  image_input,  ///< image tokens
  image_output,
  video_input,
  character_input,  ///< from here on not tokens
  character_output,
  second_input,
  second_output,
  audio_second_input,
  video_second_input,
  image_count_input,
  image_count_output,
  pixel_input,
  pixel_output,
  query,
  page,
  session,
};
inline constexpr std::size_t kUnits = 24;
std::string_view name_of(Unit unit);

/// Counts by unit, for one request. Only units with a count take part in pricing.
class Usage {
 public:
  Usage() = default;
  /// The common case: a text request.
  Usage(Tokens input, Tokens cached, Tokens output) {
    set(Unit::input, input.value);
    set(Unit::cached_input, cached.value);
    set(Unit::output, output.value);
  }
  void set(Unit unit, std::int64_t count) {
    const auto i = static_cast<std::size_t>(unit);
    counts_[i] = count;
    if (count != 0)
      mask_ |= 1U << i;
    else
      mask_ &= ~(1U << i);
  }
  void add(Unit unit, std::int64_t count) { set(unit, operator[](unit) + count); }
  [[nodiscard]] std::int64_t operator[](Unit unit) const { return counts_[static_cast<std::size_t>(unit)]; }
  [[nodiscard]] std::uint32_t mask() const { return mask_; }  ///< bit i: unit i has a count
  /// Total prompt context, cache included: what long-context tiers are chosen on.
  [[nodiscard]] Tokens prompt() const;
  [[nodiscard]] Tokens completion() const;  ///< output, reasoning and audio/image output tokens
  friend bool operator==(const Usage&, const Usage&) = default;

 private:
  std::array<std::int64_t, kUnits> counts_{};
  std::uint32_t mask_ = 0;
};

/// The response's service tier; batch, flex and priority have their own prices where a provider lists them.
enum class ServiceTier : std::uint8_t { standard, batch, flex, priority };
inline constexpr std::size_t kServiceTiers = 4;
std::string_view name_of(ServiceTier service);
/// Cheap because the answer may take its time: batch and flex are for requests that can wait.
constexpr bool only_for_deferrable(ServiceTier service) {
  return service == ServiceTier::batch || service == ServiceTier::flex;
}

/// Prices by unit in nano-USD per million units; a unit without a price is not priced at zero, it is not priced.
class Rates {
 public:
  void set(Unit unit, UsdPerMtok price) {
    rates_[static_cast<std::size_t>(unit)] = price;
    mask_ |= 1U << static_cast<std::size_t>(unit);
  }
  [[nodiscard]] std::optional<UsdPerMtok> operator[](Unit unit) const {
    const auto i = static_cast<std::size_t>(unit);
    if ((mask_ >> i & 1U) == 0) return std::nullopt;
    return rates_[i];
  }
  /// Price of a unit the caller knows to be in mask().
  [[nodiscard]] UsdPerMtok priced(Unit unit) const { return rates_[static_cast<std::size_t>(unit)]; }
  [[nodiscard]] std::uint32_t mask() const { return mask_; }
  friend bool operator==(const Rates&, const Rates&) = default;

 private:
  std::array<UsdPerMtok, kUnits> rates_{};
  std::uint32_t mask_ = 0;
};

/// Prices that hold when the total prompt context is above a threshold; they apply to all tokens of the request.
struct ContextTier {
  Tokens above{0};                              ///< 0 in the first tier
  std::array<Rates, kServiceTiers> by_service;  ///< complete: fallbacks are resolved when the list is read
  friend bool operator==(const ContextTier&, const ContextTier&) = default;
};

/// How sure an amount is.
enum class Grade : std::uint8_t { measured, observed, modelled, assumed };
std::string_view name_of(Grade grade);

/// A price that no unit of `Usage` counts (tools, storage, resolutions), kept under the list's own name, e.g.
/// "file_search_cost_per_1k_calls" or "search_context_cost_per_query.search_context_size_low".
struct NamedPrice {
  std::string name;
  UsdPerMtok price;  ///< nano-USD per million of whatever the name says
  friend bool operator==(const NamedPrice&, const NamedPrice&) = default;
};
/// A factor on the whole price that the caller may choose, e.g. "fast" = 6,000,000 ppm.
struct NamedFactor {
  std::string name;
  std::int64_t ppm = 1'000'000;
  friend bool operator==(const NamedFactor&, const NamedFactor&) = default;
};

/// One entry of a price list.
struct PriceRow {
  std::string key;                 ///< as in the list, e.g. "together_ai/llama-3.3-70b"
  std::string provider;            ///< the list's own provider word
  std::string mode;                ///< chat, embedding, ...
  std::vector<ContextTier> tiers;  ///< ascending thresholds, at least one, the first at 0
  /// Regional surcharge in parts per million (1,100,000 = +10%), applied when a destination asks for that region's
  /// processing.
  std::int64_t uplift_ppm_eu = 1'000'000, uplift_ppm_us = 1'000'000;
  std::optional<Tokens> context_max, output_max;  ///< the list's limits
  std::optional<Tokens> cache_min;                ///< least prefix that its prompt cache keeps
  std::optional<std::int64_t> rpm, tpm;
  std::string deprecation_date;      ///< YYYY-MM-DD or empty
  std::string source, as_of;         ///< where and when the figures were published
  std::string valid_from, valid_to;  ///< YYYY-MM-DD, UTC, from inclusive and to exclusive; empty = open
  std::string accept_delta;          ///< the reason why a change above 10x is meant
  std::string recorded;              ///< YYYY-MM-DD on which this version was written down; empty = when it began
  std::string reason;                ///< why a version was recorded for days already past
  std::string chosen_on;             ///< the day whose version a fleet file asks for, YYYY-MM-DD; empty = the latest
  std::vector<NamedPrice> other;     ///< sorted by name
  std::vector<NamedFactor> factors;  ///< sorted by name
  friend bool operator==(const PriceRow&, const PriceRow&) = default;
};

/// Booked price of a request: the tier is chosen on the total prompt context, all classes are summed exactly in
/// femto-dollars, uplift included, then rounded half away from zero to a nano-dollar, once.
///
/// Classes a provider does not price apart fall back when the list is read: cached_input and cache_write to input,
/// cache_write_1h to cache_write, reasoning to output, image_input to input (vendors that list no price for image
/// tokens bill them as text); every other unit stands alone. A service tier or a long-context tier that a list does not
/// price apart has the prices of the tier below it.
/// @param uplift_ppm 1 to 10,000,000; 1,000,000 for none
/// @return unpriced naming the unit if a counted unit has no price, out_of_range if it does not fit, if a count is
///         negative or if the surcharge is outside its bounds.
Result<Usd> price_of(const Usage& usage, const PriceRow& row, ServiceTier service = ServiceTier::standard,
                     std::int64_t uplift_ppm = 1'000'000);

/// The rates that apply to a request with this prompt context.
const Rates& rates_for(const PriceRow& row, Tokens prompt_context, ServiceTier service);

/// A finding about a price list: an error leaves the row out, a warning is listed.
struct PriceFinding {
  bool error = false;
  std::string row, field, what;
  bool row_kept = false;  ///< an error that leaves out one unit of the row, which then is unpriced
  friend bool operator==(const PriceFinding&, const PriceFinding&) = default;
};

/// A price list, sorted by key; PriceId indexes `rows`.
struct PriceBook {
  std::vector<PriceRow> rows;
  [[nodiscard]] std::optional<PriceId> find(std::string_view key) const;
  friend bool operator==(const PriceBook&, const PriceBook&) = default;
};
/// Days that were priced in one way and, as recorded later, should have been priced in another. What was booked stays;
/// the difference is booked too.
struct PriceRevision {
  std::string from, to;    ///< YYYY-MM-DD, UTC, from inclusive and to exclusive
  PriceRow before, after;  ///< as booked (no tiers if it was unpriced) and as it should be; `after.reason` says why
  friend bool operator==(const PriceRevision&, const PriceRevision&) = default;
};
/// The compensating entry for one request booked in those days: its price as it should be less its price as booked,
/// each rounded as it is booked.
/// @return as price_of
Result<Usd> price_correction(const Usage& usage, const PriceRevision& revision,
                             ServiceTier service = ServiceTier::standard, std::int64_t uplift_ppm = 1'000'000);

struct PriceReading {
  PriceBook book;
  std::vector<PriceFinding> findings;
  std::vector<PriceRow> versions;        ///< all with a validity interval, by key, first day and day recorded
  std::vector<PriceRevision> revisions;  ///< by key
};

/// Versions that were edited or taken out from one state of a list to the next: an error each. A price that was in
/// force stays in the list as it was, but that an open one may end, and that its source and the like may be mended.
std::vector<PriceFinding> rewritten_history(const PriceReading& before, const PriceReading& after);

/// Keys that have no price on a day, though one is still to come: an error each, since the latest version is what is
/// taken where nobody names a day. @param today YYYY-MM-DD, UTC
std::vector<PriceFinding> still_to_come(const PriceReading& reading, std::string_view today);

enum class PriceDialect : std::uint8_t {
  community,  ///< model_prices_and_context_window.json: unknown price keys are named warnings
  own,        ///< ours: unknown keys are errors
};

/// Reads a price list in the community's JSON shape in full; numbers are taken from their text as decimals.
/// Rows with an error are left out of the book (so they are unpriced) and named in the findings; in the community's
/// list a price with too many decimals (1/30000 of a dollar) leaves out its unit alone. A row without any price is
/// kept, its rates empty. In our own dialect a key may hold a list of rows with `valid_from` and `valid_to`: the one
/// that holds on `on` is taken; overlaps are errors, and a day in no interval is unpriced, never free. A version that
/// is `recorded` after its first day, with a `reason`, corrects the versions it overlaps: it is taken from the day it
/// was recorded on, and old events keep the version that was known then.
///
/// A row with prices by hour of the day (`off_peak_pricing`) is an error: a price here holds all day, so a figure for
/// such a row would be wrong at some hour.
/// @param on YYYY-MM-DD; empty = the latest version
/// @param known YYYY-MM-DD: versions recorded later are not looked at; empty = all are
/// @return bad_input if the document as a whole cannot be read.
Result<PriceReading> parse_prices(std::string_view json, PriceDialect dialect, std::string_view on = {},
                                  std::string_view known = {});

/// One line per difference: rows added and removed, prices changed with their ratio; sorted by key.
struct PriceChange {
  enum class Kind : std::uint8_t { added, removed, changed } kind;
  std::string key, field;
  std::string before, after;  ///< decimal USD per million units
  double ratio = 0.0;         ///< after / before, 0 where one is missing or zero
};
std::vector<PriceChange> diff_prices(const PriceBook& before, const PriceBook& after);

/// Prices that moved by more than ten times in either direction, which is how a per-thousand figure in a per-million
/// field looks: an error each, unless the new row says why in `accept_delta`.
std::vector<PriceFinding> implausible_changes(const PriceBook& before, const PriceBook& after);

}  // namespace ace
