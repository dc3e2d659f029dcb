#pragma once
/// `budgets:` of the fleet file, for who reads the whole file and for who reads them alone.
#include "core/names.h"
#include "fleet/budget.h"
#include "fleet/findings.h"

namespace ace::fleet_file {

/// @param tenants, models that are declared, tenants with their teams and projects; null = not known here, so that any
/// name will do
std::vector<Budget> read_budgets(Findings& findings, const Place& at, const std::vector<Tenant>* tenants,
                                 const NameTable* models);

}  // namespace ace::fleet_file
