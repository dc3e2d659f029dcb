/// ace ledger report, rebuild: what a spine comes to, and whether what is kept beside it is that.
#include <fmt/format.h>

#include <ostream>

#include "cli/ledger_report.h"
#include "cli/spine.h"
#include "core/text.h"
#include "report/report.h"

namespace ace::cli {
namespace {

struct ReportArguments {
  BooksArguments books;
  bool json = false;
};

Result<void> run_report(const ReportArguments& arguments, Context& context) {
  const Result<Books> books = books_of(arguments.books, context);
  if (!books) return Error(books.error());
  const LedgerOfSpine& spine = *books->spine;
  if (spine.log.torn)
    *context.err << "ace: note: the log ends in an unfinished batch that was never acknowledged: "
                 << spine.log.torn->what() << "\n";
  const std::string json = ledger_report(*books, arguments.books.spine);
  *context.out << (arguments.json ? json : to_terminal(json));
  return {};
}

struct RebuildArguments {
  std::string directory, archive;
};

Result<void> run_rebuild(const RebuildArguments& arguments, Context& context) {
  LedgerOptions from_zero;
  from_zero.use_view = false;
  from_zero.archive = arguments.archive;
  Result<LedgerOfSpine> whole = ledger_of(arguments.directory, from_zero);
  if (!whole) return std::move(whole).error().with("folding the ledger of " + arguments.directory);
  // The view, brought up to where the other one stands.
  LedgerOptions going_on;
  going_on.archive = arguments.archive;
  Result<LedgerOfSpine> kept = ledger_of(arguments.directory, going_on);
  if (!kept) return std::move(kept).error();
  const std::string a = whole->ledger.state(), b = kept->ledger.state();
  Sha256 sha;
  const std::string digest = to_hex(view(sha({a})));
  if (kept->log.next != whole->log.next) {
    *context.err << "ace: note: the log grew meanwhile; what was folded from zero is compared with nothing\n";
  } else if (a != b) {
    return Error(Errc::check_failed,
                 fmt::format("the ledger folded from record 0 differs from {}/{}, which went on from record {}: remove "
                             "that file, and report this with the log",
                             arguments.directory, kLedgerView, kept->begun));
  }
  *context.out << fmt::format(
      "holds: {} records folded from zero, {} bytes of state, SHA-256 {}\n       {}\n",
      grouped(static_cast<int128>(whole->log.next)), grouped(static_cast<int128>(a.size())), digest,
      kept->view.empty() ? fmt::format("the view at record {}, brought up to date, has the same bytes",
                                       grouped(static_cast<int128>(kept->begun)))
                         : fmt::format("no view to compare with ({}); it was made", kept->view));
  return {};
}

struct CloseArguments {
  std::string directory, until;
};

Result<void> run_close(const CloseArguments& arguments, Context& context) {
  // The writer first: nobody else adds to the log between folding it and closing its cells.
  WallClock clock;
  if (const Result<std::unique_ptr<PosixDisk>> there = PosixDisk::open(arguments.directory, PosixDisk::Access::read);
      !there)
    return Error(there.error());
  else if (const Result<spine::Log::Identity> log = spine::Log::identity(**there); !log)
    return Error(log.error());
  const Result<spine::Signer> signer = signer_of(arguments.directory);
  if (!signer) return Error(signer.error());
  Result<std::unique_ptr<SpineWriter>> writer =
      SpineWriter::open(arguments.directory, store_options(*signer, spine::Durability::group), clock);
  if (!writer) return std::move(writer).error();
  if (Result<void> flushed = (*writer)->flush(); !flushed) return flushed;
  const Result<LedgerOfSpine> folded = ledger_of(arguments.directory, {});
  if (!folded) return Error(folded.error()).with("folding the ledger of " + arguments.directory);
  Instant until = folded->ledger.latest();
  if (!arguments.until.empty()) {
    const Result<Instant> given = parse_rfc3339(arguments.until);
    if (!given) return Error(given.error()).with("--until");
    until = *given;
  }
  std::size_t cells = 0;
  Usd counted{}, disallowed{};
  for (const Grade grade : folded->ledger.grades()) {
    const Result<std::vector<event::Record>> closing = folded->ledger.to_close(grade, until);
    if (!closing) return Error(closing.error());
    for (const event::Record& record : *closing) {
      const Result<std::string> bytes = event::encode(record);
      if (!bytes) return Error(bytes.error());
      const Result<std::uint64_t> position = (*writer)->append(0, event::key_of(record), *bytes);
      if (!position) return Error(position.error());
      const Result<spine::Appended> settled = (*writer)->wait(0, *position);
      if (!settled) return Error(settled.error());
      if (settled->outcome != spine::Appended::Outcome::created) continue;
      const auto& cell = std::get<event::SettlementClosed>(record.event);
      ++cells;
      counted += cell.counted;
      disallowed += cell.disallowed;
    }
  }
  if (Result<void> closed = (*writer)->close(); !closed) return closed;
  *context.out << fmt::format("{} cells closed of days that had settled by {}: counted {} USD, disallowed {} USD\n",
                              cells, to_rfc3339(until == Instant::min() ? Instant{} : until), to_decimal(counted),
                              to_decimal(disallowed));
  return {};
}

}  // namespace

void add_ledger_spine(CLI::App& ledger, Context& context) {
  const auto report = std::make_shared<ReportArguments>();
  CLI::App* command =
      ledger.add_subcommand("report", "What was spent and saved, folded from the events of a spine and nothing else");
  command->add_option("directory", report->books.spine, "of the spine")->required();
  command->add_flag("--json", report->json, "print the report as one JSON object");
  add_closing(*command, report->books);
  command->callback([report, &context] {
    if (Result<void> done = run_report(*report, context); !done) context.fail(done.error());
  });

  const auto close = std::make_shared<CloseArguments>();
  command = ledger.add_subcommand(
      "close", "Write onto the spine what the cells of settled days came to; later facts are corrections from then on");
  command->add_option("directory", close->directory, "of the spine; nothing else may be writing it")->required();
  command
      ->add_option("--until", close->until,
                   "days that had settled by then (RFC 3339); left out, by the time of the latest event")
      ->type_name("TIME");
  command->callback([close, &context] {
    if (Result<void> done = run_close(*close, context); !done) context.fail(done.error());
  });

  const auto rebuild = std::make_shared<RebuildArguments>();
  command = ledger.add_subcommand(
      "rebuild", "Fold a spine again from its first record: is what lies beside the log the same, byte for byte?");
  command->add_option("directory", rebuild->directory, "of the spine")->required();
  command->add_option("--archive", rebuild->archive, kArchiveHelp)->type_name("DIR");
  command->callback([rebuild, &context] {
    if (Result<void> done = run_rebuild(*rebuild, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
