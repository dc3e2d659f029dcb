/// `rental:` of a spot or on-demand destination: what a unit-hour costs and how it is lost.
#include <fmt/format.h>

#include "fleet/catalog.h"
#include "fleet/reading.h"
#include "fleet/series.h"

namespace ace::fleet_file {
namespace {

/// `series: FILE` with `instance:` (and `region:`, else the destination's): a history of list prices.
void read_price_series(Reading& reading, Map& map, const Place& series, const Destination& destination,
                       Rental& rental) {
  Findings& findings = reading.findings;
  const auto instance = findings.name(map.need("instance", "name the machine in the history: instance: NAME"));
  const auto region = findings.name(map.get("region"));
  const auto text = reading.include(series);
  if (!text || !instance) return;
  const Result<CatalogReading> history = parse_catalog(*text);
  if (!history) {
    findings.mistake(series, fmt::format("\"{}\": {}", series.text(), history.error().what()));
    return;
  }
  Result<HourlyPrices> prices = spot_series(*history, *instance, region.value_or(destination.region));
  if (!prices) {
    findings.mistake(series, fmt::format("\"{}\": {}", series.text(), prices.error().what()));
    return;
  }
  if (prices->bridged > 0)
    findings.warn(series, fmt::format("{} hours lie more than 8 days after the last known price, which is held",
                                      prices->bridged));
  rental.series_first_hour = prices->first_hour;
  rental.hourly_series = std::move(prices->prices);
  if (!rental.hourly_series.empty()) rental.hourly = rental.hourly_series.front();
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
  const Place series = map.get("series");
  if (series) {
    map.refuse("price", "a price beside a series", "keep one of them");
    read_price_series(reading, map, series, destination, rental);
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
    const Place hazard = map.get("hazard");
    if (const auto chance = findings.value<double>(hazard, parse_hazard)) rental.hazard_per_hour = *chance;
    if (const auto time = findings.duration(map.get("notice"), Duration{0}, kHour)) rental.notice = *time;
    read_availability(reading, map.get("availability"), static_cast<bool>(hazard), rental);
  }
  map.done();
  return rental;
}

}  // namespace ace::fleet_file
