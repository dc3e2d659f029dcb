/// `destinations:` of the fleet file: what every tier has in common, and the APIs.
#include <fmt/format.h>

#include <algorithm>

#include "fleet/reading.h"

namespace ace::fleet_file {
namespace {

const std::vector<std::string> kTierWords = {"owned", "reserved", "spot", "on_demand", "payg"};
const std::vector<std::string> kServiceWords = {"standard", "batch", "flex", "priority"};

/// The models served, each with its context limit where it is smaller here.
void read_serving(Reading& reading, const Place& at, Destination& destination) {
  Findings& findings = reading.findings;
  for (const Place& entry : findings.list(at, "models")) {
    Serving serving;
    Place name = entry;
    if (entry.is_map()) {
      Map map(findings, entry);
      name = map.need("model", "name the model");
      if (const auto context = findings.count(map.get("context"), 1, 1'000'000'000))
        serving.context_max = Tokens{*context};
      serving.name = findings.name(map.get("name")).value_or("");
      map.done();
    }
    serving.model = reading.refer_model(name);
    if (!serving.model.valid()) continue;
    if (std::any_of(destination.serving.begin(), destination.serving.end(),
                    [&](const Serving& s) { return s.model == serving.model; }))
      findings.mistake(name, fmt::format("\"{}\" is listed twice", name.text()), "keep one of them");
    else
      destination.serving.push_back(std::move(serving));
  }
  std::sort(destination.serving.begin(), destination.serving.end(),
            [](const Serving& a, const Serving& b) { return a.model < b.model; });
}

/// `price_key: KEY` for a single model, `price_key: {MODEL: KEY}` for several; or the row written as `price:`.
void read_price_keys(Reading& reading, Map& map, Destination& destination) {
  Findings& findings = reading.findings;
  const Place key = map.get("price_key"), price = map.get("price");
  const auto find = [&](const Place& at, Serving& serving) {
    const auto name = findings.name(at);
    if (!name) return;
    serving.price = reading.fleet.prices.find(*name);
    if (!serving.price)
      findings.warn(at,
                    fmt::format(
                        "no row \"{}\" in the price maps: \"{}\" is unpriced here and gets no requests{}", *name,
                        reading.fleet.models[serving.model.value].name, reading.fleet.prices.rows.empty() ? "" : [&] {
                          std::vector<std::string> keys;
                          for (const PriceRow& row : reading.fleet.prices.rows) keys.push_back(row.key);
                          const auto near = nearest(*name, keys);
                          return near ? fmt::format(" (did you mean \"{}\"?)", *near) : std::string();
                        }()));
  };
  if (key && price) {
    findings.mistake({price.parent, nullptr, price.path}, "a price beside a price_key",
                     "remove one: the price map says what the key costs");
    return;
  }
  if (price) {
    const auto own = reading.fleet.prices.find("destination:" + destination.name);
    for (Serving& serving : destination.serving) serving.price = own;
  } else if (key.is_map()) {
    for (const auto& [model, place] : findings.named(key, "models")) {
      const ModelId id = reading.refer_model({place.parent, nullptr, place.path});
      const auto serving = std::find_if(destination.serving.begin(), destination.serving.end(),
                                        [&](const Serving& s) { return s.model == id; });
      if (serving != destination.serving.end())
        find(place, *serving);
      else if (id.valid())
        findings.mistake({place.parent, nullptr, place.path}, fmt::format("\"{}\" is not served here", model),
                         "add it to models or remove its key");
    }
  } else if (key) {
    if (destination.serving.size() > 1)
      findings.mistake(key, "one price_key for several models", "write price_key: {MODEL: KEY, ...}");
    else if (!destination.serving.empty())
      find(key, destination.serving.front());
  }
  if (destination.tier != Tier::payg || price) return;
  for (const Serving& serving : destination.serving) {
    const std::string& model = reading.fleet.models[serving.model.value].name;
    if (!serving.price && !(key && (!key.is_map() || std::any_of(key.node->keys.begin(), key.node->keys.end(),
                                                                 [&](const auto& k) { return k.text == model; }))))
      findings.warn(map.place(), fmt::format("\"{}\" is unpriced here and gets no requests: no price_key", model));
  }
}

void read_latency(Reading& reading, const Place& at, Latency& latency) {
  if (!at) return;
  Findings& findings = reading.findings;
  Map map(findings, at);
  if (!map.readable()) return;
  // A p95 that is not declared keeps the ratio of the defaults: 900/400 to the first token, 25/12 per token.
  const auto pair = [&](const char* p50, const char* p95, Duration& low, Duration& high, double ratio) {
    const Place at_low = map.get(p50), at_high = map.get(p95);
    const auto got_low = findings.duration(at_low, Duration{1}, kHour);
    const auto got_high = findings.duration(at_high, Duration{1}, kHour);
    if (got_low) low = *got_low;
    if (got_low && !got_high) high = from_seconds(to_seconds(low) * ratio);
    if (got_high) high = *got_high;
    if (got_high && !got_low) low = from_seconds(to_seconds(high) / ratio);
    if (high < low) findings.mistake(at_high, fmt::format("{} is below {}", p95, p50), "exchange them");
  };
  pair("ttft_p50", "ttft_p95", latency.ttft_p50, latency.ttft_p95, 900.0 / 400.0);
  pair("tpot_p50", "tpot_p95", latency.tpot_p50, latency.tpot_p95, 25.0 / 12.0);
  if (const auto rate = findings.ratio(map.get("error_rate"), 0.0, 1.0)) latency.error_rate = *rate;
  map.done();
}

void read_quotas(Reading& reading, Map& map, Destination& destination) {
  Findings& findings = reading.findings;
  const Place rpm = map.get("rpm"), tpm = map.get("tpm"), unlimited = map.get("unlimited");
  destination.rpm = findings.count(rpm, 1, 1'000'000'000'000);
  destination.tpm = findings.count(tpm, 1, 1'000'000'000'000'000);
  destination.unlimited = findings.boolean(unlimited).value_or(false);
  if (destination.unlimited && (rpm || tpm))
    findings.mistake(unlimited, "unlimited beside a limit", "remove rpm and tpm, or unlimited");
}

/// `measured:` for every model here, or by model.
void read_measurements(Reading& reading, Map& map, Destination& destination) {
  Findings& findings = reading.findings;
  const Place at = map.get("measured");
  if (!at) return;
  const bool by_model = at.is_map() && !at.node->items.empty() &&
                        std::all_of(at.node->items.begin(), at.node->items.end(),
                                    [](const yaml::Node& n) { return n.kind == yaml::Node::Kind::map; });
  if (!by_model) {
    const auto profile = read_measured(reading, at);
    for (Serving& serving : destination.serving) serving.measured = profile;
    return;
  }
  for (const auto& [name, place] : findings.named(at, "models")) {
    const ModelId id = reading.refer_model({place.parent, nullptr, place.path});
    const auto profile = read_measured(reading, place);
    const auto serving = std::find_if(destination.serving.begin(), destination.serving.end(),
                                      [&](const Serving& s) { return s.model == id; });
    if (serving != destination.serving.end())
      serving->measured = profile;
    else if (id.valid())
      findings.mistake({place.parent, nullptr, place.path}, fmt::format("\"{}\" is not served here", name),
                       "add it to models or remove it");
  }
}

/// Where it is called, if not where its provider is, and where its engines tell of themselves.
void read_endpoints(Reading& reading, Map& map, Destination& destination) {
  Findings& findings = reading.findings;
  const bool allow_private =
      destination.provider.valid() && reading.fleet.providers[destination.provider.value].allow_private;
  destination.endpoint = read_endpoint(reading, map.get("url"), allow_private);
  const Place metrics = map.get("metrics");
  if (metrics.is_scalar()) {
    if (auto one = read_endpoint(reading, metrics, allow_private)) destination.metrics.push_back(std::move(*one));
    return;
  }
  for (const Place& entry : findings.list(metrics, "URLs"))
    if (auto one = read_endpoint(reading, entry, allow_private)) destination.metrics.push_back(std::move(*one));
}

void refuse_all(Map& map, const std::vector<std::string_view>& keys, const Destination& destination) {
  for (const std::string_view key : keys)
    map.refuse(key, fmt::format("`{}` means nothing for tier {}", key, name_of(destination.tier)), "remove it");
}

void read_committed(Reading& reading, Map& map, Destination& destination) {
  Findings& findings = reading.findings;
  const Place ptu = map.get("ptu"), gsu = map.get("gsu"), fee = map.get("fee"), accelerator = map.get("accelerator");
  if (int{static_cast<bool>(ptu)} + int{static_cast<bool>(gsu)} + int{static_cast<bool>(accelerator)} != 1)
    findings.mistake(map.place(), "a reserved destination has exactly one of ptu, gsu and accelerator",
                     "write e.g. ptu: {units: 100, fee: \"260 USD/month/unit\"}");
  if (ptu) read_ptu(reading, ptu, destination);
  if (gsu) read_gsu(reading, gsu, destination);
  if (ptu || gsu) {
    if (fee) findings.mistake({fee.parent, nullptr, fee.path}, "the fee belongs to the units", "write ptu: {fee: ...}");
    refuse_all(map,
               {"vram", "interconnect", "count", "tp", "precision", "load_bandwidth", "prefill_chunk", "units",
                "schedule", "policy", "measured", "metrics"},
               destination);
    return;
  }
  read_measurements(reading, map, destination);
  read_gpus(reading, map, destination);
  destination.units = read_units(reading, map);
  if (!map.need("fee", "write the commitment's fee, e.g. fee: \"2.10 USD/h/gpu\"")) return;
  const std::int64_t units = std::max<std::int64_t>(destination.units.units, 1);
  if (const auto hourly = reading.per_hour(fee, "2.10 USD/h/gpu",
                                           {{"gpu", destination.gpus_per_unit * units}, {"unit", units}, {"", 1}}))
    destination.commitment_hourly = *hourly;
}

/// A price list may say what processing in a region costs on top; only the operator knows whether it is asked for.
void tell_uplift(Reading& reading, const Place& at, const Destination& destination) {
  if (!destination.provider.valid()) return;
  const std::vector<std::string>& law = reading.fleet.providers[destination.provider.value].jurisdictions;
  for (const Serving& serving : destination.serving) {
    if (!serving.price) continue;
    const PriceRow& row = reading.fleet.prices.rows[serving.price->value];
    for (const auto& [region, ppm] : {std::pair("eu", row.uplift_ppm_eu), std::pair("us", row.uplift_ppm_us)})
      if (ppm != 1'000'000 && std::find(law.begin(), law.end(), region) != law.end())
        reading.findings.warn(
            at, fmt::format("the price list says x{:.4g} for processing \"{}\" in {}, and nothing is "
                            "added here; write uplift: {:.4g}, or uplift: 1.0 if it is not asked for",
                            static_cast<double>(ppm) / 1e6, row.key, region, static_cast<double>(ppm) / 1e6));
  }
}

void read_one(Reading& reading, const Place& at, const std::string& name, Destination& destination) {
  Findings& findings = reading.findings;
  destination.name = name;
  Map map(findings, at);
  map.get("id");
  const auto tier = findings.word(map.need("tier", "write tier: owned, reserved, spot, on_demand or payg"), kTierWords);
  const Place provider = map.need("provider", "name one of the providers");
  if (provider) destination.provider = reading.refer<ProviderId>(provider, reading.provider_names, "provider");
  if (const auto region = findings.name(map.get("region"))) destination.region = *region;
  read_serving(reading, map.need("models", "list what it serves: models: [NAME]"), destination);
  read_endpoints(reading, map, destination);
  read_latency(reading, map.get("latency"), destination.latency);
  read_quotas(reading, map, destination);
  if (const auto service = findings.word(map.get("service"), kServiceWords))
    destination.service = static_cast<ServiceTier>(*service);
  if (const auto uplift = findings.ratio_ppm(map.get("uplift"), 100'000, 10'000'000)) destination.uplift_ppm = *uplift;
  if (!tier) return;  // what else may stand here depends on the tier; unknown keys are not told apart
  destination.tier = static_cast<Tier>(*tier);
  switch (destination.tier) {
    case Tier::owned:
      refuse_all(map, {"ptu", "gsu", "fee", "rental", "price", "price_key"}, destination);
      read_measurements(reading, map, destination);
      read_gpus(reading, map, destination);
      destination.units = read_units(reading, map);
      if (const auto hourly =
              reading.per_hour(map.need("amortization", "write what a GPU costs to own, e.g. \"1.90 USD/h/gpu\""),
                               "1.90 USD/h/gpu", {{"gpu", destination.gpus_per_unit}, {"unit", 1}}))
        destination.amortization_hourly = *hourly;
      break;
    case Tier::spot:
    case Tier::on_demand:
      refuse_all(map, {"ptu", "gsu", "fee", "amortization", "price", "price_key"}, destination);
      read_measurements(reading, map, destination);
      read_gpus(reading, map, destination);
      destination.units = read_units(reading, map);
      destination.rental =
          read_rental(reading, map.need("rental", "write rental: {price: \"20 USD/h/unit\"}"), destination);
      break;
    case Tier::reserved:
      refuse_all(map, {"rental", "amortization"}, destination);
      read_price_keys(reading, map, destination);
      read_committed(reading, map, destination);
      break;
    case Tier::payg:
      refuse_all(map,
                 {"ptu", "gsu", "fee", "rental", "amortization", "accelerator", "vram", "interconnect", "count", "tp",
                  "precision", "load_bandwidth", "prefill_chunk", "units", "schedule", "policy", "measured", "metrics"},
                 destination);
      read_price_keys(reading, map, destination);
      if (!map.get("uplift")) tell_uplift(reading, at, destination);
      break;
  }
  map.done();
}

}  // namespace

void read_destinations(Reading& reading) {
  reading.fleet.destinations.resize(reading.destination_names.size());
  std::uint32_t position = 0;
  for (const auto& [name, place] : reading.destinations) {
    Destination& destination = reading.fleet.destinations[*reading.destination_names.find(name)];
    read_one(reading, place, name, destination);
    destination.declared = position++;
  }
  for (const auto& [name, place] : reading.repeated_destinations) {
    Destination unused;
    read_one(reading, place, name, unused);
  }
  for (const auto& [name, place] : reading.destinations) {
    const Destination& from = reading.fleet.destinations[*reading.destination_names.find(name)];
    if (!from.native_spill) continue;
    const Destination& to = reading.fleet.destinations[from.native_spill->value];
    if (to.tier != Tier::payg)
      reading.findings.mistake(place, fmt::format("\"{}\" spills to \"{}\", which is not pay-as-you-go", name, to.name),
                               "name a destination of tier payg, or none");
  }
}

}  // namespace ace::fleet_file
