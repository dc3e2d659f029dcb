#include <fmt/format.h>

#include <charconv>
#include <ostream>

#include "cli/files.h"
#include "cli/spine.h"
#include "core/ids.h"
#include "core/text.h"

namespace ace::cli {
namespace {

struct Arguments {
  std::string directory, archive, what, kind, from, against, out = "-";
};

/// A record that may be the one meant.
struct Match {
  std::uint64_t sequence = 0;
  std::string kind, bytes;
};

std::optional<std::uint64_t> record_number(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<Match> only(const std::vector<Match>& matches, const Arguments& a) {
  if (matches.size() == 1) return matches.front();
  if (matches.empty())
    return Error(Errc::not_found, fmt::format("{} holds no record {}{}", a.directory, a.what,
                                              a.kind.empty() ? "" : " of kind " + a.kind));
  std::vector<std::string> names;
  for (const Match& m : matches) names.push_back(fmt::format("{} ({})", m.sequence, m.kind));
  return Error(Errc::bad_input,
               fmt::format("{} names {} records; which of them? {}", a.what, names.size(), listed(names, 10)));
}

Result<std::string> note_against(const Arguments& a, const spine::LogTree& tree) {
  if (!a.against.empty()) return read_file(a.against);
  if (!tree.summary().last_note.empty()) return tree.summary().last_note;
  return Error(Errc::bad_input, a.directory + " holds no checkpoint yet; make one with `ace spine checkpoint`");
}

Result<void> prove_record(const Arguments& a, spine::Disk& disk, std::string& proof) {
  const std::optional<std::uint64_t> number = record_number(a.what);
  const Result<event::EventId> id = number ? Result<event::EventId>(event::EventId{}) : event_id_from(a.what);
  if (!id) return Error(id.error()).with("which record? its number or the id of its event");
  std::vector<Match> matches;
  Result<spine::LogTree> tree = spine::LogTree::read(disk, [&](const spine::Frame& frame) -> Result<void> {
    if (number && frame.sequence != *number) return {};
    std::string kind = "checkpoint";
    if (frame.type != spine::RecordType::checkpoint) {
      const Result<event::Key> key = event::key_from(frame.payload);
      if (!number && (!key || key->id != *id)) return {};
      kind = key ? event::name_of(key->kind) : "of a kind that is not known here";
      if (frame.type == spine::RecordType::conflict) kind += " conflict";
    } else if (!number) {
      return {};
    }
    if (a.kind.empty() || a.kind == kind) matches.push_back({frame.sequence, kind, std::string(frame.bytes)});
    return {};
  });
  if (!tree) return std::move(tree).error();
  const Result<Match> match = only(matches, a);
  if (!match) return Error(match.error());
  const Result<std::string> note = note_against(a, *tree);
  if (!note) return Error(note.error()).with("the checkpoint to prove against");
  Result<std::string> text = spine::prove_inclusion(*tree, match->sequence, match->bytes, *note);
  if (!text && text.error().code() == Errc::bad_input && a.against.empty())
    return std::move(text).error().with("the last checkpoint in the log; make another with `ace spine checkpoint`");
  if (!text) return std::move(text).error();
  proof = *std::move(text);
  return {};
}

Result<void> prove(const Arguments& a, Context& context) {
  if (a.what.empty() == a.from.empty())
    return Error(Errc::bad_input, "prove what? a RECORD or EVENT_ID, or that the log continues the checkpoint --from");
  Result<LogView> log = LogView::open(a.directory, a.archive);
  if (!log) return std::move(log).error();
  std::string proof;
  if (a.from.empty()) {
    if (Result<void> done = prove_record(a, log->disk(), proof); !done) return done;
  } else {
    const Result<std::string> older = read_file(a.from);
    if (!older) return Error(older.error());
    Result<spine::LogTree> tree = spine::LogTree::read(log->disk(), [](const spine::Frame&) { return Result<void>(); });
    if (!tree) return std::move(tree).error();
    const Result<std::string> newer = note_against(a, *tree);
    if (!newer) return Error(newer.error());
    Result<std::string> text = spine::prove_consistency(*tree, *older, *newer);
    if (!text) return std::move(text).error();
    proof = *std::move(text);
  }
  if (a.out != "-") return write_file(a.out, proof);
  *context.out << proof;
  return {};
}

}  // namespace

void add_spine_prove(CLI::App& spine, Context& context) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = spine.add_subcommand(
      "prove",
      "Prove that a record is in the log, or that the log continues a checkpoint; `ace verify --proof` checks it "
      "without the log");
  command->add_option("directory", a->directory, "of the log")->required();
  command->add_option("--archive", a->archive, kArchiveHelp)->type_name("DIR");
  command->add_option("record", a->what, "number of the record, or id of its event")->type_name("RECORD|EVENT_ID");
  command->add_option("--kind", a->kind, "of the event, where several have the id, as `ace spine tail` prints it")
      ->type_name("KIND");
  command->add_option("--from", a->from, "an older checkpoint: prove that the log continues it")->type_name("FILE");
  command->add_option("--against", a->against, "checkpoint to prove against; the last one in the log if not given")
      ->type_name("FILE");
  command->add_option("--out", a->out, "file, or - for standard output")->capture_default_str();
  command->callback([a, &context] {
    if (Result<void> done = prove(*a, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
