/// `models:` of the fleet file: what can be asked for, what it costs by default and what may stand in for it.
#include <fmt/format.h>

#include <algorithm>

#include "fleet/reading.h"

namespace ace::fleet_file {
namespace {

constexpr std::int64_t kTokensMax = 1'000'000'000;

std::optional<Architecture> read_architecture(Reading& reading, const Place& at) {
  if (!at) return std::nullopt;
  Findings& findings = reading.findings;
  Map map(findings, at);
  if (!map.readable()) return std::nullopt;
  const auto number = [&](const char* key, std::int64_t high, bool needed) -> double {
    const Place place = needed ? map.need(key, fmt::format("write {}: NUMBER", key)) : map.get(key);
    return static_cast<double>(findings.count(place, 1, high).value_or(0));
  };
  Architecture shape;
  shape.parameters = number("parameters", 100'000'000'000'000, true);
  shape.parameters_active = number("parameters_active", 100'000'000'000'000, false);
  shape.layers = number("layers", 10'000, true);
  shape.hidden = number("hidden", 1'000'000, true);
  if (const auto kv = findings.value<double>(map.need("kv_per_token", "write kv_per_token: 320KiB"), parse_bytes))
    shape.kv_bytes_per_token = *kv;
  map.done();
  if (shape.parameters_active == 0.0) shape.parameters_active = shape.parameters;
  if (shape.parameters_active > shape.parameters)
    findings.mistake(map.get("parameters_active"), "a token cannot pass through more weights than there are");
  return shape;
}

std::uint32_t read_capabilities(Reading& reading, const Place& at) {
  static const std::vector<std::string> words = {"text",  "image",       "audio",    "video",
                                                 "tools", "json_schema", "reasoning"};
  std::uint32_t bits = kText;
  for (const Place& entry : reading.findings.list(at, "capabilities"))
    if (const auto word = reading.findings.word(entry, words)) bits |= 1U << *word;
  return bits;
}

QualityAudit read_audit(Findings& findings, const Place& at) {
  QualityAudit audit;
  Map map(findings, at);
  if (!map.readable()) return audit;
  const Place judged = map.need("judged", "how many pairs of answers were compared");
  const Place good = map.need("good", "in how many of them the stand-in was as good");
  if (const auto count = findings.count(judged, 1, 1'000'000'000)) audit.judged = static_cast<std::uint64_t>(*count);
  if (const auto count = findings.count(good, 0, 1'000'000'000)) audit.good = static_cast<std::uint64_t>(*count);
  map.done();
  if (audit.good > audit.judged) findings.mistake(good, "more good answers than were judged", "swap them or mend one");
  return audit;
}

std::vector<Equivalent> read_equivalents(Reading& reading, const Place& at, ModelId self) {
  Findings& findings = reading.findings;
  std::vector<Equivalent> found;
  for (const Place& entry : findings.list(at, "equivalent models")) {
    Map map(findings, entry);
    if (!map.readable()) continue;
    Equivalent equivalent;
    const Place model = map.need("model", "name the model that may stand in");
    equivalent.model = reading.refer_model(model);
    if (const auto quality = findings.ratio(map.get("quality_min"), 0.0, 1.0)) equivalent.quality_min = *quality;
    if (const auto verbosity = findings.ratio_ppm(map.get("verbosity"), 10'000, 100'000'000))
      equivalent.verbosity_ppm = *verbosity;
    if (const auto evidence = findings.text(map.get("evidence"))) equivalent.evidence = *evidence;
    if (const Place audit = map.get("audit")) equivalent.audit = read_audit(findings, audit);
    map.done();
    if (!equivalent.model.valid()) continue;
    if (equivalent.model == self)
      findings.mistake(model, "a model is no equivalent of itself", "remove it");
    else if (std::any_of(found.begin(), found.end(), [&](const auto& e) { return e.model == equivalent.model; }))
      findings.mistake(model, fmt::format("\"{}\" is listed twice", model.text()), "keep one of them");
    else
      found.push_back(equivalent);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.model < b.model; });
  return found;
}

/// Where the first of two rows asks more than the second for the same unit, as words; empty if nowhere.
std::string dearer(const PriceRow& a, const PriceRow& b, ServiceTier service) {
  std::vector<Tokens> contexts;
  for (const PriceRow* row : {&a, &b})
    for (const ContextTier& tier : row->tiers) contexts.push_back(tier.above + Tokens{1});
  for (const Tokens context : contexts) {
    const Rates &left = rates_for(a, context, service), &right = rates_for(b, context, service);
    for (std::size_t i = 0; i < kUnits; ++i) {
      const auto unit = static_cast<Unit>(i);
      if (left[unit] && right[unit] && left.priced(unit) > right.priced(unit))
        return fmt::format("{} {} against {} USD/Mtok", name_of(unit), to_decimal(left.priced(unit)),
                           to_decimal(right.priced(unit)));
    }
  }
  return {};
}

}  // namespace

void read_models(Reading& reading) {
  Findings& findings = reading.findings;
  reading.fleet.models.resize(reading.model_names.size());
  for (const auto& [name, place] : reading.models) {
    const ModelId id{*reading.model_names.find(name)};
    Model& model = reading.fleet.models[id.value];
    model.name = name;
    Map map(findings, place);
    if (!map.readable()) continue;
    const Place aliases = map.get("aliases");  // read with the names
    if (aliases.is_list())
      for (const yaml::Node& alias : aliases.node->items)
        if (const auto owner = reading.aliases.find(alias.text);
            owner != reading.aliases.end() && owner->second == name)
          model.aliases.push_back(alias.text);
    std::sort(model.aliases.begin(), model.aliases.end());
    const Place context = map.need("context", "write the context window in tokens: context: 131072");
    if (const auto tokens = findings.count(context, 1, kTokensMax)) model.context_max = Tokens{*tokens};
    const Place output = map.get("output_max");
    if (const auto tokens = findings.count(output, 1, kTokensMax)) {
      model.output_max = Tokens{*tokens};
      if (model.context_max.value > 0 && model.output_max > model.context_max)
        findings.mistake(output, "the output cannot be larger than the context");
    }
    if (const auto quality = findings.name(map.get("quality"))) model.quality = *quality;
    model.capabilities = read_capabilities(reading, map.get("capabilities"));
    model.architecture = read_architecture(reading, map.get("architecture"));
    if (!model.architecture) {
      const Architecture* known = find_architecture(name);
      for (const std::string& alias : model.aliases)
        if (known == nullptr) known = find_architecture(alias);
      if (known != nullptr) model.architecture = *known;
    }
    model.equivalents = read_equivalents(reading, map.get("equivalents"), id);
    map.get("baseline");  // read_baselines()
    map.done();
  }
}

void read_baselines(Reading& reading) {
  Findings& findings = reading.findings;
  for (const auto& [name, place] : reading.models) {
    const ModelId id{*reading.model_names.find(name)};
    Map model(findings, place);
    const Place at = model.get("baseline");
    if (!at) continue;
    Map map(findings, at);
    if (!map.readable()) continue;
    Baseline baseline;
    const Place where = map.need("destination", "name the pay-as-you-go destination that would serve by default");
    baseline.destination = reading.refer<DestinationId>(where, reading.destination_names, "destination");
    const Place key = map.get("price_key");
    const auto wanted = findings.name(key);
    if (const auto as_of = findings.value<std::string>(map.get("as_of"), parse_date)) baseline.as_of = *as_of;
    if (const auto contracted = findings.boolean(map.get("contracted"))) baseline.contracted = *contracted;
    map.done();
    if (!baseline.destination.valid()) continue;
    const Destination& destination = reading.fleet.destinations[baseline.destination.value];
    if (destination.name.empty()) continue;  // could not be read; reported there
    if (destination.tier != Tier::payg) {
      findings.mistake(where,
                       fmt::format("a baseline is a pay-as-you-go price, but \"{}\" is {}", destination.name,
                                   name_of(destination.tier)),
                       "name a destination of tier payg");
      continue;
    }
    const auto serving = std::find_if(destination.serving.begin(), destination.serving.end(),
                                      [&](const Serving& s) { return s.model == id; });
    if (serving == destination.serving.end()) {
      findings.mistake(where, fmt::format("\"{}\" does not serve \"{}\"", destination.name, name),
                       fmt::format("add {} to its models or name another destination", name));
      continue;
    }
    const std::optional<PriceId> price = wanted ? reading.fleet.prices.find(*wanted) : serving->price;
    if (!price) {
      findings.warn(wanted ? key : at,
                    fmt::format("the baseline of \"{}\" is unpriced{}: its requests stay outside the savings", name,
                                wanted ? fmt::format(" (no row \"{}\" in the price maps)", *wanted) : ""));
      continue;
    }
    baseline.price = *price;
    const std::vector<PriceRow>& rows = reading.fleet.prices.rows;
    if (!serving->price) {
      findings.warn(key, fmt::format("\"{}\" has no price for \"{}\" to hold its baseline against: graded assumed",
                                     destination.name, name));
      baseline.contracted = false;
    } else if (const std::string unit = dearer(rows[price->value], rows[serving->price->value], destination.service);
               !unit.empty()) {
      findings.mistake(key,
                       fmt::format("the baseline of \"{}\" is dearer than what \"{}\" charges for it: {}; nobody would "
                                   "have paid that",
                                   name, destination.name, unit),
                       "remove price_key, or write the price of the destination");
      continue;
    }
    const Model& itself = reading.fleet.models[id.value];
    if (serving->context_max && *serving->context_max < itself.context_max)
      findings.warn(where, fmt::format("\"{}\" takes {} tokens of the {} that \"{}\" may have: longer requests are "
                                       "compared with the cheapest API that takes them",
                                       destination.name, serving->context_max->value, itself.context_max.value, name));
    reading.fleet.models[id.value].baseline = baseline;
  }
}

}  // namespace ace::fleet_file
