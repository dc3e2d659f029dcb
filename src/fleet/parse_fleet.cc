/// From the bytes of a fleet file to a snapshot: strict YAML, the environment, the names, then section by section.
#include <fmt/format.h>

#include <algorithm>

#include "fleet/read_budgets.h"
#include "fleet/reading.h"

namespace ace {
namespace fleet_file {
namespace {

/// Replaces ${NAME} in every value. Values are replaced after YAML was read, so that none can add keys.
void expand(yaml::Node& node, const std::string& path, Reading& reading) {
  for (std::size_t i = 0; i < node.items.size(); ++i)
    expand(node.items[i],
           node.kind == yaml::Node::Kind::map ? (path.empty() ? "" : path + ".") + node.keys[i].text
                                              : fmt::format("{}[{}]", path, i),
           reading);
  for (std::size_t at = node.text.find("${"); at != std::string::npos; at = node.text.find("${", at)) {
    const Place here{&node, nullptr, path};
    const std::size_t close = node.text.find('}', at);
    const std::string name = close == std::string::npos ? std::string() : node.text.substr(at + 2, close - at - 2);
    const bool plain = !name.empty() && name.size() <= 128 && std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
    if (!plain) {
      reading.findings.mistake(here, "expected ${NAME} with a variable of the environment", "");
      return;
    }
    const std::optional<std::string> value = reading.environment(name);
    if (!value || value->empty()) {
      reading.findings.mistake(here,
                               fmt::format("the environment variable {} is {}", name, value ? "empty" : "not set"),
                               fmt::format("set {} or write the value here", name));
      return;
    }
    reading.digest(*value);
    node.text.replace(at, close - at + 1, *value);
    at += value->size();
  }
}

NameTable table_of(const Named& named) {
  std::vector<std::string> names;
  for (const auto& [name, place] : named) names.push_back(name);
  return NameTable(std::move(names));
}

/// The ids of the destinations, with duplicates and near-duplicates reported.
/// @param again filled with the later ones of the same name: they are read too, for their own mistakes
Named destination_names(Findings& findings, const Place& at, Named& again) {
  Named named;
  std::map<std::string, int> lines;
  for (const Place& entry : findings.list(at, "destinations")) {
    if (!entry.is_map()) {
      findings.mistake(entry, fmt::format("expected a map, got {}", yaml::name_of(entry.node->kind)));
      continue;
    }
    Map map(findings, entry);
    const auto id = findings.name(map.need("id", "give the destination a name: id: NAME"));
    if (!id) continue;
    const auto [before, fresh] = lines.emplace(*id, entry.node->line);
    if (!fresh) {
      findings.mistake(map.get("id"),
                       fmt::format("a second destination \"{}\"; the first is on line {}", *id, before->second),
                       "give one of them another id");
      again.push_back({*id, entry});
    } else {
      named.push_back({*id, entry});
    }
  }
  findings.differ_by_more_than_case(named, "destinations");
  return named;
}

void read_aliases(Reading& reading) {
  Named words = reading.models;
  for (const auto& [name, place] : reading.models) {
    if (!place.is_map()) continue;
    Map map(reading.findings, place);
    const Place list = map.get("aliases");
    for (const Place& entry : reading.findings.list(list, "aliases")) {
      const auto alias = reading.findings.name(entry);
      if (!alias) continue;
      const auto [before, fresh] = reading.aliases.emplace(*alias, name);
      if (reading.model_names.find(*alias))
        reading.findings.mistake(entry, fmt::format("the alias \"{}\" is itself a model", *alias),
                                 "an alias is another word for one model and never points on");
      else if (!fresh)
        reading.findings.mistake(entry, fmt::format("the alias \"{}\" already means \"{}\"", *alias, before->second),
                                 "keep one of them");
      else
        words.push_back({*alias, entry});
    }
  }
  reading.findings.differ_by_more_than_case(words, "models or aliases", reading.models.size());
}

void read_sections(Reading& reading, Map& root) {
  Findings& findings = reading.findings;
  findings.count(root.need("version", "write version: 1"), 1, 1);
  reading.read_fx(root.get("fx"));
  reading.providers =
      findings.named(root.need("providers", "name who serves: providers: {own: {jurisdictions: [eu]}}"), "providers");
  reading.models =
      findings.named(root.need("models", "name what is served: models: {NAME: {context: 131072}}"), "models");
  reading.slo_classes = findings.named(root.get("slo_classes"), "SLO classes");
  reading.compliance = findings.named(root.get("compliance"), "compliance classes");
  reading.tenants = findings.named(root.get("tenants"), "tenants");
  reading.clusters = findings.named(root.get("clusters"), "clusters");
  reading.destinations =
      destination_names(findings, root.need("destinations", "list where requests can run: destinations: [...]"),
                        reading.repeated_destinations);
  reading.provider_names = table_of(reading.providers);
  reading.model_names = table_of(reading.models);
  reading.slo_names = table_of(reading.slo_classes);
  reading.compliance_names = table_of(reading.compliance);
  reading.tenant_names = table_of(reading.tenants);
  reading.destination_names = table_of(reading.destinations);
  read_aliases(reading);

  read_prices(reading, root.get("prices"));
  read_electricity(reading, root.get("electricity"));
  read_providers(reading);
  read_policies(reading, root.get("policies"));
  read_slo_classes(reading, root.get("default_slo"));
  read_compliance(reading);
  read_models(reading);
  read_destinations(reading);
  read_tenants(reading);
  read_baselines(reading);
  read_clusters(reading);
  read_budgets(findings, root.get("budgets"), &reading.fleet.tenants, &reading.model_names);  // kept by parse_budgets()
}

}  // namespace
}  // namespace fleet_file

FleetReading parse_fleet(std::string_view yaml, const std::string& file, const PriceBook& prices, const ReadText& read,
                         const ReadEnv& env) {
  using namespace fleet_file;
  FleetReading out;
  yaml::Document document;
  yaml::read(yaml, yaml::Limits{}, document);
  Findings findings(file, document);
  const bool readable =
      std::none_of(document.faults.begin(), document.faults.end(), [](const yaml::Fault& f) { return f.stops; });
  for (yaml::Fault& fault : document.faults)
    findings.mistake(fault.line, fault.column, std::move(fault.path), std::move(fault.what), std::move(fault.mend));
  Reading reading(findings, out.fleet, read, env);
  out.fleet.prices = prices;
  reading.digest(document.text);
  // After a syntax error what follows it is missing for that reason alone: say only what is certain.
  if (readable) {
    if (document.root.kind == yaml::Node::Kind::null) {
      findings.mistake(1, 1, "", "the file is empty", "start with version: 1; see docs/FLEET.md");
    } else {
      expand(document.root, "", reading);
      Map root(findings, {&document.root, nullptr, ""});
      if (root.readable()) read_sections(reading, root);
      root.done();
    }
  }
  out.mistakes = findings.take_mistakes();
  out.warnings = findings.take_warnings();
  if (!out.mistakes.empty()) {
    const std::uint64_t digest = out.fleet.digest;
    out.fleet = Fleet{};  // half a fleet must not be mistaken for one
    out.fleet.digest = digest;
  }
  return out;
}

}  // namespace ace
