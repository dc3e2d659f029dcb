/// `electricity:` of the fleet file: one price, or a table of hours.
#include <fmt/format.h>

#include "fleet/reading.h"
#include "fleet/series.h"

namespace ace::fleet_file {
namespace {

/// The currency of the table: that of `unit`, else that of the section's own exchange rate, else USD.
std::optional<std::int64_t> table_rate(Reading& reading, const Place& unit, const Place& fx) {
  std::string currency = "USD";
  if (unit) {
    const auto text = reading.findings.text(unit);
    if (!text) return std::nullopt;
    if (text->size() != 7 || text->substr(3) != "/MWh") {
      reading.findings.mistake(unit, fmt::format("expected a currency per MWh, got \"{}\"", *text),
                               "write unit: USD/MWh or EUR/MWh");
      return std::nullopt;
    }
    currency = text->substr(0, 3);
  } else if (fx.is_map()) {
    Map map(reading.findings, fx);
    const std::string_view rate = map.get("rate").text();
    if (rate.size() > 3) currency = std::string(rate.substr(rate.size() - 3));
  }
  const auto rate = reading.rate_of(currency);
  if (!rate)
    reading.findings.mistake(
        unit ? unit : fx, fmt::format("no exchange rate for {} is known", currency),
        fmt::format("add fx: {{rate: \"1.08 USD/{}\", source: ..., as_of: YYYY-MM-DD}}", currency));
  return rate;
}

void read_series(Reading& reading, Map& map, const Place& series, const Place& fx) {
  Findings& findings = reading.findings;
  ElectricityLayout layout;
  if (const auto column = findings.text(map.get("column"))) layout.booked = *column;
  if (const auto column = findings.text(map.get("day_ahead"))) layout.believed = *column;
  findings.name(map.get("zone"));  // a word for people: a table is of one zone
  const auto rate = table_rate(reading, map.get("unit"), fx);
  const auto text = reading.include(series);
  if (!rate || !text) return;
  layout.fx_nano = *rate;
  Result<ElectricitySeries> read = parse_electricity(*text, layout);
  if (!read) {
    findings.mistake(series, fmt::format("\"{}\": {}", series.text(), read.error().what()));
    return;
  }
  Electricity& electricity = reading.fleet.electricity;
  electricity.first_hour = read->first_hour;
  electricity.hourly = std::move(read->hourly);
  electricity.day_ahead = std::move(read->day_ahead);
}

}  // namespace

void read_electricity(Reading& reading, const Place& at) {
  if (!at) return;
  Findings& findings = reading.findings;
  Map map(findings, at);
  if (!map.readable()) return;
  Electricity& electricity = reading.fleet.electricity;
  const Place fx = map.get("fx"), price = map.get("price"), series = map.get("series");
  reading.read_fx(fx);
  const Place pue = map.get("pue");
  if (const auto ppm = findings.ratio_ppm(pue, 1'000'000, 3'000'000)) electricity.pue = static_cast<double>(*ppm) / 1e6;
  if (price && series) {
    findings.mistake({series.parent, nullptr, series.path}, "a series beside a price", "keep one of them");
  } else if (price) {
    if (const auto flat = reading.per_kwh(price)) electricity.flat = *flat;
  } else if (series) {
    read_series(reading, map, series, fx);
  } else {
    findings.mistake(at, "neither a price nor a series", "write price: \"0.12 USD/kWh\" or series: FILE");
  }
  map.done();
}

}  // namespace ace::fleet_file
