#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <ostream>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "cli/replay_arguments.h"
#include "core/text.h"
#include "replay/replay.h"

namespace ace::cli {
namespace {

struct Arguments {
  std::string log, spine, checkpoint;
  NamingArguments names;
  FormatArguments format;
  bool json = false;
};

/// What became of the rows of a log.
struct Ingested {
  std::uint64_t rows = 0, recorded = 0;
  std::vector<Unreplayed> left_out;
  std::array<std::uint64_t, kOrigins> by_origin{};  ///< of those recorded that no cache answered
  std::uint64_t priced = 0;                         ///< of those recorded: the log says what they cost
};

/// @param stable is the key behind masks and ids the same in every run?
Result<Ingested> ingest(RequestSource& source, const Snapshot& snapshot, const Naming& naming, bool stable,
                        Recording& recording, Progress& progress) {
  Ingested all;
  Resolver resolve(snapshot, source, naming);
  LogEvents events(snapshot, source);
  std::vector<Arrival> batch(1024);
  while (true) {
    const Result<std::size_t> got = source.next(batch);
    if (!got) return Error(got.error());
    if (*got == 0) break;
    for (const Arrival& row : std::span(batch).first(*got)) {
      ++all.rows;
      if (row.id != 0 && !stable)
        return Error(
            Errc::bad_input,
            "the rows of this log have ids of their own, which tell on a spine whether a row is there already; "
            "they are masked like names, with a key that is random for this run: give one that stays, with "
            "--salt-file FILE (openssl rand -hex 32 > FILE; keep it, it is what makes the next ingestion of "
            "the same rows add nothing)");
      const std::optional<Demand> demand = resolve(row);
      if (!demand) continue;
      for (event::Record& record : events(*demand))
        if (Result<void> done = recording(std::move(record)); !done) return std::move(done).error();
      ++all.recorded;
      if (!row.cache_hit) ++all.by_origin[static_cast<std::size_t>(events.origin())];
      if (row.cost_nano >= 0) ++all.priced;
    }
    progress(source.progress(), all.rows);
  }
  for (const auto& [model, requests] : resolve.unknown())
    all.left_out.push_back({"model not in the fleet: " + (model.empty() ? "none named" : model), requests, 0});
  return all;
}

std::string to_json(const Ingested& all, const Recording::Counts& counts, const RequestSource& source,
                    std::uint64_t snapshot) {
  std::string left_out, skipped, notes;
  for (const Unreplayed& u : all.left_out)
    left_out += fmt::format(R"({}{{"reason": {}, "requests": {}}})", left_out.empty() ? "" : ", ", json_text(u.reason),
                            u.requests);
  for (const SkippedRows& s : source.skipped())
    skipped += fmt::format(R"({}{{"reason": {}, "rows": {}, "first_line": {}}})", skipped.empty() ? "" : ", ",
                           json_text(s.reason), s.count, s.lines.empty() ? 0 : s.lines.front());
  for (const std::string& note : source.notes()) notes += (notes.empty() ? "" : ", ") + json_text(note);
  return fmt::format(R"({{"format": {}, "rows": {}, "requests_recorded": {}, "requests_with_cost": {}, )"
                     R"("destination": {{"known": {}, "not_named": {}, "not_in_fleet": {}, "ambiguous": {}}}, )"
                     R"("events_created": {}, "events_existing": {}, "fleet_snapshot": {}, )"
                     R"("left_out": [{}], "skipped": [{}], "notes": [{}]}})"
                     "\n",
                     json_text(source.format()), all.rows, all.recorded, all.priced, all.by_origin[0], all.by_origin[1],
                     all.by_origin[2], all.by_origin[3], counts.created, counts.exists, snapshot, left_out, skipped,
                     notes);
}

std::string to_text(const Ingested& all, const RequestSource& source) {
  const auto text = [](std::uint64_t count) { return grouped(static_cast<int128>(count)); };
  std::string out = fmt::format("{}: {} rows, {} requests recorded, {} of them with what they cost\n", source.format(),
                                text(all.rows), text(all.recorded), text(all.priced));
  constexpr std::array<const char*, kOrigins> where = {
      "served at a destination of the fleet", "served where the log does not say",
      "served where the fleet has no such destination", "served at one of several destinations of the fleet"};
  for (std::size_t i = 0; i < kOrigins; ++i)
    if (all.by_origin[i] > 0) out += fmt::format("{:>12} {}\n", text(all.by_origin[i]), where[i]);
  for (const Unreplayed& u : all.left_out) out += fmt::format("{:>12} not recorded: {}\n", text(u.requests), u.reason);
  return out;
}

Result<void> run(const Arguments& a, Context& context) {
  std::vector<FleetText> files;
  Result<FleetReading> reading = load_fleet(a.names.fleet, a.names.prices, &files);
  if (!reading) return std::move(reading).error();
  for (const std::string& warning : reading->warnings) *context.err << "ace: warning: " << warning << "\n";
  Fleet& fleet = reading->fleet;
  const Snapshot snapshot(fleet);
  Result<Naming> naming = naming_from(a.names, fleet);
  if (!naming) return std::move(naming).error();
  std::vector<std::string> models;
  for (const auto& [from, to] : naming->model_map) models.push_back(from);
  Result<ReadOptions> options = read_options(a.format, &fleet, models);
  if (!options) return std::move(options).error();
  options->origins = true;
  Result<std::unique_ptr<RequestSource>> source = open_trace(a.log, *options);
  if (!source) return std::move(source).error();
  Result<std::unique_ptr<OpenRecording>> opened = OpenRecording::open(
      a.spine, std::move(files), fleet, snapshot, event::FleetChanged::Source::observed, a.checkpoint, context);
  if (!opened) return std::move(opened).error().with("--spine");
  OpenRecording& recording = **opened;
  const bool stable = !a.format.salt_file.empty();
  const RequestSource& log = **source;
  recording->names({log.tenants(), log.teams(), log.projects(), log.keys()}, stable);
  const Result<Ingested> all = [&] {
    Progress progress(context, "ingesting");
    return ingest(**source, snapshot, *naming, stable, *recording, progress);
  }();
  const std::uint64_t number = recording->number();
  const Result<Recording::Counts> counts = recording.close(context);
  if (!all) return Error(all.error());
  if (!counts) return Error(counts.error()).with("ingesting " + a.log);
  if (all->rows == 0) *context.err << "ace: warning: 0 rows\n";
  if (!a.json) say_what_was_left_out(**source, context);
  *context.out << (a.json ? to_json(*all, *counts, **source, number) : to_text(*all, **source));
  return {};
}

}  // namespace

void add_ingest(CLI::App& app, Context& context) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "ingest",
      "Bring a request log (LiteLLM spend logs, usage exports, any trace) onto an event spine, as what was seen");
  command
      ->add_option("log", a->log, "request log: a file (plain, gzip or zstd, told by content) or - for standard input")
      ->required();
  command->add_option("--spine", a->spine, "directory of the event spine (docs/SPINE.md); made if it is not there")
      ->required()
      ->type_name("DIR");
  command->add_option("--checkpoint", a->checkpoint, kNotOlderHelp)->type_name("FILE");
  add_naming_arguments(*command, a->names);
  add_format_arguments(*command, a->format);
  command->add_flag("--json", a->json, "what became of the rows, as one JSON object");
  command->callback([a, &context] {
    if (Result<void> done = run(*a, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
