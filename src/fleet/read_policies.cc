/// `slo_classes:`, `compliance:`, `tenants:` and `policies:` of the fleet file.
#include <fmt/format.h>

#include <algorithm>

#include "fleet/reading.h"

namespace ace::fleet_file {

void read_slo_classes(Reading& reading, const Place& default_slo) {
  Findings& findings = reading.findings;
  Fleet& fleet = reading.fleet;
  if (reading.slo_classes.empty()) {
    if (default_slo) findings.mistake(default_slo, "no slo_classes are declared", "declare slo_classes or remove it");
    SloClass only;
    only.name = "default";
    only.epsilon = fleet.policies.epsilon.value_or((1.0 - only.target) / 2.0);
    fleet.slo_classes = {only};
    fleet.default_slo = SloId{0};
    reading.slo_names = NameTable({"default"});
    findings.warn("no slo_classes: every request is in a class \"default\" without latency limits");
    return;
  }
  fleet.slo_classes.resize(reading.slo_names.size());
  std::optional<SloId> first_interactive;
  for (const auto& [name, place] : reading.slo_classes) {
    const SloId id{*reading.slo_names.find(name)};
    SloClass& slo = fleet.slo_classes[id.value];
    slo.name = name;
    Map map(findings, place);
    if (!map.readable()) continue;
    const Duration longest = 366 * kDay;
    const Place ttft = map.get("ttft"), tpot = map.get("tpot"), deadline = map.get("deadline");
    slo.ttft = findings.duration(ttft, Duration{1}, longest);
    slo.tpot = findings.duration(tpot, Duration{1}, longest);
    slo.deadline = findings.duration(deadline, kSecond, longest);
    const Place target = map.get("target"), epsilon = map.get("epsilon"), value = map.get("value");
    if (const auto share = findings.ratio(target, 0.0, 1.0)) {
      slo.target = *share;
      if (*share >= 1.0 || *share < 0.5)
        findings.mistake(target, fmt::format("a target is at least 0.5 and below 1, got \"{}\"", target.text()),
                         "a promise to every request cannot be kept; write e.g. 0.99");
    }
    // Half of what the target leaves: at the whole of it a saturated cell fails its gate every other hour.
    slo.epsilon = fleet.policies.epsilon.value_or((1.0 - slo.target) / 2.0);
    if (const auto own = findings.ratio(epsilon, 0.000001, 0.5)) slo.epsilon = *own;
    if (slo.epsilon > 1.0 - slo.target + 1e-12 && slo.target < 1.0) {
      const std::string what =
          fmt::format("a miss rate of {} at the knee breaks the target {}", slo.epsilon, slo.target);
      if (epsilon)
        findings.mistake(epsilon, what, fmt::format("write at most {:.6g}", 1.0 - slo.target));
      else
        findings.warn(place, what + " (it comes from policies.epsilon)");
    }
    if (value && value.text() != "payg") slo.miss_value = reading.per(value, "0.002 USD/request", "request");
    if (const auto priority = findings.count(map.get("priority"), 0, 1000)) slo.priority = static_cast<int>(*priority);
    slo.hardware = read_requirements(reading, map.get("requires"));
    map.done();
    if (!ttft && !tpot && !deadline)
      findings.mistake(place, "a class without a limit promises nothing",
                       "write ttft: 800ms, tpot: 60ms or deadline: 24h");
    if (!slo.deferrable() && !first_interactive) first_interactive = id;
  }
  fleet.default_slo = first_interactive.value_or(SloId{*reading.slo_names.find(reading.slo_classes.front().first)});
  if (default_slo) {
    const SloId id = reading.refer<SloId>(default_slo, reading.slo_names, "SLO class");
    if (id.valid()) fleet.default_slo = id;
  }
}

void read_compliance(Reading& reading) {
  Findings& findings = reading.findings;
  reading.fleet.compliance.resize(reading.compliance_names.size());
  std::vector<std::string> jurisdictions;
  for (const Provider& provider : reading.fleet.providers)
    jurisdictions.insert(jurisdictions.end(), provider.jurisdictions.begin(), provider.jurisdictions.end());
  const NameTable known(jurisdictions);
  for (const auto& [name, place] : reading.compliance) {
    Compliance& compliance = reading.fleet.compliance[*reading.compliance_names.find(name)];
    compliance.name = name;
    Map map(findings, place);
    if (!map.readable()) continue;
    const Place where = map.get("jurisdictions"), who = map.get("providers");
    compliance.jurisdictions = findings.names(where);
    for (std::size_t i = 0; i < compliance.jurisdictions.size(); ++i)
      if (!known.find(compliance.jurisdictions[i]))
        findings.warn(where, fmt::format("no provider is in \"{}\"; {}", compliance.jurisdictions[i],
                                         suggestion(compliance.jurisdictions[i], known.all())));
    compliance.providers = findings.names(who);
    if (who.is_list())
      for (std::size_t i = 0; i < who.node->items.size(); ++i)
        reading.refer<ProviderId>({&who.node->items[i], who.node, fmt::format("{}[{}]", who.path, i)},
                                  reading.provider_names, "provider");
    compliance.data_classes = findings.names(map.get("data_classes"));
    compliance.retention_max = findings.duration(map.get("retention_max"));
    map.done();
    if (compliance.jurisdictions.empty() && compliance.providers.empty() && compliance.data_classes.empty() &&
        !compliance.retention_max)
      findings.mistake(place, "a compliance class that restricts nothing", "restrict something or remove the class");
    for (auto* list : {&compliance.jurisdictions, &compliance.providers, &compliance.data_classes})
      std::sort(list->begin(), list->end());
  }
}

/// Only of what is paid whether it is used or not: nobody holds a share of an API that is paid by use.
/// @param given so far, by destination
static void read_reserved(Reading& reading, const Place& at, Tenant& tenant, std::vector<std::int64_t>& given) {
  if (!at) return;
  Findings& findings = reading.findings;
  for (const auto& [name, place] : findings.named(at, "destinations")) {
    const auto share = findings.percent_ppm(place, 0, 1'000'000);
    const auto id = reading.destination_names.find(name);
    if (!id) {
      findings.mistake({place.parent, nullptr, place.path}, fmt::format("there is no destination \"{}\"", name),
                       suggestion(name, reading.destination_names.all()));
    } else if (reading.fleet.destinations[*id].tier == Tier::payg) {
      findings.mistake(place,
                       fmt::format("\"{}\" is paid by use: it has no capacity of which to reserve a share", name),
                       "leave it out");
    } else if (share) {
      if ((given[*id] += *share) > 1'000'000)
        findings.mistake(place, fmt::format("with this the tenants reserve more than 100% of \"{}\"", name),
                         "lower one of the shares");
      tenant.reserved.push_back({DestinationId{*id}, *share});
    }
  }
  std::sort(tenant.reserved.begin(), tenant.reserved.end(),
            [](const ReservedShare& a, const ReservedShare& b) { return a.destination < b.destination; });
}

void read_tenants(Reading& reading) {
  Findings& findings = reading.findings;
  reading.fleet.tenants.resize(reading.tenant_names.size());
  std::vector<std::int64_t> reserved(reading.destination_names.size());
  for (const auto& [name, place] : reading.tenants) {
    Tenant& tenant = reading.fleet.tenants[*reading.tenant_names.find(name)];
    tenant.name = name;
    tenant.slo = reading.fleet.default_slo;
    Map map(findings, place);
    if (!map.readable()) continue;
    const Place slo = map.get("slo"), compliance = map.get("compliance"), data_class = map.get("data_class");
    if (slo) tenant.slo = reading.refer<SloId>(slo, reading.slo_names, "SLO class");
    if (compliance)
      tenant.compliance = reading.refer<ComplianceId>(compliance, reading.compliance_names, "compliance class");
    if (const auto got = findings.name(data_class)) tenant.data_class = *got;
    tenant.teams = findings.names(map.get("teams"));
    tenant.projects = findings.names(map.get("projects"));
    read_reserved(reading, map.get("reserved"), tenant, reserved);
    for (auto* names : {&tenant.teams, &tenant.projects}) std::sort(names->begin(), names->end());
    map.done();
    if (tenant.compliance.valid() && !tenant.data_class.empty()) {
      const auto& allowed = reading.fleet.compliance[tenant.compliance.value].data_classes;
      if (!allowed.empty() && !std::binary_search(allowed.begin(), allowed.end(), tenant.data_class))
        findings.mistake(
            data_class,
            fmt::format("the compliance class of this tenant does not cover data class \"{}\"", tenant.data_class),
            suggestion(tenant.data_class, allowed));
    }
  }
}

void read_policies(Reading& reading, const Place& at) {
  if (!at) return;
  Findings& findings = reading.findings;
  Policies& policies = reading.fleet.policies;
  Map map(findings, at);
  if (!map.readable()) return;
  const Place bias = map.get("bias");
  if (bias)
    for (const auto& [provider, place] : findings.named(bias, "providers")) {
      const auto amount = reading.per_mtok(place, true);
      if (const auto id = reading.provider_names.find(provider)) {
        if (amount) policies.bias[*id] = *amount;
      } else {
        findings.mistake({place.parent, nullptr, place.path}, fmt::format("there is no provider \"{}\"", provider),
                         suggestion(provider, reading.provider_names.all()));
      }
    }
  policies.epsilon = findings.ratio(map.get("epsilon"), 0.000001, 0.5);
  if (const auto budget = findings.percent_ppm(map.get("retry_budget"), 0, 1'000'000))
    policies.retry_budget_ppm = *budget;
  if (const auto least = findings.count(map.get("retries_min"), 0, 1000)) policies.retries_min = *least;
  if (const auto attempts = findings.count(map.get("attempts_max"), 1, 10))
    policies.attempts_max = static_cast<int>(*attempts);
  if (const auto reserve = findings.word(map.get("reserve"), {"mark", "enforce"}))
    policies.reserve_enforce = *reserve == 1;
  if (const auto cache = findings.boolean(map.get("response_cache"))) policies.response_cache = *cache;
  const Place hosts = map.get("hosts");
  if (hosts) {
    Map fixed(findings, hosts);
    policies.cache_hosts_hourly = reading.per_hour(fixed.get("cache"), "0.10 USD/h", {{"", 1}});
    policies.gateway_hosts_hourly = reading.per_hour(fixed.get("gateway"), "0.20 USD/h", {{"", 1}});
    fixed.done();
  }
  map.done();
}

}  // namespace ace::fleet_file
