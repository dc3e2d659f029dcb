#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fleet/fleet.h"

namespace ace {
namespace {

constexpr std::string_view kKind = "delta_needs_ack: ";

template <class Named>
const Named* find_by_name(const std::vector<Named>& all, std::string_view name) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const Named& n) { return n.name == name; });
  return at == all.end() ? nullptr : &*at;
}

void compare_cluster(const Cluster& before, const Cluster& after, std::vector<std::string>& reasons) {
  std::set<std::string> nodes, racks;
  for (const Cluster::Rack& rack : after.racks) {
    racks.insert(rack.id);
    nodes.insert(rack.nodes.begin(), rack.nodes.end());
  }
  std::size_t had = 0, gone = 0;
  for (const Cluster::Rack& rack : before.racks) {
    if (racks.count(rack.id) == 0)
      reasons.push_back(fmt::format("{}cluster {}: rack {} is gone", kKind, before.name, rack.id));
    had += rack.nodes.size();
    for (const std::string& node : rack.nodes) gone += 1 - nodes.count(node);
  }
  if (had > 0 && gone * 10 >= had * 3)
    reasons.push_back(fmt::format("{}cluster {}: {} of {} nodes are gone", kKind, before.name, gone, had));
  if (before.healthy_floor_ppm != after.healthy_floor_ppm)
    reasons.push_back(fmt::format("{}cluster {}: the healthy floor changes from {:g}% to {:g}%", kKind, before.name,
                                  static_cast<double>(before.healthy_floor_ppm) / 1e4,
                                  static_cast<double>(after.healthy_floor_ppm) / 1e4));
  if (before.selector != after.selector)
    reasons.push_back(fmt::format("{}cluster {}: the selector changes", kKind, before.name));
}

/// The rows that money can flow through, by key.
std::set<std::string> keys_in_use(const Fleet& fleet) {
  std::set<std::string> keys;
  const auto add = [&](PriceId id) {
    if (id.valid()) keys.insert(fleet.prices.rows[id.value].key);
  };
  for (const Destination& destination : fleet.destinations)
    for (const Serving& serving : destination.serving)
      if (serving.price) add(*serving.price);
  for (const Model& model : fleet.models)
    if (model.baseline) add(model.baseline->price);
  return keys;
}

void compare_prices(const Fleet& before, const Fleet& after, std::vector<std::string>& reasons) {
  for (const std::string& key : keys_in_use(before)) {
    const auto was = before.prices.find(key), is = after.prices.find(key);
    if (!is)
      reasons.push_back(fmt::format("{}price {}: the row is gone", kKind, key));
    else if (before.prices.rows[was->value].tiers != after.prices.rows[is->value].tiers)
      reasons.push_back(fmt::format("{}price {}: changed", kKind, key));
  }
  if (before.electricity != after.electricity)
    reasons.push_back(fmt::format("{}electricity: the price changes", kKind));
  for (const Destination& was : before.destinations) {
    const Destination* is = find_by_name(after.destinations, was.name);
    if (is == nullptr) continue;
    if (was.amortization_hourly != is->amortization_hourly)
      reasons.push_back(fmt::format("{}destination {}: the amortization changes", kKind, was.name));
    if (was.commitment_hourly != is->commitment_hourly)
      reasons.push_back(fmt::format("{}destination {}: the fee changes", kKind, was.name));
    if (was.uplift_ppm != is->uplift_ppm)
      reasons.push_back(fmt::format("{}destination {}: the uplift changes", kKind, was.name));
    const bool rents = was.rental && is->rental;
    if (rents && (was.rental->hourly != is->rental->hourly || was.rental->hourly_series != is->rental->hourly_series))
      reasons.push_back(fmt::format("{}destination {}: the unit-hour changes", kKind, was.name));
  }
}

}  // namespace

ReloadVerdict hold_reload(const Fleet& before, const Fleet& after) {
  ReloadVerdict verdict;
  for (const Cluster& was : before.clusters) {
    const Cluster* is = find_by_name(after.clusters, was.name);
    if (is == nullptr)
      verdict.reasons.push_back(fmt::format("{}cluster {}: is gone", kKind, was.name));
    else
      compare_cluster(was, *is, verdict.reasons);
  }
  compare_prices(before, after, verdict.reasons);
  std::sort(verdict.reasons.begin(), verdict.reasons.end());
  verdict.held = !verdict.reasons.empty();
  return verdict;
}

}  // namespace ace
