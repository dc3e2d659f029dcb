/// `rental:` of a spot or on-demand destination: what a unit-hour costs and how it is lost.
#include <fmt/format.h>

#include "fleet/catalog.h"
#include "fleet/reading.h"
#include "fleet/series.h"

namespace ace::fleet_file {
namespace {

/// `series: FILE` (a history of list prices) or `catalog: FILE` (today's) with `instance:` and `region:`, else the
/// destination's, at the price of the tier.
void read_listed_price(Reading& reading, Map& map, const Place& file, bool dated, const Destination& destination,
                       Rental& rental) {
  Findings& findings = reading.findings;
  const auto instance = findings.name(map.need("instance", "name the machine in the file: instance: NAME"));
  const std::string region = findings.name(map.get("region")).value_or(destination.region);
  const auto text = reading.include(file);
  if (!text || !instance) return;
  const Result<CatalogReading> catalog = parse_catalog(*text);
  if (!catalog) {
    findings.mistake(file, fmt::format("\"{}\": {}", file.text(), catalog.error().what()));
    return;
  }
  constexpr std::size_t kTold = 5;
  std::size_t found = 0;
  for (const CatalogFinding& finding : catalog->findings)
    if (finding.instance == *instance && finding.region == region && ++found <= kTold)
      findings.warn(file,
                    fmt::format("{}:{}: {} ({})", file.text(), finding.line, finding.what, name_of(finding.trap)));
  if (found > kTold)
    findings.warn(file, fmt::format("{} more findings on \"{}\" in {}: ace prices catalog lists them", found - kTold,
                                    *instance, file.text()));
  const RentalMarket market = destination.tier == Tier::spot ? RentalMarket::spot : RentalMarket::on_demand;
  if (!dated) {
    const Result<Usd> price = list_price(*catalog, *instance, region, market);
    if (!price)
      findings.mistake(file, fmt::format("\"{}\": {}", file.text(), price.error().what()));
    else
      rental.hourly = *price;
    return;
  }
  Result<HourlyPrices> prices = price_series(*catalog, *instance, region, market);
  if (!prices) {
    findings.mistake(file, fmt::format("\"{}\": {}", file.text(), prices.error().what()));
    return;
  }
  if (prices->bridged > 0)
    findings.warn(
        file, fmt::format("{} hours lie more than 8 days after the last known price, which is held", prices->bridged));
  rental.series_first_hour = prices->first_hour;
  rental.hourly_series = std::move(prices->prices);
  rental.hourly = rental.hourly_series.front();
}

/// `availability: FILE`, or `{file, start, unit, step}` for logs that count from zero.
void read_availability(Reading& reading, const Place& at, bool has_hazard, Rental& rental) {
  if (!at) return;
  Findings& findings = reading.findings;
  Place file = at;
  Instant start{};
  Duration unit = kHour, step = 5 * kMinute;
  if (at.is_map()) {
    Map map(findings, at);
    file = map.need("file", "write file: FILE");
    if (const auto date = findings.value<std::string>(map.get("start"), parse_date))
      start = instant_of({static_cast<int>(*parse_decimal(date->substr(0, 4), 0)),
                          static_cast<unsigned>(*parse_decimal(date->substr(5, 2), 0)),
                          static_cast<unsigned>(*parse_decimal(date->substr(8, 2), 0)), 0, 0, 0, 0});
    if (const auto got = findings.duration(map.get("unit"), Duration{1'000'000}, kDay)) unit = *got;
    if (const auto got = findings.duration(map.get("step"), kSecond, kDay)) step = *got;
    map.done();
  }
  const auto text = reading.include(file);
  if (!text) return;
  const Result<CapacityLog> log = parse_capacity(*text, start, unit);
  if (!log) {
    findings.mistake(file, fmt::format("\"{}\": {}", file.text(), log.error().what()));
    return;
  }
  rental.availability = log->availability(step);
  // The dispatcher's risk term needs a rate; the log has one where nobody declared another.
  if (!has_hazard) rental.hazard_per_hour = log->hazard_per_hour();
}

}  // namespace

std::optional<Rental> read_rental(Reading& reading, const Place& at, const Destination& destination) {
  if (!at) return std::nullopt;
  Findings& findings = reading.findings;
  Map map(findings, at);
  if (!map.readable()) return std::nullopt;
  Rental rental;
  const Place series = map.get("series"), catalog = series ? Place{} : map.get("catalog");
  if (series || catalog) {
    const auto alone = [&](const char* other) {
      map.refuse(other, fmt::format("`{}` beside `{}`", other, series ? "series" : "catalog"), "keep one of them");
    };
    alone("price");
    if (series) alone("catalog");
    read_listed_price(reading, map, series ? series : catalog, static_cast<bool>(series), destination, rental);
  } else if (const auto hourly =
                 reading.per_hour(map.need("price", "write what a unit costs, e.g. price: \"20 USD/h/unit\""),
                                  "20 USD/h/unit", {{"unit", 1}, {"gpu", destination.gpus_per_unit}})) {
    rental.hourly = *hourly;
  }
  if (const auto step = findings.duration(map.get("increment"), kSecond, 31 * kDay)) rental.increment = *step;
  if (destination.tier == Tier::on_demand) {
    for (const char* key : {"hazard", "availability", "notice"})
      map.refuse(key, fmt::format("`{}` means nothing for tier on_demand: nobody takes the unit away", key),
                 "remove it");
  } else {
    const Place hazard = map.get("hazard"), availability = map.get("availability");
    if (!hazard && !availability)
      findings.mistake(at, "a spot unit is taken away some day, and nothing here says how often",
                       "write hazard: 5%/h or availability: FILE; hazard: 0%/h says that none ever is");
    if (const auto chance = findings.value<double>(hazard, parse_hazard)) rental.hazard_per_hour = *chance;
    if (const auto time = findings.duration(map.get("notice"), Duration{0}, kHour)) rental.notice = *time;
    read_availability(reading, availability, static_cast<bool>(hazard), rental);
  }
  map.done();
  return rental;
}

}  // namespace ace::fleet_file
