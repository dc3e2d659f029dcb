/// ace plan spot evaluate | watch: deadline work on capacity that may be taken away.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/feed.h"
#include "cli/plan.h"
#include "fleet/fleet.h"
#include "plan/spot_evaluation.h"
#include "plan/spot_hazard.h"

namespace ace::cli {
namespace {

using Json = nlohmann::ordered_json;

struct EvaluateArguments {
  std::string availability, start, unit = "1h", step = "5m", every = "1h";
  std::string work, deadline, changeover = "5m", checkpoint = "0s";
  std::int64_t units = 1;
  std::string spot, on_demand, catalog, instance, region;
  double confidence = 0.95;
  bool json = false;
};

Result<Usd> price_from(const std::string& option, const std::string& text) {
  const Result<std::int64_t> nano = parse_decimal(text, 9);
  if (nano && *nano >= 0) return Usd{*nano};
  return Error(Errc::bad_input, fmt::format("{}: expected USD per unit-hour such as 1.25, got \"{}\"", option, text));
}

/// Of a unit-hour: as stated, or of a machine in a catalog or the last day of a price history.
Result<SpotPrices> prices_from(const EvaluateArguments& a) {
  const bool stated = !a.spot.empty() && !a.on_demand.empty(), listed = !a.catalog.empty();
  if (stated == listed || (listed && (a.instance.empty() || a.region.empty())))
    return Error(Errc::bad_input,
                 "say what a unit costs: --spot and --on-demand, or --catalog FILE with --instance and --region");
  SpotPrices prices;
  if (stated) {
    const Result<Usd> spot = price_from("--spot", a.spot), on_demand = price_from("--on-demand", a.on_demand);
    if (!spot) return Error(spot.error());
    if (!on_demand) return Error(on_demand.error());
    prices = {*spot, *on_demand};
  } else {
    const Result<std::string> text = read_feed(a.catalog);
    if (!text) return Error(text.error());
    const Result<CatalogReading> catalog = parse_catalog(*text);
    if (!catalog) return Error(catalog.error()).with(a.catalog);
    for (const auto& [market, into] :
         {std::pair{RentalMarket::spot, &prices.spot}, {RentalMarket::on_demand, &prices.on_demand}}) {
      const bool dated = !catalog->offers.empty() && !catalog->offers.front().date.empty();
      if (dated) {
        const Result<HourlyPrices> history = price_series(*catalog, a.instance, a.region, market);
        if (!history) return Error(history.error()).with(a.catalog);
        *into = history->prices.back();
      } else {
        const Result<Usd> price = list_price(*catalog, a.instance, a.region, market);
        if (!price) return Error(price.error()).with(a.catalog);
        *into = *price;
      }
    }
  }
  if (prices.spot > prices.on_demand)
    return Error(Errc::bad_input,
                 fmt::format("spot at {} is dearer than on demand at {}: nothing to plan, and no spot price either",
                             to_display(prices.spot), to_display(prices.on_demand)));
  return prices;
}

Result<CapacityLog> log_from(const EvaluateArguments& a) {
  const Result<Duration> unit = duration_from("--unit", a.unit);
  if (!unit) return Error(unit.error());
  Instant start{};
  if (!a.start.empty()) {
    const Result<Instant> at = parse_rfc3339(a.start);
    if (!at) return Error(at.error()).with("--start");
    start = *at;
  }
  if (*unit <= Duration{}) return Error(Errc::bad_input, "--unit: expected a time above 0");
  const Result<std::string> text = read_feed(a.availability);
  if (!text) return Error(text.error());
  Result<CapacityLog> log = parse_capacity(*text, start, *unit);
  if (!log) return std::move(log).error().with(a.availability);
  return log;
}

struct Evaluated {
  SpotTask task;
  SpotPrices prices;
  SpotEvaluation evaluation;
  SpotHazard hazard;
  double confidence = 0.0;
};

double share(Usd part, Usd whole) {
  return whole.nano == 0 ? 0.0 : static_cast<double>(part.nano) / static_cast<double>(whole.nano);
}

Json json_of(const Evaluated& e) {
  Json rules = Json::array();
  for (const SpotTally& t : e.evaluation.rules)
    rules.push_back({{"rule", name_of(t.rule)},
                     {"missed_deadlines", t.missed},
                     {"cost_usd", to_decimal(t.cost)},
                     {"spot_hours", to_seconds(t.on_spot) / 3600.0},
                     {"on_demand_hours", to_seconds(t.paid) / 3600.0},
                     {"redone_hours", to_seconds(t.lost) / 3600.0},
                     {"evictions", t.evictions},
                     {"starts", t.switches}});
  return {{"schema", "ace.spot/1"},
          {"runs", e.evaluation.runs},
          {"availability_share", e.evaluation.availability},
          {"spot_usd_per_hour", to_decimal(e.prices.spot)},
          {"on_demand_usd_per_hour", to_decimal(e.prices.on_demand)},
          {"rules", std::move(rules)},
          {"optimum_usd", to_decimal(e.evaluation.optimum)},
          {"hazard",
           {{"unit_hours", e.hazard.unit_hours()},
            {"losses", e.hazard.losses()},
            {"per_unit_hour", e.hazard.rate()},
            {"chance_per_hour", e.hazard.chance_per_hour()},
            {"confidence", e.confidence},
            {"chance_per_hour_upper", e.hazard.chance_per_hour(e.confidence)}}}};
}

std::string text_of(const Evaluated& e) {
  const Usd whole = e.evaluation.rules.front().cost;
  std::string out = fmt::format("{} starts; spot was there {:.1f}% of the time; a unit-hour {} spot, {} on demand\n\n",
                                e.evaluation.runs, 100.0 * e.evaluation.availability, to_display(e.prices.spot),
                                to_display(e.prices.on_demand));
  out += fmt::format("{:<18}{:>8}{:>16}{:>12}{:>12}{:>12}{:>11}{:>11}\n", "rule", "missed", "cost", "of on dem.",
                     "spot h", "on dem. h", "redone h", "evictions");
  for (const SpotTally& t : e.evaluation.rules)
    out += fmt::format("{:<18}{:>8}{:>16}{:>11.1f}%{:>12.1f}{:>12.1f}{:>11.1f}{:>11}\n", name_of(t.rule), t.missed,
                       to_display(t.cost), 100.0 * share(t.cost, whole), to_seconds(t.on_spot) / 3600.0,
                       to_seconds(t.paid) / 3600.0, to_seconds(t.lost) / 3600.0, t.evictions);
  out += fmt::format("{:<18}{:>8}{:>16}{:>11.1f}%   with foresight\n", "optimum", 0, to_display(e.evaluation.optimum),
                     100.0 * share(e.evaluation.optimum, whole));
  out += fmt::format(
      "\nhazard {:.2f}% an hour, with {:.0f}% confidence below {:.2f}% ({} losses in {:.0f} unit-hours); for the fleet "
      "file: hazard: \"{:.2f}%/h\"\n",
      100.0 * e.hazard.chance_per_hour(), 100.0 * e.confidence, 100.0 * e.hazard.chance_per_hour(e.confidence),
      e.hazard.losses(), e.hazard.unit_hours(), 100.0 * e.hazard.chance_per_hour(e.confidence));
  return out;
}

Result<void> evaluate(const EvaluateArguments& a, Context& context) {
  Evaluated e;
  e.confidence = a.confidence;
  Duration step{}, every{};
  for (const auto& [option, text, into] : {std::tuple{"--work", &a.work, &e.task.work},
                                           {"--deadline", &a.deadline, &e.task.deadline},
                                           {"--changeover", &a.changeover, &e.task.changeover},
                                           {"--checkpoint", &a.checkpoint, &e.task.checkpoint},
                                           {"--step", &a.step, &step},
                                           {"--every", &a.every, &every}}) {
    const Result<Duration> read = duration_from(option, *text);
    if (!read) return Error(read.error());
    *into = *read;
  }
  if (step < kSecond || every < step)
    return Error(Errc::bad_input, "--step: expected a second or more, and --every no less than --step");
  const Result<SpotPrices> prices = prices_from(a);
  if (!prices) return Error(prices.error());
  if (prices->on_demand.nano > std::numeric_limits<std::int64_t>::max() / a.units)
    return Error(Errc::bad_input, fmt::format("--units: {} at {} each cost more than 9.2 billion USD an hour", a.units,
                                              to_display(prices->on_demand)));
  e.prices = {Usd{prices->spot.nano * a.units}, Usd{prices->on_demand.nano * a.units}};
  const Result<CapacityLog> log = log_from(a);
  if (!log) return Error(log.error());
  if (log->span() / step > 1'000'000)
    return Error(Errc::bad_input, "--step: the trace would have more than a million steps; take longer ones");
  Result<SpotEvaluation> evaluation = evaluate_spot(e.task, e.prices, available_steps(*log, a.units, step), step,
                                                    static_cast<std::size_t>(every / step));
  if (!evaluation) return Error(evaluation.error());
  e.evaluation = *std::move(evaluation);
  e.hazard.learn(*log);
  e.prices = *prices;
  *context.out << (a.json ? json_of(e).dump(1) + "\n" : text_of(e));
  return {};
}

void add_evaluate(CLI::App& spot, Context& context) {
  auto a = std::make_shared<EvaluateArguments>();
  CLI::App* command =
      spot.add_subcommand("evaluate", "What work with a deadline would have cost on a trace of spot capacity, by rule");
  command
      ->add_option("AVAILABILITY", a->availability,
                   "log of units held (docs/FLEET.md, `availability`): a file, - or an http(s) URL")
      ->required();
  command->add_option("--work", a->work, "how long it runs, without losses: 4h")->required();
  command->add_option("--deadline", a->deadline, "after its start: 6h")->required();
  command->add_option("--units", a->units, "that it needs at a time")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--changeover", a->changeover, "each start takes so long")->capture_default_str();
  command
      ->add_option("--checkpoint", a->checkpoint,
                   "an eviction loses what was done since the last one; 0s: the notice is long enough to save all")
      ->capture_default_str();
  command->add_option("--spot", a->spot, "USD per unit-hour");
  command->add_option("--on-demand", a->on_demand, "USD per unit-hour");
  command->add_option(
      "--catalog", a->catalog,
      "in their place: SkyPilot catalog, price history or table of many clouds; a file or an http(s) URL");
  command->add_option("--instance", a->instance, "machine in the catalog");
  command->add_option("--region", a->region, "in the catalog");
  command->add_option("--start", a->start, "of a log that counts from zero (RFC 3339)");
  command->add_option("--unit", a->unit, "of time in a log of time and units")->capture_default_str();
  command->add_option("--step", a->step, "between two looks at the market")->capture_default_str();
  command->add_option("--every", a->every, "how far apart the starts lie")->capture_default_str();
  command->add_option("--confidence", a->confidence, "of the hazard's upper bound")
      ->check(CLI::Range(0.5, 0.999))
      ->capture_default_str();
  command->add_flag("--json", a->json, "one JSON object");
  command->callback([a, &context] {
    if (Result<void> done = evaluate(*a, context); !done) context.fail(done.error());
  });
}

}  // namespace

void add_plan_spot(CLI::App& plan, Context& context) {
  CLI::App* spot = plan.add_subcommand("spot", "Capacity that may be taken away: what it is worth, and when it goes");
  spot->require_subcommand(1);
  add_evaluate(*spot, context);
  add_spot_watch(*spot, context);
}

}  // namespace ace::cli
