/// What changed between two versions of a price list.
#include <algorithm>
#include <map>
#include <set>

#include "fleet/price.h"

namespace ace {
namespace {

/// A price before and after; none where there was or is none.
struct Pair {
  std::optional<UsdPerMtok> before, after;
  friend bool operator==(const Pair&, const Pair&) = default;
};

/// The unit whose price this one takes where a list has none of its own; itself if there is no such unit.
Unit stand_in(Unit unit) {
  switch (unit) {
    case Unit::cached_input:
    case Unit::cache_write:
    case Unit::image_input:
      return Unit::input;
    case Unit::cache_write_1h:
      return Unit::cache_write;
    case Unit::reasoning:
      return Unit::output;
    default:
      return unit;
  }
}

/// Calls with the name and the pair of each figure that differs: what a request would pay at each threshold of either
/// row. A figure that only follows another (a service tier the standard one, a context tier the one below it, a unit
/// its stand-in) is not told a second time.
template <class Use>
void for_each_moved(const PriceRow& was, const PriceRow& is, Use use) {
  std::set<std::int64_t> thresholds;
  for (const PriceRow* row : {&was, &is})
    for (const ContextTier& tier : row->tiers) thresholds.insert(tier.above.value);
  using Pairs = std::array<std::array<Pair, kUnits>, kServiceTiers>;
  Pairs below{};
  for (const std::int64_t above : thresholds) {
    Pairs here{};
    for (std::size_t s = 0; s < kServiceTiers; ++s) {
      const auto service = static_cast<ServiceTier>(s);
      for (std::size_t u = 0; u < kUnits; ++u) {
        const auto unit = static_cast<Unit>(u);
        here[s][u] = {rates_for(was, Tokens{above + 1}, service)[unit],
                      rates_for(is, Tokens{above + 1}, service)[unit]};
      }
      for (std::size_t u = 0; u < kUnits; ++u) {
        const Pair& pair = here[s][u];
        const auto unit = static_cast<Unit>(u);
        const auto follows = static_cast<std::size_t>(stand_in(unit));
        if (pair.before == pair.after || (s > 0 && pair == here[0][u]) || (above > 0 && pair == below[s][u]) ||
            (follows != u && pair == here[s][follows]))
          continue;
        std::string name(name_of(unit));
        if (above > 0) name += " above " + std::to_string(above);
        if (s > 0) name += " " + std::string(name_of(service));
        use(name, pair);
      }
    }
    below = here;
  }
  std::map<std::string, Pair> named;
  for (const NamedPrice& price : was.other) named[price.name].before = price.price;
  for (const NamedPrice& price : is.other) named[price.name].after = price.price;
  for (const auto& [name, pair] : named)
    if (pair.before != pair.after) use(name, pair);
}

std::map<std::string, std::int64_t> factors(const PriceRow& row) {
  std::map<std::string, std::int64_t> made{{"uplift eu", row.uplift_ppm_eu}, {"uplift us", row.uplift_ppm_us}};
  for (const NamedFactor& factor : row.factors) made.emplace("factor " + factor.name, factor.ppm);
  return made;
}

/// Calls with each key of either book and its rows, null where a book lacks it.
template <class Use>
void for_each_row(const PriceBook& before, const PriceBook& after, Use use) {
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

PriceChange change(const std::string& key, const std::string& field, const Pair& pair) {
  PriceChange made{PriceChange::Kind::changed, key, field, "", "", 0.0};
  if (pair.before) made.before = to_decimal(*pair.before);
  if (pair.after) made.after = to_decimal(*pair.after);
  if (pair.before && pair.after && pair.before->nano != 0)
    made.ratio = static_cast<double>(pair.after->nano) / static_cast<double>(pair.before->nano);
  return made;
}

}  // namespace

std::vector<PriceChange> diff_prices(const PriceBook& before, const PriceBook& after) {
  std::vector<PriceChange> changes;
  for_each_row(before, after, [&](const PriceRow* was, const PriceRow* is) {
    if (was == nullptr) return changes.push_back({PriceChange::Kind::added, is->key, "", "", "", 0.0});
    if (is == nullptr) return changes.push_back({PriceChange::Kind::removed, was->key, "", "", "", 0.0});
    for_each_moved(*was, *is,
                   [&](const std::string& name, const Pair& pair) { changes.push_back(change(is->key, name, pair)); });
    std::map<std::string, Pair> moved;  // a factor in ppm has 6 decimals, a price in nano has 9
    for (const auto& [name, ppm] : factors(*was)) moved[name].before = UsdPerMtok{ppm * 1'000};
    for (const auto& [name, ppm] : factors(*is)) moved[name].after = UsdPerMtok{ppm * 1'000};
    for (const auto& [name, pair] : moved)
      if (pair.before != pair.after) changes.push_back(change(is->key, name, pair));
  });
  return changes;
}

std::vector<PriceFinding> implausible_changes(const PriceBook& before, const PriceBook& after) {
  std::vector<PriceFinding> findings;
  for_each_row(before, after, [&](const PriceRow* was, const PriceRow* is) {
    if (was == nullptr || is == nullptr || !is->accept_delta.empty()) return;
    for_each_moved(*was, *is, [&](const std::string& name, const Pair& pair) {
      if (!pair.before || !pair.after || pair.before->nano == 0 || pair.after->nano == 0) return;
      const auto [low, high] = std::minmax(pair.before->nano, pair.after->nano);
      if (int128{high} > int128{low} * 10)
        findings.push_back({true, is->key, name,
                            "moved from " + to_decimal(*pair.before) + " to " + to_decimal(*pair.after) +
                                " USD per million, more than ten times; if that is meant, say why in accept_delta"});
    });
  });
  return findings;
}

}  // namespace ace
