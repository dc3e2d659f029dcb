#include "cli/replay_arguments.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>
#include <thread>

#include "cli/files.h"
#include "core/csv.h"
#include "core/hash.h"
#include "core/text.h"

namespace ace::cli {
namespace {

Result<BaselineKind> baseline_from(const std::string& name) {
  for (const BaselineKind kind :
       {BaselineKind::all_payg, BaselineKind::status_quo, BaselineKind::round_robin, BaselineKind::all_payg_uncached})
    if (name == name_of(kind)) return kind;
  return Error(Errc::bad_input,
               "--baseline: expected all-payg, status-quo, round-robin or all-payg-uncached, got \"" + name + "\"");
}

std::string models_of(const Fleet& fleet) {
  std::vector<std::string> names;
  for (const Model& model : fleet.models) names.push_back(model.name);
  return listed(names, 8);
}

/// "name,fleet name" per line, each name once; # starts a comment.
Result<std::vector<std::pair<std::string, std::string>>> model_map_from(const std::string& path, const Fleet& fleet) {
  Result<std::string> text = read_file(path);
  if (!text) return std::move(text).error().with("loading --model-map");
  std::vector<std::pair<std::string, std::string>> map;
  CsvReader reader(*text);
  CsvRow row;
  while (true) {
    Result<bool> more = reader.next(row);
    if (!more) return std::move(more).error().with("reading " + path);
    if (!*more) return map;
    if (!row.fields.empty() && row.fields[0].starts_with('#')) continue;
    const auto wrong = [&](const std::string& what) {
      return Error(Errc::bad_input, path + ":" + std::to_string(row.line) + ": " + what);
    };
    if (row.fields.size() != 2) return wrong("expected two fields, the trace's model and the fleet's");
    if (!fleet.model(row.fields[1]))
      return wrong(fmt::format("the fleet has no model \"{}\"; it has {}", row.fields[1], models_of(fleet)));
    for (const auto& [from, to] : map)
      if (from == row.fields[0]) return wrong(fmt::format("\"{}\" is mapped already, to {}", from, to));
    map.emplace_back(row.fields[0], row.fields[1]);
  }
}

/// "from,to" per line as RFC 3339 times; # starts a comment.
Result<SpineGaps> gaps_from(const std::string& path, const std::string& text) {
  std::vector<SpineGap> gaps;
  CsvReader reader(text);
  CsvRow row;
  while (true) {
    Result<bool> more = reader.next(row);
    if (!more) return std::move(more).error().with("reading " + path);
    if (!*more) return SpineGaps(std::move(gaps));
    if (!row.fields.empty() && row.fields[0].starts_with('#')) continue;
    const auto wrong = [&](const std::string& what) {
      return Error(Errc::bad_input, path + ":" + std::to_string(row.line) + ": " + what +
                                        "; write e.g. 2026-11-01T03:00:00Z,2026-11-01T03:20:00Z");
    };
    if (row.fields.size() != 2) return wrong("expected two fields, where the gap begins and ends");
    if (gaps.empty() && row.fields[0] == "from" && row.fields[1] == "to") continue;  // a header
    const Result<Instant> from = parse_rfc3339(row.fields[0]), to = parse_rfc3339(row.fields[1]);
    if (!from || !to) return wrong((from ? to : from).error().what());
    if (*from >= *to) return wrong("the gap ends before it begins");
    gaps.push_back({*from, *to});
  }
}

}  // namespace

void add_naming_arguments(CLI::App& command, NamingArguments& a) {
  command.add_option("--fleet", a.fleet, "fleet file (docs/FLEET.md)")->required()->type_name("FILE");
  command.add_option("--prices", a.prices, "price map in the community's JSON shape")->type_name("MAP");
  command.add_option("--model", a.model, "fleet model that every request asks for, whatever the trace says")
      ->type_name("NAME");
  command.add_option("--model-map", a.model_map, "CSV of trace model, fleet model")->type_name("FILE");
}

Result<Naming> naming_from(const NamingArguments& a, const Fleet& fleet) {
  Naming naming;
  naming.model = a.model;
  if (!a.model.empty() && !fleet.model(a.model))
    return Error(Errc::bad_input, "--model: the fleet has no model \"" + a.model + "\"; it has " + models_of(fleet));
  if (a.model_map.empty() && a.model_pairs.empty()) return naming;
  auto map = a.model_pairs.empty() ? model_map_from(a.model_map, fleet)
                                   : Result<std::vector<std::pair<std::string, std::string>>>(a.model_pairs);
  if (!map) return std::move(map).error();
  for (const auto& [from, to] : *map)
    if (!fleet.model(to))
      return Error(Errc::bad_input, "model map: the fleet has no model \"" + to + "\"; it has " + models_of(fleet));
  naming.model_map = std::move(*map);
  return naming;
}

void add_reading_arguments(CLI::App& command, ReplayArguments& a) {
  add_naming_arguments(command, a);
  command.add_option("--window", a.window, "arrivals from,to (RFC 3339); either may be empty")->type_name("FROM,TO");
  command
      .add_option("--gaps", a.gaps,
                  "CSV of from,to (RFC 3339): stretches of which nothing was recorded; what they save is disallowed")
      ->type_name("FILE");
  command
      .add_option("--threads", a.threads,
                  "threads for independent parts of the fleet; 0 = all cores (the result is the same)")
      ->capture_default_str();
  add_format_arguments(command, a.format);
  command.add_flag("--no-spool", a.no_spool, "do not keep a temporary column file; every pass reads the trace again");
  command
      .add_option(
          "--held", a.held,
          "destinations, with commas, that were paid for already when a log that states costs was written: their fixed "
          "cost stands on the status quo's side too (docs/LEDGER.md)")
      ->delimiter(',')
      ->type_name("NAMES");
  command.add_option(
      "--plant-slowdown", a.plant_slowdown,
      "servers of the simulated world take this factor longer than the fleet file says, from 1 (just what the "
      "dispatcher believes) up; without it 1, and 1.17 where nobody measured (docs/PLANT.md)");
}

void add_replay_arguments(CLI::App& command, ReplayArguments& a) {
  command.add_option("trace", a.trace, "request log: a file (plain, .gz, .zst) or - for standard input");
  command
      .add_option(
          "--spine", a.spine,
          "in the place of a trace: the requests recorded on the event spine in this directory, and what became "
          "of them beside what would have")
      ->type_name("DIR");
  command.add_option("--snapshot", a.snapshot, "of a spine: only requests recorded under this fleet snapshot")
      ->type_name("N");
  add_reading_arguments(command, a);
  command.get_option("--fleet")->required(false)->description(
      "fleet file (docs/FLEET.md); of a spine, if absent, the last one recorded");
  command.add_option("--baseline", a.baseline, "what the headline compares with")
      ->check(CLI::IsMember({"all-payg", "status-quo", "round-robin", "all-payg-uncached"}))
      ->capture_default_str();
  command.add_option("--seed", a.seed, "seed of every random draw")->check(whole_number())->capture_default_str();
  command.add_flag("--bound", a.bound, "also compute how much any dispatch, and any plan, could have saved");
  command.add_option("--sensitivity", a.sensitivity, "replays with other prices, demand and fleets")
      ->check(CLI::IsMember({"sample", "full", "off"}))
      ->capture_default_str();
  command.add_option("--settlement", a.settlement, "what a cell's requests are charged")
      ->check(CLI::IsMember({"pooled", "clearing", "as-dispatched"}))
      ->capture_default_str();
  command.add_option("--idle", a.idle, "who pays for idle capacity")
      ->check(CLI::IsMember({"by-usage", "by-reservation", "even", "keep-idle"}))
      ->capture_default_str();
}

namespace {

/// The fleet that is asked for; of a spine, else the last one that was recorded on it.
struct LoadedFleet {
  Fleet fleet;
  std::vector<FleetText> files;
  std::string name;
};
Result<LoadedFleet> fleet_for(const ReplayArguments& a, Snapshots* snapshots, Context& context) {
  LoadedFleet loaded;
  if (!a.fleet.empty()) {
    Result<FleetReading> reading = load_fleet(a.fleet, a.prices, &loaded.files);
    if (!reading) return std::move(reading).error();
    for (const std::string& warning : reading->warnings) *context.err << "ace: warning: " << warning << "\n";
    loaded.fleet = std::move(reading->fleet);
    loaded.name = std::filesystem::path(a.fleet).filename().string();
    return loaded;
  }
  if (snapshots == nullptr) return Error(Errc::bad_input, "--fleet is required: the fleet file (docs/FLEET.md)");
  if (!a.prices.empty())
    return Error(Errc::bad_input, "--prices goes with --fleet; a fleet of the spine has the prices of its day");
  const std::uint64_t number = snapshots->latest();
  if (number == 0) return Error(Errc::bad_input, a.spine + ": no fleet is recorded on this spine; give --fleet");
  const Result<const Snapshot*> snapshot = snapshots->at(number);
  if (!snapshot) return Error(snapshot.error()).with(a.spine + " (or give --fleet)");
  loaded.fleet = (*snapshot)->fleet();
  loaded.fleet.number = 1;
  loaded.name = snapshots->changed(number)->files.front().name;
  return loaded;
}

/// @return bad_input for a name that is none, or is of an API: nobody holds that
Result<void> find_held(const std::vector<std::string>& names, const Fleet& fleet, std::vector<bool>& held) {
  for (const std::string& name : names) {
    const std::optional<DestinationId> id = fleet.destination(name);
    if (!id) return Error(Errc::bad_input, "--held: the fleet has no destination \"" + name + "\"");
    if (fleet.destinations[id->value].tier == Tier::payg)
      return Error(Errc::bad_input, "--held: " + name + " is paid by use, so nobody held it; leave it out");
    held.resize(fleet.destinations.size());
    held[id->value] = true;
  }
  return {};
}

/// Requests of a spine, what became of them, and what becomes of them now.
Result<void> open_recorded(const ReplayArguments& a, Prepared& p) {
  Realised::Options realised;
  realised.snapshot = [snapshots = p.snapshots.get()](std::uint64_t number) { return snapshots->at(number); };
  realised.from = p.options.from;
  realised.to = p.options.to;
  realised.only = a.snapshot;
  p.realised = std::make_unique<Realised>(std::move(realised));
  SpineTrace::Options options;
  options.snapshot = a.snapshot;
  options.each = [heard = p.realised.get()](const event::Record& record) { return heard->hear(record); };
  Result<std::unique_ptr<RequestSource>> source = open_spine(a.spine, a.archive, std::move(options));
  if (!source) return std::move(source).error();
  p.source = *std::move(source);
  p.options.each = [&p](const Settled& settled) { p.predicted.add(p.snapshot, settled); };
  return {};
}

}  // namespace

Result<std::unique_ptr<Prepared>> prepare(const ReplayArguments& given, Context& context) {
  ReplayArguments a = given;
  if (!a.spine.empty() && !a.trace.empty())
    return Error(Errc::bad_input, "give a trace or --spine, not both: \"" + a.trace + "\" and \"" + a.spine + "\"");
  if (a.spine.empty() && is_spine(a.trace)) a.spine = a.trace;
  if (a.spine.empty() && a.trace.empty())
    return Error(Errc::bad_input, "trace is required: a request log, - for standard input, or --spine DIR");
  if (a.spine.empty() && a.snapshot)
    return Error(Errc::bad_input, "--snapshot goes with --spine: a trace is of no snapshot");
  if (a.spine.empty() && !a.archive.empty())
    return Error(Errc::bad_input, "--archive goes with --spine: a trace has no archive");
  std::unique_ptr<Snapshots> snapshots;
  if (!a.spine.empty()) {
    Result<std::unique_ptr<Snapshots>> read = Snapshots::read(a.spine, a.archive);
    if (!read) return std::move(read).error();
    snapshots = *std::move(read);
  }
  Result<LoadedFleet> loaded = fleet_for(a, snapshots.get(), context);
  if (!loaded) return std::move(loaded).error();
  auto prepared = std::make_unique<Prepared>(std::move(loaded->fleet));
  Prepared& p = *prepared;
  p.files = std::move(loaded->files);
  p.snapshots = std::move(snapshots);
  p.stable_masks = !a.format.salt_file.empty() || p.snapshots;
  const std::filesystem::path from = a.spine.empty() ? a.trace : a.spine;
  p.trace_name = a.trace == "-"        ? "standard input"
                 : from.has_filename() ? from.filename().string()
                                       : from.parent_path().filename().string();
  p.fleet_name = loaded->name;

  const Result<BaselineKind> baseline = baseline_from(a.baseline);
  if (!baseline) return Error(baseline.error());
  p.options.baseline = *baseline;
  const auto one_of = [](const std::string& option, const std::string& value,
                         std::initializer_list<const char*> words) -> Result<std::size_t> {
    std::size_t at = 0;
    std::string all;
    for (const char* word : words) {
      if (value == word) return at;
      all += (at++ == 0 ? "" : ", ") + std::string(word);
    }
    return Error(Errc::bad_input, option + ": expected one of " + all + ", got \"" + value + "\"");
  };
  const Result<std::size_t> sensitivity = one_of("--sensitivity", a.sensitivity, {"off", "sample", "full"});
  const Result<std::size_t> settlement = one_of("--settlement", a.settlement, {"pooled", "clearing", "as-dispatched"});
  const Result<std::size_t> idle = one_of("--idle", a.idle, {"by-usage", "by-reservation", "even", "keep-idle"});
  for (const auto* choice : {&sensitivity, &settlement, &idle})
    if (!*choice) return Error(choice->error());
  p.options.sensitivity = static_cast<SensitivityMode>(*sensitivity);
  p.options.settlement = static_cast<SettlementPolicy>(*settlement);
  p.options.idle = static_cast<IdlePolicy>(*idle);
  p.options.bound = a.bound;
  p.options.seed = a.seed;
  p.options.threads = a.threads != 0 ? a.threads : std::max(1U, std::thread::hardware_concurrency());
  if (a.plant_slowdown && !(*a.plant_slowdown >= 1.0 && *a.plant_slowdown <= 1000.0))  // not a number is neither
    return Error(Errc::bad_input, fmt::format("--plant-slowdown: expected a number from 1 (as the fleet file says) to "
                                              "1000, got {}",
                                              *a.plant_slowdown));
  p.options.plant_slowdown = a.plant_slowdown;
  if (Result<void> found = find_held(a.held, p.fleet, p.options.held); !found) return std::move(found).error();
  if (a.recorded) p.options.record = [](const event::Record&) { return Result<void>(); };
  Result<Naming> naming = naming_from(a, p.fleet);
  if (!naming) return std::move(naming).error();
  p.options.naming = *std::move(naming);
  if (!a.window.empty()) {
    const std::size_t comma = a.window.find(',');
    if (comma == std::string::npos)
      return Error(Errc::bad_input,
                   "--window: expected FROM,TO as RFC 3339 times, e.g. 2026-11-01T00:00:00Z,2026-11-08T00:00:00Z");
    for (const bool first : {true, false}) {
      const std::string text = first ? a.window.substr(0, comma) : a.window.substr(comma + 1);
      if (text.empty()) continue;
      const Result<Instant> t = parse_rfc3339(text);
      if (!t) return Error(t.error()).with("--window");
      (first ? p.options.from : p.options.to) = *t;
    }
  }

  p.read = {a.format.format,     a.format.columns, a.format.tz,    a.format.delimiter,
            a.format.on_bad_row, a.format.sort,    p.stable_masks, {}};
  if (!a.gaps.empty()) {
    Result<std::string> text = read_file(a.gaps);
    if (!text) return std::move(text).error().with("loading --gaps");
    p.read.gaps_digest = fmt::format("{:016x}", hash_of(*text));
    Result<SpineGaps> gaps = gaps_from(a.gaps, *text);
    if (!gaps) return std::move(gaps).error();
    p.options.gaps = std::move(*gaps);
  }

  if (!a.spine.empty()) {
    if (Result<void> opened = open_recorded(a, p); !opened) return std::move(opened).error();
    return prepared;  // in order of time on the disk already
  }
  std::vector<std::string> models;
  for (const auto& [name, to] : p.options.naming.model_map) models.push_back(name);
  const Result<ReadOptions> read = read_options(a.format, &p.fleet, models);
  if (!read) return Error(read.error());
  Result<std::unique_ptr<RequestSource>> source = open_trace(a.trace, *read);
  if (!source) return std::move(source).error();
  // Further passes (sensitivity, bounds, --requests) read a column file instead of the trace.
  const bool again = a.read_again || p.options.bound || p.options.sensitivity != SensitivityMode::off;
  if (again && !a.no_spool) {
    source = spooled(std::move(*source));
    if (!source) return std::move(source).error().with("reading the trace");
  }
  p.source = std::move(*source);
  return prepared;
}

}  // namespace ace::cli
