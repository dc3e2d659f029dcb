/// What changed between two versions of a price list.
#include <algorithm>
#include <map>

#include "fleet/price.h"

namespace ace {
namespace {

/// A name for each figure in a row, in the list's order: "output above 200000 batch".
std::map<std::string, UsdPerMtok> figures(const PriceRow& row) {
  std::map<std::string, UsdPerMtok> made;
  for (const ContextTier& tier : row.tiers)
    for (std::size_t s = 0; s < kServiceTiers; ++s)
      for (std::size_t u = 0; u < kUnits; ++u)
        if (const auto price = tier.by_service[s][static_cast<Unit>(u)]) {
          std::string name(name_of(static_cast<Unit>(u)));
          if (tier.above.value > 0) name += " above " + std::to_string(tier.above.value);
          if (s > 0) name += " " + std::string(name_of(static_cast<ServiceTier>(s)));
          made.emplace(std::move(name), *price);
        }
  for (const NamedPrice& named : row.other) made.emplace(named.name, named.price);
  return made;
}

std::string factor_text(std::int64_t ppm) { return to_decimal(UsdPerMtok{ppm * 1'000}); }

std::map<std::string, std::int64_t> factors(const PriceRow& row) {
  std::map<std::string, std::int64_t> made{{"uplift eu", row.uplift_ppm_eu}, {"uplift us", row.uplift_ppm_us}};
  for (const NamedFactor& factor : row.factors) made.emplace("factor " + factor.name, factor.ppm);
  return made;
}

template <class Value, class Text, class Add>
void compare(const std::map<std::string, Value>& before, const std::map<std::string, Value>& after, Text text,
             Add add) {
  std::map<std::string, std::pair<const Value*, const Value*>> both;
  for (const auto& [name, value] : before) both[name].first = &value;
  for (const auto& [name, value] : after) both[name].second = &value;
  for (const auto& [name, pair] : both) {
    const auto& [was, is] = pair;
    if (was != nullptr && is != nullptr && *was == *is) continue;
    add(name, was != nullptr ? text(*was) : "", is != nullptr ? text(*is) : "");
  }
}

double ratio_of(const std::map<std::string, UsdPerMtok>& before, const std::map<std::string, UsdPerMtok>& after,
                const std::string& name) {
  const auto was = before.find(name), is = after.find(name);
  if (was == before.end() || is == after.end() || was->second.nano == 0) return 0.0;
  return static_cast<double>(is->second.nano) / static_cast<double>(was->second.nano);
}

/// Calls with each key of either book and its rows, null where a book lacks it.
template <class Use>
void for_each_pair(const PriceBook& before, const PriceBook& after, Use use) {
  auto a = before.rows.begin();
  auto b = after.rows.begin();
  while (a != before.rows.end() || b != after.rows.end()) {
    const bool take_a = b == after.rows.end() || (a != before.rows.end() && a->key <= b->key);
    const bool take_b = a == before.rows.end() || (b != after.rows.end() && b->key <= a->key);
    use(take_a ? &*a : nullptr, take_b ? &*b : nullptr);
    if (take_a) ++a;
    if (take_b) ++b;
  }
}

}  // namespace

std::vector<PriceChange> diff_prices(const PriceBook& before, const PriceBook& after) {
  std::vector<PriceChange> changes;
  for_each_pair(before, after, [&](const PriceRow* was, const PriceRow* is) {
    if (was == nullptr) return changes.push_back({PriceChange::Kind::added, is->key, "", "", "", 0.0});
    if (is == nullptr) return changes.push_back({PriceChange::Kind::removed, was->key, "", "", "", 0.0});
    const auto old_figures = figures(*was), new_figures = figures(*is);
    const auto add = [&](const std::string& name, std::string old_text, std::string new_text) {
      changes.push_back({PriceChange::Kind::changed, was->key, name, std::move(old_text), std::move(new_text),
                         ratio_of(old_figures, new_figures, name)});
    };
    compare(
        old_figures, new_figures, [](UsdPerMtok price) { return to_decimal(price); }, add);
    compare(factors(*was), factors(*is), factor_text, add);
  });
  return changes;
}

std::vector<PriceFinding> implausible_changes(const PriceBook& before, const PriceBook& after) {
  std::vector<PriceFinding> findings;
  for_each_pair(before, after, [&](const PriceRow* was, const PriceRow* is) {
    if (was == nullptr || is == nullptr || !is->accept_delta.empty()) return;
    const auto old_figures = figures(*was), new_figures = figures(*is);
    for (const auto& [name, price] : new_figures) {
      const auto old = old_figures.find(name);
      if (old == old_figures.end() || old->second.nano == 0 || price.nano == 0) continue;
      const int128 low = std::min(old->second.nano, price.nano), high = std::max(old->second.nano, price.nano);
      if (high > low * 10)
        findings.push_back({true, is->key, name,
                            "moved from " + to_decimal(old->second) + " to " + to_decimal(price) +
                                " USD per million, more than ten times; if that is meant, say why in accept_delta"});
    }
  });
  return findings;
}

}  // namespace ace
