/// A fleet file read twice is the same fleet; one without mistakes has no id that points nowhere; one with mistakes
/// points into the file.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "fleet/fleet.h"

namespace {

using namespace ace;

FleetReading parse(std::string_view text) {
  const ReadText read = [](const std::string&) -> Result<std::string> {
    return Error(Errc::not_found, "no files here");
  };
  const ReadEnv env = [](const std::string& name) -> std::optional<std::string> {
    if (name == "SET") return "value";
    if (name == "EMPTY") return "";
    return std::nullopt;
  };
  return parse_fleet(text, "fuzz.yaml", PriceBook{}, read, env);
}

template <class Id>
bool within(Id id, std::size_t size) {
  return id.valid() && id.value < size;
}

void check_references(const Fleet& fleet) {
  const std::size_t models = fleet.models.size(), prices = fleet.prices.rows.size();
  ACE_CHECK(!fleet.destinations.empty(), "a fleet without destinations passed");
  ACE_CHECK(within(fleet.default_slo, fleet.slo_classes.size()), "no default class");
  for (const Destination& destination : fleet.destinations) {
    ACE_CHECK(!destination.name.empty() && !destination.serving.empty(), "a destination that serves nothing");
    ACE_CHECK(within(destination.provider, fleet.providers.size()), "no provider");
    ACE_CHECK(!destination.native_spill || within(*destination.native_spill, fleet.destinations.size()), "no spill");
    for (const Serving& serving : destination.serving) {
      ACE_CHECK(within(serving.model, models), "no model");
      ACE_CHECK(!serving.price || within(*serving.price, prices), "no price");
    }
  }
  for (const Model& model : fleet.models) {
    ACE_CHECK(model.context_max.value > 0, "a model without a context");
    for (const Equivalent& equivalent : model.equivalents) ACE_CHECK(within(equivalent.model, models), "no model");
    if (!model.baseline) continue;
    ACE_CHECK(within(model.baseline->destination, fleet.destinations.size()), "no baseline");
    ACE_CHECK(within(model.baseline->price, prices), "no baseline price");
  }
  for (const Tenant& tenant : fleet.tenants) {
    ACE_CHECK(within(tenant.slo, fleet.slo_classes.size()), "no class");
    ACE_CHECK(!tenant.compliance.valid() || tenant.compliance.value < fleet.compliance.size(), "no compliance");
  }
  for (const auto& [provider, bias] : fleet.policies.bias) ACE_CHECK(provider < fleet.providers.size(), "no provider");
  for (const Cluster& cluster : fleet.clusters)
    for (const Cluster::Rack& rack : cluster.racks) ACE_CHECK(!rack.nodes.empty(), "a rack without nodes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const FleetReading once = parse(text), twice = parse(text);
  ACE_CHECK(once.fleet == twice.fleet && once.warnings == twice.warnings, "two readings differ");
  ACE_CHECK(describe(once.mistakes) == describe(twice.mistakes), "two readings differ in their mistakes");
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n') + std::count(text.begin(), text.end(), '\r');
  for (const Mistake& mistake : once.mistakes)
    ACE_CHECK(mistake.line >= 1 && mistake.line <= lines && mistake.column >= 1, "a mistake outside the file");
  if (once.mistakes.empty()) check_references(once.fleet);
  return 0;
}
