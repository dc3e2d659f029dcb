/// ace ledger report, rebuild: what a spine comes to, and whether what is kept beside it is that.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/ledger_books.h"
#include "core/text.h"
#include "report/report.h"

namespace ace::cli {
namespace {

struct ReportArguments {
  BooksArguments books;
  bool json = false;
};

/// What a ledger over a spine knows beside its statement.
nlohmann::ordered_json ledger_section(const Books& books) {
  const LedgerOfSpine& spine = *books.spine;
  const FoldedFacts& f = books.facts;
  nlohmann::ordered_json balances = nlohmann::ordered_json::array();
  for (const Leg& leg : spine.ledger.balances().all())
    balances.push_back({{"account", name_of(leg.account.kind)},
                        {"owner", spine.ledger.owner(leg.account)},
                        {"usd", to_decimal(leg.amount)}});
  return {{"log", spine.log.origin},
          {"records", spine.log.next},
          {"requests_pending", spine.ledger.pending()},
          {"requests_estimated", f.estimated},
          {"estimated_usd", to_decimal(f.estimated_cost)},
          {"corrections", f.corrected},
          {"corrections_of_closed_cells", f.corrected_closed},
          {"corrections_of_closed_cells_usd", to_decimal(f.corrected_closed_cost)},
          {"cells_closed", spine.ledger.closed_cells()},
          {"requests_without_admission", spine.ledger.strays()},
          {"gaps", spine.ledger.gaps().size()},
          {"gpu_bookings_refused", f.bookings_refused},
          {"balances", balances}};
}

Result<void> run_report(const ReportArguments& arguments, Context& context) {
  const Result<Books> books = books_of(arguments.books, context);
  if (!books) return Error(books.error());
  const LedgerOfSpine& spine = *books->spine;
  ReportInput input;
  const Snapshot names(books->fleet);  // for reading only
  input.fleet = &names;
  input.analysis = &books->folded;
  input.trace_name = std::filesystem::path(arguments.books.spine).lexically_normal().string();
  const std::uint64_t fleets = spine.fleets->latest();
  input.fleet_name = fleets == 1 ? "the fleet recorded with it" : fmt::format("{} fleets recorded with it", fleets);
  input.options.settlement = books->settlement;
  input.options.idle = books->idle;
  input.options.sensitivity = SensitivityMode::off;
  if (spine.log.torn)
    *context.err << "ace: note: the log ends in an unfinished batch that was never acknowledged: "
                 << spine.log.torn->what() << "\n";
  if (spine.log.relaxed > 0)
    *context.err << fmt::format(
        "ace: note: {} of the records read now were acknowledged before they were durable (relaxed): a loss of power "
        "may have taken up to a second of others\n",
        spine.log.relaxed);
  nlohmann::ordered_json whole = nlohmann::ordered_json::parse(to_json(input));
  whole["ledger"] = ledger_section(*books);
  const std::string json = whole.dump(1, ' ', true) + "\n";
  *context.out << (arguments.json ? json : to_terminal(json));
  return {};
}

struct RebuildArguments {
  std::string directory;
};

Result<void> run_rebuild(const RebuildArguments& arguments, Context& context) {
  LedgerOptions from_zero;
  from_zero.use_view = false;
  Result<LedgerOfSpine> whole = ledger_of(arguments.directory, from_zero);
  if (!whole) return std::move(whole).error().with("folding the ledger of " + arguments.directory);
  // The view, brought up to where the other one stands.
  Result<LedgerOfSpine> kept = ledger_of(arguments.directory, {});
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

  const auto rebuild = std::make_shared<RebuildArguments>();
  command = ledger.add_subcommand(
      "rebuild", "Fold a spine again from its first record: is what lies beside the log the same, byte for byte?");
  command->add_option("directory", rebuild->directory, "of the spine")->required();
  command->callback([rebuild, &context] {
    if (Result<void> done = run_rebuild(*rebuild, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
