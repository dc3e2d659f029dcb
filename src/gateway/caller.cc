#include "gateway/caller.h"

#include <fmt/format.h>

#include <algorithm>

namespace ace::gateway {
namespace {

/// Sorted lists in which nothing means everything.
bool within(const std::vector<std::string>& tighter, const std::vector<std::string>& than) {
  return than.empty() || (!tighter.empty() && std::includes(than.begin(), than.end(), tighter.begin(), tighter.end()));
}

}  // namespace

bool tightens(const Compliance& tighter, const Compliance& than) {
  return within(tighter.jurisdictions, than.jurisdictions) && within(tighter.providers, than.providers) &&
         within(tighter.data_classes, than.data_classes) &&
         (!than.retention_max || (tighter.retention_max && *tighter.retention_max <= *than.retention_max));
}

Caller caller_of(const Fleet& fleet, std::string_view tenant) {
  Caller caller;
  caller.tenant = tenant;
  caller.slo = fleet.default_slo;
  if (const auto declared = fleet.tenant(tenant)) {
    caller.declared = *declared;
    const Tenant& t = fleet.tenants[declared->value];
    if (t.slo.valid()) caller.slo = t.slo;
    caller.compliance = t.compliance;
  }
  return caller;
}

Result<void> tighten(const Fleet& fleet, Caller& caller, std::string_view rule) {
  for (std::uint32_t i = 0; i < fleet.compliance.size(); ++i) {
    if (fleet.compliance[i].name != rule) continue;
    if (caller.compliance.valid() && !tightens(fleet.compliance[i], fleet.compliance[caller.compliance.value]))
      return Error(Errc::conflict, fmt::format("the rule {} allows what {}, which holds for this key, does not", rule,
                                               fleet.compliance[caller.compliance.value].name));
    caller.compliance = ComplianceId{i};
    return {};
  }
  return Error(Errc::not_found, "no compliance rule of that name is declared");
}

}  // namespace ace::gateway
