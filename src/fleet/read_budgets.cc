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

void known(Findings& findings, const Place& at, const std::string& name, const NameTable* names, const char* what) {
  if (names == nullptr || names->find(name)) return;
  findings.mistake(at, fmt::format("there is no {} \"{}\"", what, name), suggestion(name, names->all()));
}

}  // namespace

std::vector<Budget> read_budgets(Findings& findings, const Place& at, const NameTable* tenants,
                                 const NameTable* models) {
  std::vector<Budget> budgets;
  for (const auto& [name, place] : findings.named(at, "budgets")) {
    Map map(findings, place);
    if (!map.readable()) continue;
    Budget budget;
    budget.name = name;
    const Place tenant = map.get("tenant"), model = map.get("model");
    if (const auto got = findings.name(tenant)) {
      budget.tenant = *got;
      const bool mask = got->size() == 12 && got->starts_with("t_");  // of one that nobody declared
      if (!mask) known(findings, tenant, *got, tenants, "tenant");
    }
    if (const auto got = findings.name(map.get("team"))) budget.team = *got;
    if (const auto got = findings.name(map.get("project"))) budget.project = *got;
    if (const auto got = findings.name(map.get("key"))) budget.key = *got;
    if (const auto got = findings.name(model)) {
      budget.model = *got;
      known(findings, model, *got, models, "model");
    }
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
    const auto table = [&](const char* section) -> std::optional<NameTable> {
      const Place at = root.get(section);
      if (!at) return std::nullopt;
      std::vector<std::string> names;
      for (const auto& [name, place] : findings.named(at, section)) names.push_back(name);
      return NameTable(std::move(names));
    };
    const std::optional<NameTable> tenants = table("tenants"), models = table("models");
    out.budgets =
        read_budgets(findings, root.get("budgets"), tenants ? &*tenants : nullptr, models ? &*models : nullptr);
  }
  out.mistakes = findings.take_mistakes();
  if (!out.mistakes.empty()) out.budgets.clear();
  return out;
}

}  // namespace ace
