#include "fleet/price.h"

#include <algorithm>
#include <limits>

namespace ace {
namespace {

constexpr std::array<std::string_view, kUnits> kUnitNames = {
    "input",
    "cached_input",
    "cache_write",
    "cache_write_1h",
    "output",
    "reasoning",
    "audio_input",
    "audio_output",
    "image_input",
    "image_output",
    "video_input",
    "character_input",
    "character_output",
    "second_input",
    "second_output",
    "audio_second_input",
    "video_second_input",
    "image_count_input",
    "image_count_output",
    "pixel_input",
    "pixel_output",
    "query",
    "page",
    "session",
};

constexpr std::uint32_t bit(Unit unit) { return 1U << static_cast<unsigned>(unit); }
constexpr std::uint32_t kPromptUnits = bit(Unit::input) | bit(Unit::cached_input) | bit(Unit::cache_write) |
                                       bit(Unit::cache_write_1h) | bit(Unit::audio_input) | bit(Unit::image_input) |
                                       bit(Unit::video_input);
constexpr std::uint32_t kCompletionUnits =
    bit(Unit::output) | bit(Unit::reasoning) | bit(Unit::audio_output) | bit(Unit::image_output);

/// Sum of the counted units in `chosen`, held at the largest int64 where it does not fit.
Tokens sum(const Usage& usage, std::uint32_t chosen) {
  std::int64_t total = 0;
  for (std::uint32_t left = usage.mask() & chosen; left != 0; left &= left - 1)
    if (__builtin_add_overflow(total, usage[static_cast<Unit>(std::countr_zero(left))], &total))
      return {std::numeric_limits<std::int64_t>::max()};
  return {total};
}

// A sum of 2^103 femto-dollars is beyond int64 nano-dollars (2^83 femto) even after the smallest surcharge factor of
// one in a million (2^20), and a sum below it times the largest factor (10 x 10^6 < 2^24) stays below 2^127.
constexpr int128 kFemtoLimit = int128{1} << 103;
constexpr std::int64_t kNoUplift = 1'000'000, kUpliftMax = 10'000'000;

Error too_large(const PriceRow& row) {
  return {Errc::out_of_range, "the price of a request at \"" + row.key + "\" does not fit in int64 nano-dollars"};
}

}  // namespace

std::string_view name_of(Unit unit) { return kUnitNames[static_cast<std::size_t>(unit)]; }

std::string_view name_of(ServiceTier service) {
  constexpr std::array<std::string_view, kServiceTiers> names = {"standard", "batch", "flex", "priority"};
  return names[static_cast<std::size_t>(service)];
}

std::string_view name_of(Grade grade) {
  constexpr std::array<std::string_view, 4> names = {"measured", "observed", "modelled", "assumed"};
  return names[static_cast<std::size_t>(grade)];
}

Tokens Usage::prompt() const { return sum(*this, kPromptUnits); }
Tokens Usage::completion() const { return sum(*this, kCompletionUnits); }

const Rates& rates_for(const PriceRow& row, Tokens prompt_context, ServiceTier service) {
  ACE_CHECK(!row.tiers.empty(), "a price row has at least its first context tier");
  const ContextTier* tier = &row.tiers.front();
  for (const ContextTier& next : row.tiers)
    if (prompt_context > next.above) tier = &next;  // ascending: the last one that holds; a list has one to four
  return tier->by_service[static_cast<std::size_t>(service)];
}

Result<Usd> price_of(const Usage& usage, const PriceRow& row, ServiceTier service, std::int64_t uplift_ppm) {
  const Rates& rates = row.tiers.size() == 1 ? row.tiers.front().by_service[static_cast<std::size_t>(service)]
                                             : rates_for(row, usage.prompt(), service);
  if (const std::uint32_t missing = usage.mask() & ~rates.mask()) [[unlikely]]
    return Error(Errc::unpriced, "\"" + row.key + "\" has no " + std::string(name_of(service)) + " price for " +
                                     std::string(name_of(static_cast<Unit>(std::countr_zero(missing)))));
  int128 femto = 0;
  for (std::uint32_t left = usage.mask(); left != 0; left &= left - 1) {
    const auto unit = static_cast<Unit>(std::countr_zero(left));
    const std::int64_t count = usage[unit];
    if (count < 0) [[unlikely]]
      return Error(Errc::out_of_range, "a usage of " + std::to_string(count) + " " + std::string(name_of(unit)) +
                                           " is negative; counts start at 0");
    femto += femto_usd(count, rates.priced(unit));
    if (femto >= kFemtoLimit) [[unlikely]]
      return too_large(row);
  }
  if (uplift_ppm == kNoUplift) {
    if (femto <= std::numeric_limits<std::int64_t>::max() / 2)  // up to 4,611 USD: one multiplication, no division
      return Usd{(static_cast<std::int64_t>(femto) + 500'000) / 1'000'000};
    Result<Usd> amount = round_femto(femto);
    return amount ? amount : too_large(row);
  }
  if (uplift_ppm < 1 || uplift_ppm > kUpliftMax)
    return Error(Errc::out_of_range, "a surcharge factor of " + std::to_string(uplift_ppm) +
                                         " ppm is outside 1 to 10,000,000 (1,000,000 = none)");
  // nano = femto x uplift / (10^6 x 10^6): still one rounding.
  const int128 nano = divide_half_away(femto * uplift_ppm, int128{1'000'000} * 1'000'000);
  if (nano > std::numeric_limits<std::int64_t>::max()) return too_large(row);
  return Usd{static_cast<std::int64_t>(nano)};
}

std::optional<PriceId> PriceBook::find(std::string_view key) const {
  const auto at = std::lower_bound(rows.begin(), rows.end(), key,
                                   [](const PriceRow& row, std::string_view k) { return row.key < k; });
  if (at == rows.end() || at->key != key) return std::nullopt;
  return PriceId{static_cast<std::uint32_t>(at - rows.begin())};
}

}  // namespace ace
