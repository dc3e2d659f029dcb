/// The report as one JSON object, section by section.
#include <fmt/core.h>

#include "report/json_sections.h"

namespace ace {
namespace report {

Json share(Usd part, Usd whole) {
  if (whole.nano <= 0) return nullptr;
  return static_cast<double>(part.nano) / static_cast<double>(whole.nano);
}
Json share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return nullptr;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace report

namespace {

/// All that a person chose, so that the report can be made again from itself, its trace and its fleet.
report::Json choices(const ReportInput& input) {
  const auto time = [](Instant t, Instant open) { return t == open ? report::Json() : report::Json(to_rfc3339(t)); };
  report::Json names = report::Json::array();
  for (const auto& [from, to] : input.options.naming.model_map) names.push_back({from, to});
  report::Json held = report::Json::array();
  for (std::size_t d = 0; d < input.options.held.size(); ++d)
    if (input.options.held[d]) held.push_back(input.fleet->fleet().destinations[d].name);
  return {{"model", input.options.naming.model},
          {"held", held},
          {"model_map", names},
          {"window_from", time(input.options.from, Instant::min())},
          {"window_to", time(input.options.to, Instant::max())},
          {"format", input.read.format},
          {"columns", input.read.columns},
          {"tz", input.read.tz},
          {"delimiter", input.read.delimiter},
          {"sort", input.read.sort},
          {"on_bad_row", input.read.on_bad_row},
          {"salted", input.read.salted},
          {"gaps_digest", input.read.gaps_digest}};
}

}  // namespace

std::string to_json(const ReportInput& input) {
  const Analysis& a = *input.analysis;
  const Statement& s = a.statement;
  const Fleet& fleet = input.fleet->fleet();
  const report::Sections w{fleet, *input.fleet, a, s};
  report::Json j;
  j["schema"] = "ace.report/1";
  j["source"] = {
      {"trace", input.trace_name},
      {"format", a.source_format},
      {"fleet", input.fleet_name},
      {"fleet_digest", fmt::format("{:016x}", fleet.digest)},
      {"seed", a.seed},
      {"plant_slowdown", input.options.plant_slowdown ? report::Json(*input.options.plant_slowdown) : report::Json()},
      {"recorded", static_cast<bool>(input.options.record)},
      {"islands", a.islands},
      {"sensitivity", name_of(input.options.sensitivity)},
      {"settlement", name_of(input.options.settlement)},
      {"idle", name_of(input.options.idle)},
      {"choices", choices(input)}};
  j["window"] = {{"from", to_rfc3339(s.from)},
                 {"to", to_rfc3339(s.to)},
                 {"seconds", static_cast<double>(nanos(s.to - s.from)) / 1e9},
                 {"shorter_than_7_days", s.to - s.from < 7 * kDay}};
  j["coverage"] = w.coverage();
  j["headline"] = w.headline();
  j["baselines"] = w.baselines();
  j["waterfall"] = w.waterfall_bars();
  j["levers"] = w.levers();
  j["unattributed"] = {{"claimed_usd", report::usd(s.claimed.unattributed)},
                       {"counted_usd", report::usd(s.counted.unattributed)}};
  j["service"] = w.service();
  j["realised"] = w.realised(input.comparison);
  j["goodput"] = w.goodput();
  j["gates"] = w.gates();
  j["fixed_cost"] = w.fixed_cost();
  j["destinations"] = w.destinations();
  j["bounds"] = w.bounds();
  j["sensitivity"] = w.sensitivity();
  j["supply_curves"] = w.supply_curves();
  j["knees"] = w.knees();
  j["latency_curves"] = w.latency();
  j["slo_classes"] = w.slo_classes();
  j["chargeback"] = w.chargeback();
  j["settlement"] = w.settlement();
  j["series"] = w.series();
  j["assumptions"] = a.assumptions;
  return j.dump(1, ' ', true) + "\n";
}

}  // namespace ace
