/// What a machine rents for, out of a catalog or a history of list prices.
#include <algorithm>
#include <map>

#include "core/time.h"
#include "fleet/catalog.h"

namespace ace {
namespace {

std::optional<Usd> price_of(const RentalOffer& offer, RentalMarket market) {
  return market == RentalMarket::spot ? offer.spot : offer.on_demand;
}

bool is_of(const RentalOffer& offer, std::string_view instance, std::string_view region) {
  return offer.instance == instance && offer.region == region;
}

/// Why there is no price: what the catalog has of the machine, and what of it could not be trusted.
Error no_price(const CatalogReading& catalog, std::string_view instance, std::string_view region, RentalMarket market,
               bool dated) {
  std::string what = "no plausible " + std::string(dated ? "dated " : "") + std::string(name_of(market)) +
                     " price of \"" + std::string(instance) + "\" in \"" + std::string(region) + "\"";
  std::size_t other_dates = 0, elsewhere = 0, told = 0;
  for (const RentalOffer& offer : catalog.offers) {
    if (offer.instance != instance || !price_of(offer, market)) continue;
    if (offer.region != region)
      ++elsewhere;
    else
      other_dates += offer.date.empty() == dated ? 1U : 0U;
  }
  if (other_dates > 0)
    what += dated ? "; its rows have no dates: name the file with catalog instead of series"
                  : "; its rows have dates: name the file with series instead of catalog";
  else if (elsewhere > 0)
    what += "; other regions have one";
  for (const CatalogFinding& finding : catalog.findings) {
    if (finding.instance != instance || finding.region != region) continue;
    if (++told <= 3) what += "; line " + std::to_string(finding.line) + ": " + finding.what;
  }
  if (told > 3) what += "; and " + std::to_string(told - 3) + " findings more";
  return Error(Errc::not_found, what);
}

}  // namespace

std::string_view name_of(RentalMarket market) { return market == RentalMarket::spot ? "spot" : "on-demand"; }

Result<HourlyPrices> price_series(const CatalogReading& history, std::string_view instance, std::string_view region,
                                  RentalMarket market) {
  std::map<std::int64_t, Usd> by_hour;
  for (const RentalOffer& offer : history.offers) {
    const std::optional<Usd> price = price_of(offer, market);
    if (!is_of(offer, instance, region) || !price || !offer.plausible || offer.date.empty()) continue;
    const auto number = [&](std::size_t at, std::size_t size) { return std::stoi(offer.date.substr(at, size)); };
    const Civil day{number(0, 4), static_cast<unsigned>(number(5, 2)), static_cast<unsigned>(number(8, 2))};
    by_hour.insert_or_assign(hour_of(instant_of(day)), *price);
  }
  if (by_hour.empty()) return no_price(history, instance, region, market, true);
  constexpr std::int64_t kWeek = 8 * 24;  // weekly dates, one day late
  HourlyPrices series{by_hour.begin()->first, {}, 0, 0};
  for (auto at = by_hour.begin(); at != by_hour.end(); ++at) {
    const auto next = std::next(at);
    const std::int64_t hours = next == by_hour.end() ? 24 : next->first - at->first;
    series.bridged += static_cast<std::size_t>(std::max<std::int64_t>(0, hours - kWeek));
    if (next != by_hour.end() && next->second != at->second) ++series.changes;
    series.prices.insert(series.prices.end(), static_cast<std::size_t>(hours), at->second);
  }
  return series;
}

Result<Usd> list_price(const CatalogReading& catalog, std::string_view instance, std::string_view region,
                       RentalMarket market) {
  std::optional<Usd> dearest;
  for (const RentalOffer& offer : catalog.offers) {
    const std::optional<Usd> price = price_of(offer, market);
    if (!is_of(offer, instance, region) || !price || !offer.plausible || !offer.date.empty()) continue;
    if (!dearest || *dearest < *price) dearest = price;
  }
  if (!dearest) return no_price(catalog, instance, region, market, false);
  return *dearest;
}

}  // namespace ace
