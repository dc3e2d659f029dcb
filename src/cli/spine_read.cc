#include <fmt/format.h>

#include <deque>
#include <ostream>

#include "cli/files.h"
#include "cli/spine.h"
#include "core/ids.h"
#include "core/text.h"

namespace ace::cli {
namespace {

struct Arguments {
  std::string directory, archive, key, checkpoint;
  std::uint64_t count = 10, from = 0;
  bool json = false;
};

/// One event as one line: "    42 2026-11-30T09:42:00Z completed 01h... tenant 3, 61 bytes".
std::string line_of(const spine::Frame& frame, bool json) {
  const Result<event::Record> record = event::decode(frame.payload);
  const bool conflict = frame.type == spine::RecordType::conflict;
  if (!record && !json)
    return fmt::format("{:>10} of a kind that is not known here, {} bytes\n", frame.sequence, frame.payload.size());
  if (!record)  // its bytes are all that can be said
    return fmt::format(R"({{"record": {}, "kind": null, "durability": "{}", "conflict": {}, "event_base64": "{}"}})"
                       "\n",
                       frame.sequence, spine::name_of(frame.durability), conflict, to_base64(frame.payload));
  const event::Key key = event::key_of(*record);
  const std::string at = to_rfc3339(event::at_of(record->event));
  if (!json) {
    return fmt::format("{:>10} {} {} {} tenant {}, {} bytes{}\n", frame.sequence, at, event::name_of(key.kind),
                       to_base32(key.id.high, key.id.low), key.tenant, frame.payload.size(),
                       conflict ? ", a conflict: kept apart from the event of this id" : "");
  }
  return fmt::format(
      R"({{"record": {}, "kind": "{}", "id": "{}", "ordinal": {}, "tenant": {}, "snapshot": {}, "at": "{}", )"
      R"("durability": "{}", "conflict": {}, "event_base64": "{}"}})"
      "\n",
      frame.sequence, event::name_of(key.kind), to_base32(key.id.high, key.id.low), key.ordinal, key.tenant,
      record->snapshot, at, spine::name_of(frame.durability), conflict, to_base64(frame.payload));
}

bool shown(const spine::Frame& frame) { return frame.type != spine::RecordType::checkpoint; }

Result<void> print_summary(const spine::LogSummary& s, bool json, std::ostream& out) {
  if (json) {
    out << fmt::format(
        R"({{"log": "{}", "id": "{}", "segments": {}, "segments_pruned": {}, "records_first": {}, "records_next": {}, )"
        R"("events": {}, "events_relaxed": {}, "conflicts": {}, "checkpoints": {}, "bytes": {}, "payload_bytes": {}, )"
        R"("root": "{}", "chain": "{}", "torn": {}}})"
        "\n",
        s.origin, to_hex({reinterpret_cast<const char*>(s.id.data()), s.id.size()}), s.segments, s.pruned_segments,
        s.first, s.next, s.events, s.relaxed, s.conflicts, s.checkpoints, s.bytes, s.payload_bytes,
        to_hex(view(s.root)), to_hex(view(s.chain)), s.torn ? json_text(s.torn->what()) : "null");
    return {};
  }
  out << fmt::format("log          {}\nsegments     {} ({} pruned)\nrecords      {} to {}\n", s.origin, s.segments,
                     s.pruned_segments, s.first, s.next);
  out << fmt::format("events       {} ({} bytes each on average, as they lie)\n",
                     grouped(static_cast<int128>(s.events)), s.events == 0 ? 0 : s.bytes / s.events);
  if (s.relaxed > 0) out << fmt::format("relaxed      {} acknowledged before they were durable\n", s.relaxed);
  out << fmt::format("conflicts    {}\ncheckpoints  {}\nroot         {}\nchain        {}\n", s.conflicts, s.checkpoints,
                     to_hex(view(s.root)), to_hex(view(s.chain)));
  if (s.torn) out << "torn tail    " << s.torn->what() << "\n";
  return {};
}

Result<spine::LogSummary> read(const Arguments& a, const std::function<Result<void>(const spine::Frame&)>& visit) {
  Result<LogView> log = LogView::open(a.directory, a.archive);
  if (!log) return std::move(log).error();
  spine::ReadOptions options;
  options.from = a.from;
  if (!a.key.empty()) {
    const Result<spine::PublicKey> key = public_key_from(a.key);
    if (!key) return Error(key.error());
    options.key = *key;
  }
  return spine::read_log(log->disk(), options, visit);
}

Result<void> stat(const Arguments& a, Context& context) {
  const Result<spine::LogSummary> s = read(a, [](const spine::Frame&) { return Result<void>(); });
  return s ? print_summary(*s, a.json, *context.out) : Result<void>(s.error());
}

Result<void> tail(const Arguments& a, Context& context) {
  std::deque<std::string> lines;
  const Result<spine::LogSummary> s = read(a, [&](const spine::Frame& frame) -> Result<void> {
    if (!shown(frame)) return {};
    lines.push_back(line_of(frame, a.json));
    if (lines.size() > a.count) lines.pop_front();
    return {};
  });
  for (const std::string& line : lines) *context.out << line;
  return s ? Result<void>() : s.error();
}

Result<void> export_all(const Arguments& a, Context& context) {
  const Result<spine::LogSummary> s = read(a, [&](const spine::Frame& frame) -> Result<void> {
    if (shown(frame)) *context.out << line_of(frame, true);
    return context.out->good() ? Result<void>() : Error(Errc::unavailable, "cannot write the export; is there room?");
  });
  return s ? Result<void>() : s.error();
}

/// The checkpoint held outside must be the beginning of this log.
Result<void> agrees(const Arguments& a) {
  const Result<std::string> note = read_file(a.checkpoint);
  if (!note) return Error(note.error());
  const Result<spine::PublicKey> key = public_key_from(a.key);
  if (!key) return Error(key.error());
  const Result<spine::Checkpoint> held = spine::checkpoint_from(*note, *key);
  if (!held) return Error(held.error()).with(a.checkpoint);
  Result<LogView> log = LogView::open(a.directory, a.archive);
  if (!log) return std::move(log).error();
  Result<spine::LogTree> tree = spine::LogTree::read(log->disk(), [](const spine::Frame&) { return Result<void>(); });
  if (!tree) return std::move(tree).error();
  return tree->agrees(*held);
}

Result<void> verify(const Arguments& a, Context& context) {
  const Result<spine::LogSummary> s = read(a, [](const spine::Frame&) { return Result<void>(); });
  // Here damage is the answer, not bad input.
  if (!s) return Error(s.error().code() == Errc::corrupt ? Errc::check_failed : s.error().code(), s.error().what());
  if (s->torn) *context.err << "ace: a torn tail: " << s->torn->what() << "\n";
  if (!a.checkpoint.empty())
    if (Result<void> held = agrees(a); !held) return held;
  *context.out << fmt::format("holds: {} records, {} checkpoints{}, root {}\n", s->next - s->first, s->checkpoints,
                              a.key.empty() ? " (signatures not checked: no --key)" : "", to_hex(view(s->root)));
  return {};
}

}  // namespace

void add_spine_read(CLI::App& spine, Context& context) {
  const auto add = [&](const char* name, const char* what, Result<void> (*run)(const Arguments&, Context&)) {
    auto a = std::make_shared<Arguments>();
    CLI::App* command = spine.add_subcommand(name, what);
    command->add_option("directory", a->directory, "of the log")->required();
    command->add_option("--archive", a->archive, kArchiveHelp)->type_name("DIR");
    command->callback([a, &context, run] {
      if (Result<void> done = run(*a, context); !done) context.fail(done.error());
    });
    return std::pair(command, a);
  };
  const auto [stat_command, s] = add("stat", "How many records, how large, which root", stat);
  stat_command->add_flag("--json", s->json, "one JSON object");
  const auto [tail_command, t] = add("tail", "The last events", tail);
  tail_command->add_option("-n", t->count, "how many")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 62))
      ->capture_default_str();
  tail_command->add_flag("--json", t->json, "JSON lines");
  const auto [export_command, e] = add("export", "Every event as a line of JSON, its bytes in base64", export_all);
  export_command->add_option("--from", e->from, "first record")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 62))
      ->type_name("RECORD");
  const auto [verify_command, v] =
      add("verify", "Check every record, the chain, the tree, the seals, the checkpoints", verify);
  CLI::Option* key = verify_command->add_option("--key", v->key, "public key that must have signed every checkpoint")
                         ->type_name("HEX");
  verify_command->add_option("--checkpoint", v->checkpoint, "a checkpoint held outside, which this log must continue")
      ->type_name("FILE")
      ->needs(key);
}

}  // namespace ace::cli
