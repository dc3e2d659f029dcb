/// `clusters:` of the fleet file: racks, nodes and the floor below which no healthy capacity is taken.
#include <fmt/format.h>

#include "fleet/reading.h"

namespace ace::fleet_file {
namespace {

constexpr std::size_t kNodesMax = 50'000;

void read_racks(Reading& reading, const Place& at, Cluster& cluster, std::map<std::string, std::string>& rack_of) {
  Findings& findings = reading.findings;
  Named ids;
  std::map<std::string, int> lines;
  for (const Place& entry : findings.list(at, "racks")) {
    Map map(findings, entry);
    if (!map.readable()) continue;
    Cluster::Rack rack;
    const Place id = map.need("id", "name the rack: id: r1"),
                nodes = map.need("nodes", "list its nodes: nodes: \"n[1-4]\"");
    map.done();
    if (const auto name = findings.name(id)) {
      rack.id = *name;
      const auto [before, fresh] = lines.emplace(*name, id.node->line);
      if (!fresh)
        findings.mistake(id, fmt::format("a second rack \"{}\"; the first is on line {}", *name, before->second),
                         "give one of them another id");
      ids.push_back({*name, {id.node, id.node, id.path}});
    }
    std::vector<Place> parts;
    if (nodes.is_scalar()) parts = {nodes};
    if (nodes && !nodes.is_scalar()) parts = findings.list(nodes, "nodes");
    for (const Place& part : parts) {
      const std::size_t room = rack_of.size() < kNodesMax ? kNodesMax - rack_of.size() : 0;
      const auto names = findings.value<std::vector<std::string>>(
          part, [&](std::string_view text, Misread& why) { return parse_nodes(text, room, why); });
      if (!names) continue;
      for (const std::string& node : *names) {
        const auto [before, fresh] = rack_of.emplace(node, rack.id);
        if (!fresh) {
          findings.mistake(part, fmt::format("node \"{}\" is already in rack \"{}\"", node, before->second),
                           "a node stands in one rack");
          break;  // one mistake per range says it
        }
        rack.nodes.push_back(node);
      }
    }
    cluster.racks.push_back(std::move(rack));
  }
  findings.differ_by_more_than_case(ids, "racks");
}

void read_selector(Reading& reading, Map& map, Cluster& cluster) {
  Findings& findings = reading.findings;
  const auto everything = [&](const Place& at) {
    findings.mistake(at, "selector_matches_everything", "name what belongs to this cluster, e.g. {pool: h100}");
  };
  const Place match = map.get("match"), selector = map.get("selector");
  if (match) {
    const std::string_view text = match.text();
    if (match.is_scalar() && (text.empty() || text.find_first_not_of("*. ") == std::string_view::npos))
      everything(match);
    else if (const auto name = findings.name(match))
      cluster.selector["node"] = *name;
  }
  if (!selector) return;
  if (selector.is_map() && selector.node->keys.empty()) return everything(selector);
  for (const auto& [label, place] : findings.named(selector, "labels")) {
    if (place.is_scalar() && place.text().find('*') != std::string_view::npos)
      everything(place);
    else if (const auto wanted = findings.name(place))
      cluster.selector[label] = *wanted;
  }
}

}  // namespace

void read_clusters(Reading& reading) {
  Findings& findings = reading.findings;
  std::map<std::string, std::string> rack_of;
  const NameTable names([&] {
    std::vector<std::string> all;
    for (const auto& [name, place] : reading.clusters) all.push_back(name);
    return all;
  }());
  reading.fleet.clusters.resize(names.size());
  for (const auto& [name, place] : reading.clusters) {
    Cluster& cluster = reading.fleet.clusters[*names.find(name)];
    cluster.name = name;
    Map map(findings, place);
    if (!map.readable()) continue;
    read_racks(reading, map.need("racks", "list the racks; no racks never means all racks"), cluster, rack_of);
    read_selector(reading, map, cluster);
    const bool zero = findings.boolean(map.get("allow_zero_floor")).value_or(false);
    const Place floor = map.get("healthy_floor");
    if (const auto share = findings.percent_ppm(floor, 0, 1'000'000)) {
      cluster.healthy_floor_ppm = *share;
      if (*share == 0 && !zero)
        findings.mistake(floor, "a floor of 0% guards nothing", "if that is meant, add allow_zero_floor: true");
    }
    map.done();
  }
}

}  // namespace ace::fleet_file
