#include "fleet/read_budgets.h"

#include <fmt/format.h>

#include <algorithm>

namespace ace {
namespace fleet_file {
namespace {

/// "500 USD". @return nothing, with what was wrong in `why`
std::optional<Usd> sum_of(std::string_view text, Misread& why) {
  why = {"an amount of USD above zero", "write e.g. \"500 USD\""};
  if (!text.ends_with(" USD")) return std::nullopt;
  const Result<std::int64_t> nano = parse_decimal(text.substr(0, text.size() - 4), 9);
  if (!nano || *nano <= 0) return std::nullopt;
  return Usd{*nano};
}

/// What stands on a spine for a name that nobody declared.
bool is_mask(std::string_view name) { return name.size() == 12 && name.starts_with("t_"); }

void known(Findings& findings, const Place& at, const std::string& name, const std::vector<std::string>& names,
           const char* what, const std::string& tenant = {}) {
  if (is_mask(name) || std::find(names.begin(), names.end(), name) != names.end()) return;
  findings.mistake(at,
                   tenant.empty() ? fmt::format("there is no {} \"{}\"", what, name)
                                  : fmt::format("tenant \"{}\" has no {} \"{}\"", tenant, what, name),
                   suggestion(name, names));
}

/// A team or project of the budget's tenant; of any tenant where it is for all of them. An undeclared one is masked
/// before it gets to a budget, which would hold for nothing.
void belongs(Findings& findings, const Place& at, const std::string& name, const std::string& tenant,
             const std::vector<Tenant>& tenants, std::vector<std::string> Tenant::*names, const char* what) {
  std::vector<std::string> declared;
  bool found = tenant.empty();
  for (const Tenant& t : tenants) {
    if (!tenant.empty() && t.name != tenant) continue;
    found = true;
    declared.insert(declared.end(), (t.*names).begin(), (t.*names).end());
  }
  std::sort(declared.begin(), declared.end());
  if (found) known(findings, at, name, declared, what, tenant);
}

}  // namespace

std::vector<Budget> read_budgets(Findings& findings, const Place& at, const std::vector<Tenant>* tenants,
                                 const NameTable* models) {
  std::vector<Budget> budgets;
  for (const auto& [name, place] : findings.named(at, "budgets")) {
    Map map(findings, place);
    if (!map.readable()) continue;
    Budget budget;
    budget.name = name;
    const Place tenant = map.get("tenant"), team = map.get("team"), project = map.get("project"), key = map.get("key"),
                model = map.get("model");
    const auto name_at = [&](const Place& written, std::string& into) {
      const std::optional<std::string> got = findings.name(written);
      if (got) into = *got;
      return got.has_value();
    };
    if (name_at(tenant, budget.tenant) && tenants != nullptr) {
      std::vector<std::string> names;
      for (const Tenant& t : *tenants) names.push_back(t.name);
      known(findings, tenant, budget.tenant, names, "tenant");
    }
    if (name_at(team, budget.team) && tenants != nullptr)
      belongs(findings, team, budget.team, budget.tenant, *tenants, &Tenant::teams, "team");
    if (name_at(project, budget.project) && tenants != nullptr)
      belongs(findings, project, budget.project, budget.tenant, *tenants, &Tenant::projects, "project");
    name_at(key, budget.key);
    if (name_at(model, budget.model) && models != nullptr) known(findings, model, budget.model, models->all(), "model");
    if (const auto window = findings.word(map.need("window", "say for how long it holds: window: month"),
                                          {"hour", "day", "month", "total"}))
      budget.window = static_cast<Budget::Window>(*window);
    if (const auto limit = findings.value<Usd>(map.need("limit", "say how much: limit: \"500 USD\""), sum_of))
      budget.limit = *limit;
    if (const auto enforce = findings.word(map.get("enforce"), {"hard", "soft"})) budget.hard = *enforce == 0;
    map.done();
    budgets.push_back(std::move(budget));
  }
  std::sort(budgets.begin(), budgets.end(), [](const Budget& a, const Budget& b) { return a.name < b.name; });
  return budgets;
}

}  // namespace fleet_file

BudgetReading parse_budgets(std::string_view yaml, const std::string& file) {
  using namespace fleet_file;
  BudgetReading out;
  yaml::Document document;
  yaml::read(yaml, yaml::Limits{}, document);
  Findings findings(file, document);
  bool readable = document.root.kind == yaml::Node::Kind::map;
  for (yaml::Fault& fault : document.faults) {
    readable = readable && !fault.stops;
    findings.mistake(fault.line, fault.column, std::move(fault.path), std::move(fault.what), std::move(fault.mend));
  }
  if (readable) {
    Map root(findings, {&document.root, nullptr, ""});
    std::optional<std::vector<Tenant>> tenants;
    if (const Place at = root.get("tenants")) {
      tenants.emplace();
      for (const auto& [name, place] : findings.named(at, "tenants")) {
        Tenant& tenant = tenants->emplace_back();
        tenant.name = name;
        Map map(findings, place);
        tenant.teams = findings.names(map.get("teams"));
        tenant.projects = findings.names(map.get("projects"));
      }
    }
    std::optional<NameTable> models;
    if (const Place at = root.get("models")) {
      std::vector<std::string> names;
      for (const auto& [name, place] : findings.named(at, "models")) names.push_back(name);
      models.emplace(std::move(names));
    }
    out.budgets =
        read_budgets(findings, root.get("budgets"), tenants ? &*tenants : nullptr, models ? &*models : nullptr);
  }
  out.mistakes = findings.take_mistakes();
  if (!out.mistakes.empty()) out.budgets.clear();
  return out;
}

}  // namespace ace
