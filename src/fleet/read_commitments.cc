/// `ptu:` and `gsu:` of a reserved destination.
#include <fmt/format.h>

#include <algorithm>

#include "fleet/reading.h"

namespace ace::fleet_file {
namespace {

/// Fee of the whole block per hour, from a fee per unit or for all.
void read_fee(Reading& reading, const Place& at, std::int64_t units, Destination& destination) {
  if (const auto hourly = reading.per_hour(at, "260 USD/month/unit", {{"unit", units}, {"", 1}}))
    destination.commitment_hourly = *hourly;
}

/// Weights as doubles, from ratios written as such ("4", "0.1").
void read_weight(Reading& reading, const Place& at, double& weight) {
  if (const auto got = reading.findings.ratio(at, 0.0, 1000.0)) weight = *got;
}

/// What may be stated for all models of the destination or for one.
void read_ptu_terms(Reading& reading, Map& map, PtuTerms& terms) {
  Findings& findings = reading.findings;
  if (const auto rate = findings.count(map.get("tokens_per_minute"), 1, 1'000'000'000))
    terms.tokens_per_minute_per_unit = *rate;
  read_weight(reading, map.get("output_ratio"), terms.output_ratio);
  read_weight(reading, map.get("cached_weight"), terms.cached_weight);
  if (const auto least = findings.count(map.get("units_min"), 1, 100'000)) terms.units_min = *least;
  if (const auto step = findings.count(map.get("units_increment"), 1, 100'000)) terms.units_increment = *step;
}

}  // namespace

void read_ptu(Reading& reading, const Place& at, Destination& destination) {
  Findings& findings = reading.findings;
  Map map(findings, at);
  if (!map.readable()) return;
  const Place units = map.need("units", "write how many units are committed: units: 100");
  const std::int64_t bought = findings.count(units, 1, 1'000'000).value_or(0);
  // A reservation is paid for whether it is used or not, and what is in use beyond it is billed by the hour.
  const std::int64_t covered = findings.count(map.get("reserved"), 1, 1'000'000).value_or(bought);
  const std::int64_t beyond = hourly_overage(covered, bought);
  read_fee(reading, map.need("fee", "write the fee, e.g. fee: \"260 USD/month/unit\""), covered, destination);
  if (beyond == 0)
    map.refuse("hourly_fee", "no unit is billed by the hour: all are reserved", "remove it, or write reserved: UNITS");
  else if (const auto hourly = reading.per_hour(
               map.need("hourly_fee", fmt::format("write what each of the {} units beyond the reservation costs, e.g. "
                                                  "hourly_fee: \"1 USD/h/unit\"",
                                                  beyond)),
               "1 USD/h/unit", {{"unit", beyond}, {"", 1}}))
    destination.commitment_hourly += *hourly;
  const Place spill = map.get("spill");
  if (spill && spill.text() != "none") {
    const DestinationId to = reading.refer<DestinationId>(spill, reading.destination_names, "destination");
    if (to.valid()) destination.native_spill = to;
  }
  const auto scope = findings.word(map.get("scope"), {"regional", "data-zone", "global"}).value_or(0);
  const Place by_model = map.get("models");
  const Named own = by_model ? findings.named(by_model, "models") : Named{};
  for (const auto& [name, place] : own) reading.refer_model({place.parent, nullptr, place.path});
  for (Serving& serving : destination.serving) {
    const Model& model = reading.fleet.models[serving.model.value];
    PtuTerms terms;
    std::optional<PtuTerms> published = ptu_terms(model.name, scope == 0);
    for (const std::string& alias : model.aliases)
      if (!published) published = ptu_terms(alias, scope == 0);
    if (published) terms = *published;
    read_ptu_terms(reading, map, terms);
    for (const auto& [name, place] : own)
      if (name == model.name) {
        Map over(findings, place);
        read_ptu_terms(reading, over, terms);
        over.done();
      }
    terms.units = bought;
    terms.native_spill = destination.native_spill.has_value();
    if (terms.tokens_per_minute_per_unit == 0) {
      findings.mistake(at, fmt::format("the throughput of a unit for \"{}\" is not known", model.name),
                       "add tokens_per_minute (normalized, per unit) and output_ratio from the provider's table");
    } else if (bought > 0 && (bought < terms.units_min || (bought - terms.units_min) % terms.units_increment != 0)) {
      findings.mistake(units,
                       fmt::format("{} units are not sold for \"{}\": at least {}, in steps of {}", bought, model.name,
                                   terms.units_min, terms.units_increment),
                       "if the contract says otherwise, write units_min and units_increment");
    }
    serving.ptu = terms;
  }
  map.done();
}

void read_gsu(Reading& reading, const Place& at, Destination& destination) {
  Findings& findings = reading.findings;
  Map map(findings, at);
  if (!map.readable()) return;
  const Place units = map.need("units", "write how many units are committed: units: 10");
  const std::int64_t bought = findings.count(units, 1, 1'000'000).value_or(0);
  read_fee(reading, map.need("fee", "write the fee, e.g. fee: \"1200 USD/month/unit\""), bought, destination);
  const Place rate = map.get("tokens_per_second"), ratio = map.get("output_ratio"), step = map.get("units_increment");
  const auto own_rate = findings.count(rate, 1, 1'000'000'000);
  const auto window = findings.duration(map.get("window"), kSecond, kHour);
  double cached = 1.0, output = 1.0;
  read_weight(reading, map.get("cached_weight"), cached);
  read_weight(reading, ratio, output);
  const std::int64_t increment = findings.count(step, 1, 100'000).value_or(1);
  map.done();
  for (Serving& serving : destination.serving) {
    const Model& model = reading.fleet.models[serving.model.value];
    GsuTerms terms;
    terms.units = bought;
    terms.tokens_per_second_per_unit = own_rate ? static_cast<double>(*own_rate) : gsu_tokens_per_second(model.name);
    terms.cached_weight = cached;
    terms.output_ratio = output;
    terms.units_increment = increment;
    terms.window = window.value_or(gsu_window_for(std::max<std::int64_t>(bought, 1)));
    if (terms.tokens_per_second_per_unit <= 0.0 && !rate)
      findings.mistake(at, fmt::format("the throughput of a unit for \"{}\" is not known", model.name),
                       "add tokens_per_second (burndown, per unit) from the provider's table");
    // A ratio that is left out would make output as cheap as input and the meter blind to it.
    if (!ratio)
      findings.mistake(at, "the burndown of an output token is missing", "add output_ratio, e.g. output_ratio: 4");
    if (bought > 0 && bought % increment != 0)
      findings.mistake(units, fmt::format("{} units are not a multiple of {}", bought, increment));
    serving.gsu = terms;
  }
}

}  // namespace ace::fleet_file
