/// `prices:` of the fleet file, as paths of price maps or as rows written in place.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/text.h"
#include "fleet/reading.h"

namespace ace::fleet_file {
namespace {

const std::vector<std::string> kServices = {"standard", "batch", "flex", "priority"};

/// What is not priced apart is priced as its nearest relative, as in price maps (price.h).
void fall_back(Rates& rates) {
  const auto from = [&](Unit unit, Unit relative) {
    if (!rates[unit] && rates[relative]) rates.set(unit, rates.priced(relative));
  };
  from(Unit::cached_input, Unit::input);
  from(Unit::cache_write, Unit::input);
  from(Unit::cache_write_1h, Unit::cache_write);
  from(Unit::reasoning, Unit::output);
  from(Unit::image_input, Unit::input);
}

/// The unit prices among the keys of a map.
Rates read_rates(Reading& reading, Map& map) {
  Rates rates;
  for (std::size_t i = 0; i < kUnits; ++i)
    if (const auto price = reading.per_mtok(map.get(name_of(static_cast<Unit>(i)))))
      rates.set(static_cast<Unit>(i), *price);
  return rates;
}

/// One tier: standard prices, and where a service tier has its own these over the standard ones.
ContextTier read_tier(Reading& reading, Map& map, Tokens above) {
  ContextTier tier;
  tier.above = above;
  const Rates standard = read_rates(reading, map);
  for (std::size_t s = 0; s < kServiceTiers; ++s) {
    Rates rates = standard;
    if (s > 0) {
      const Place at = map.get(kServices[s]);
      if (at) {
        Map own(reading.findings, at);
        const Rates over = read_rates(reading, own);
        own.done();
        for (std::size_t i = 0; i < kUnits; ++i)
          if (const auto price = over[static_cast<Unit>(i)]) rates.set(static_cast<Unit>(i), *price);
      }
    }
    fall_back(rates);
    tier.by_service[s] = rates;
  }
  return tier;
}

void include_map(Reading& reading, const Place& at) {
  Place path = at;
  std::optional<std::size_t> dialect;
  std::string on, known;
  if (at.is_map()) {
    Map map(reading.findings, at);
    path = map.need("path", "write path: FILE");
    dialect = reading.findings.word(map.get("dialect"), {"community", "own"});
    on = reading.findings.value<std::string>(map.get("on"), parse_date).value_or("");
    known = reading.findings.value<std::string>(map.get("known_on"), parse_date).value_or("");
    map.done();
  }
  const auto text = reading.include(path);
  if (!text) return;
  const std::string name(path.text().substr(path.text().find_last_of('/') + 1));
  const bool community = dialect ? *dialect == 0 : name.rfind("model_prices_and_context_window", 0) == 0;
  Result<PriceReading> list = parse_prices(*text, community ? PriceDialect::community : PriceDialect::own, on, known);
  if (!list) {
    reading.findings.mistake(path, fmt::format("\"{}\" is not a price map: {}", path.text(), list.error().what()));
    return;
  }
  for (const PriceFinding& finding : list->findings) {
    const std::string where = finding.field.empty() ? finding.row : finding.row + "." + finding.field;
    if (finding.error && !community)
      reading.findings.mistake_in(std::string(path.text()), where, finding.what, "");
    else
      reading.findings.warn(
          fmt::format("{}: {}: {}{}", path.text(), where, finding.what,
                      finding.error && !finding.row_kept ? " (the row is left out and so unpriced)" : ""));
  }
  if (on.empty()) {
    std::set<std::string_view> many;  // versions of a key lie side by side
    for (std::size_t i = 1; i < list->versions.size(); ++i)
      if (list->versions[i].key == list->versions[i - 1].key) many.insert(list->versions[i].key);
    std::vector<std::string> open;
    for (const PriceRow& row : list->book.rows)
      if (many.contains(row.key)) open.push_back(fmt::format("{} (from {})", row.key, row.valid_from));
    if (!open.empty())
      reading.findings.warn(path, fmt::format("the latest of several versions is taken, whatever day is looked at: "
                                              "{}; name a day with on: YYYY-MM-DD",
                                              listed(open, 4)));
  }
  for (PriceRow& row : list->book.rows) {
    if (!row.valid_from.empty()) row.chosen_on = on;
    add_price_row(reading, std::move(row));
  }
}

}  // namespace

void add_price_row(Reading& reading, PriceRow row) {
  std::vector<PriceRow>& rows = reading.fleet.prices.rows;
  const auto at = std::lower_bound(rows.begin(), rows.end(), row.key,
                                   [](const PriceRow& r, const std::string& k) { return r.key < k; });
  if (at == rows.end() || at->key != row.key) {
    rows.insert(at, std::move(row));
  } else if (*at != row) {
    reading.findings.warn(fmt::format("the price of \"{}\" is given more than once; the later one holds", row.key));
    *at = std::move(row);
  }
}

std::optional<PriceRow> read_price_row(Reading& reading, const Place& at, const std::string& key) {
  PriceRow row;
  row.key = key;
  if (at.is_scalar()) {  // one price for prompt and output
    const auto price = reading.per_mtok(at);
    if (!price) return std::nullopt;
    Rates rates;
    rates.set(Unit::input, *price);
    rates.set(Unit::output, *price);
    fall_back(rates);
    ContextTier tier;
    tier.by_service.fill(rates);
    row.tiers.push_back(tier);
    return row;
  }
  Map map(reading.findings, at);
  if (!map.readable()) return std::nullopt;
  if (const auto source = reading.findings.text(map.get("source"))) row.source = *source;
  if (const auto as_of = reading.findings.value<std::string>(map.get("as_of"), parse_date)) row.as_of = *as_of;
  if (const auto mode = reading.findings.name(map.get("mode"))) row.mode = *mode;
  if (const auto least = reading.findings.count(map.get("cache_min"), 0, 1'000'000'000)) row.cache_min = Tokens{*least};
  row.tiers.push_back(read_tier(reading, map, Tokens{0}));
  const Place tiers = map.get("tiers");
  for (const Place& entry : reading.findings.list(tiers, "context tiers")) {
    Map tier(reading.findings, entry);
    if (!tier.readable()) continue;
    const Place above = tier.need("above", "say above which prompt context the tier holds: above: 200000");
    const auto threshold = reading.findings.count(above, 1, 1'000'000'000);
    const ContextTier read = read_tier(reading, tier, Tokens{threshold.value_or(0)});
    tier.done();
    if (threshold && *threshold <= row.tiers.back().above.value)
      reading.findings.mistake(above, "the thresholds must rise from tier to tier", "sort the tiers");
    else if (threshold)
      row.tiers.push_back(read);
  }
  map.done();
  if (row.tiers.front().by_service[0].mask() == 0) {
    reading.findings.mistake(at, "a price row without a single price",
                             "write e.g. {input: \"0.60 USD/Mtok\", output: \"0.80 USD/Mtok\"}");
    return std::nullopt;
  }
  return row;
}

void read_prices(Reading& reading, const Place& at) {
  const auto rows_of = [&](const Place& map) {
    for (const auto& [key, place] : reading.findings.named(map, "price rows"))
      if (auto row = read_price_row(reading, place, key)) add_price_row(reading, std::move(*row));
  };
  if (at.is_list()) {
    for (const Place& entry : reading.findings.list(at, "price maps")) {
      const bool is_file = !entry.is_map() || std::any_of(entry.node->keys.begin(), entry.node->keys.end(),
                                                          [](const yaml::Node& key) { return key.text == "path"; });
      if (is_file)
        include_map(reading, entry);
      else
        rows_of(entry);
    }
  } else if (at.is_map()) {
    rows_of(at);
  } else if (at) {
    include_map(reading, at);
  }
  // Prices written on a destination become rows too, so that there is one way to price a request.
  for (const auto& [id, place] : reading.destinations) {
    Map map(reading.findings, place);
    const Place price = map.get("price");
    if (!price) continue;
    if (auto row = read_price_row(reading, price, "destination:" + id)) add_price_row(reading, std::move(*row));
  }
}

}  // namespace ace::fleet_file
