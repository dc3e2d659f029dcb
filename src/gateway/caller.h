#pragma once
/// Who asks, and what may be done with what they send.
#include <string>
#include <string_view>

#include "core/result.h"
#include "fleet/fleet.h"

namespace ace::gateway {

/// Names are labels that an operator declared; ids are of the fleet that the request came in under.
struct Caller {
  std::string tenant, team, project, key;  ///< empty = none
  TenantId declared;                       ///< none: a tenant that the fleet file does not name
  SloId slo;
  ComplianceId compliance;  ///< none = unrestricted
};

/// Whether whatever the rule `tighter` allows is allowed by `than` too.
bool tightens(const Compliance& tighter, const Compliance& than);

/// The caller as the fleet knows its tenant: class and rule as declared there, else the fleet's default and none.
Caller caller_of(const Fleet& fleet, std::string_view tenant);

/// Holds the caller to a further rule, by name. It can only tighten what holds already.
/// @return not_found for a rule that is not declared, conflict for one that allows what is not allowed now
Result<void> tighten(const Fleet& fleet, Caller& caller, std::string_view rule);

}  // namespace ace::gateway
