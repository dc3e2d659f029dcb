#include "cli/ledger_books.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <ostream>

#include "cli/progress.h"
#include "cli/spine.h"

namespace ace::cli {
namespace {

template <class Choice>
Choice choice_of(const std::string& name, int count) {
  for (int i = 0; i < count; ++i)
    if (name == name_of(static_cast<Choice>(i))) return static_cast<Choice>(i);
  return Choice{};  // the parser of the arguments lets nothing else through
}

Result<Books> replayed(const ReplayArguments& arguments, Context& context) {
  Result<std::unique_ptr<Prepared>> prepared = prepare(arguments, context);
  if (!prepared) return std::move(prepared).error();
  Prepared& p = **prepared;
  Progress progress(context, "replaying");
  p.options.progress = std::ref(progress);
  Result<Analysis> analysis = analyze(p.snapshot, *p.source, p.options);
  p.options.progress = {};
  if (!analysis) return std::move(analysis).error();
  if (analysis->rows == 0) *context.err << "ace: warning: 0 rows\n";
  Books books;
  books.fleet = std::move(p.fleet);
  books.folded = std::move(*analysis);
  books.settlement = p.options.settlement;
  books.idle = p.options.idle;
  return books;
}

std::vector<std::string> assumptions_of(const Books& books) {
  std::vector<std::string> said;
  if (books.grade == Grade::modelled)
    said.push_back(
        "every amount is modelled: no request of these was dispatched by ACE in earnest (they are of a replay or of a "
        "shadow)");
  if (books.grade == Grade::observed) {
    const Statement& t = books.folded.statement;
    said.push_back(t.observed_requests == t.requests
                       ? "others dispatched these requests; each cost what their log says"
                       : fmt::format("others dispatched these requests: {} of {} cost what their log says, the others "
                                     "what the prices of the fleet say, or nothing where the log does not say where "
                                     "they ran either",
                                     t.observed_requests, t.requests));
  }
  for (const Model& model : books.fleet.models)
    if (model.baseline && !model.baseline->contracted)
      said.push_back("the default price of " + model.name +
                     " is a list price, not contracted: its baseline is assumed");
  const Statement& s = books.folded.statement;
  if (books.facts.estimated > 0)
    said.push_back(
        fmt::format("{} requests have no end, because the process that served them died: they count as not "
                    "served, and cost what was decided at the length predicted, {} together",
                    books.facts.estimated, to_display(books.facts.estimated_cost)));
  if (books.fixed_missing > Duration{0})
    said.push_back(fmt::format(
        "for {:.0f} of the {:.0f} s from the first arrival to the last end it is not recorded what capacity "
        "costs whether it is used or not{}",
        std::ceil(to_seconds(books.fixed_missing)), std::ceil(to_seconds(books.fixed_due)),
        books.fully_loaded ? "" : ": fixed cost is too low, and nothing here is fully loaded"));
  if (s.to - s.from < 7 * kDay)
    said.push_back("the window is shorter than 7 days: fixed cost and load shape do not extrapolate");
  return said;
}

Result<Books> from_spine(const BooksArguments& arguments, Context& context) {
  const Result<Period> period = period_from(arguments.from, arguments.to, arguments.month);
  if (!period) return Error(period.error());
  LedgerOptions options;
  options.archive = arguments.archive;
  options.use_view = options.save_view = arguments.use_view;
  options.before = arguments.before;
  Result<LedgerOfSpine> made = ledger_of(arguments.spine, options);
  if (!made) return std::move(made).error().with("folding the ledger of " + arguments.spine);
  if (const std::uint64_t holds = made->log.next; arguments.before.value_or(0) > holds)
    return Error(Errc::check_failed,
                 fmt::format("/ledger/records: expected {}, got a log of {}", *arguments.before, holds));
  Books books;
  books.settlement = choice_of<SettlementPolicy>(arguments.replay.settlement, 3);
  books.idle = choice_of<IdlePolicy>(arguments.replay.idle, 4);
  const std::vector<Grade> grades = made->ledger.grades();
  if (!arguments.grade.empty())
    books.grade = choice_of<Grade>(arguments.grade, 3);
  else if (!grades.empty())
    books.grade = grades.front();
  for (const Grade other : grades)
    if (other != books.grade)
      *context.err << fmt::format("ace: note: {} events are not in this; --grade {} shows them\n", name_of(other),
                                  name_of(other));
  Result<FoldedBooks> folded =
      made->ledger.close(books.grade, {arguments.snapshot, books.settlement, books.idle, *period});
  if (!folded) return std::move(folded).error();
  if (const std::uint64_t early = made->ledger.acknowledged_early(); early > 0)
    *context.err << fmt::format(
        "ace: note: {} records were acknowledged before they were durable (relaxed): a loss of power may have taken up "
        "to a second of others\n",
        early);
  if (folded->statement.requests == 0) *context.err << "ace: warning: 0 requests\n";
  if (const Instant latest = made->ledger.latest();
      !period->all() && period->to != Instant::max() && latest < period->to)
    *context.err << fmt::format(
        "ace: note: the period is not over: the latest event is of {}, and later ones will "
        "change what it comes to\n",
        to_rfc3339(latest == Instant::min() ? Instant{} : latest));
  books.fleet = std::move(folded->fleet);
  books.facts = folded->facts;
  books.fixed_due = folded->fixed_due;
  books.fixed_missing = folded->fixed_missing;
  books.fully_loaded = folded->fully_loaded();
  books.snapshot = arguments.snapshot;
  books.period = *period;
  Analysis& a = books.folded;
  a.statement = std::move(folded->statement);
  a.tenants = std::move(folded->tenants);
  a.teams = std::move(folded->teams);
  a.projects = std::move(folded->projects);
  a.source_format = "event spine";
  a.rows = a.statement.requests;
  a.seed = 0;
  a.evictions = folded->facts.evictions;
  a.unit_changes = folded->facts.unit_changes;
  a.series = LoadSeries(books.fleet.destinations.size());
  a.assumptions = assumptions_of(books);
  books.spine = *std::move(made);
  return books;
}

/// What only events of a spine have. @param spine the option that names it; null where there is nothing else
void add_grade(CLI::App& command, BooksArguments& arguments, CLI::Option* spine) {
  CLI::Option* const grade = command.add_option(
      "--grade", arguments.grade,
      "of a spine: measured, of requests that ACE dispatched; observed, as somebody's log has them; or modelled, "
      "of replays and shadows; left out, the surest there is");
  grade->check(CLI::IsMember({"measured", "observed", "modelled"}));
  CLI::Option* const snapshot =
      command.add_option("--snapshot", arguments.snapshot,
                         "of a spine: what was recorded under this fleet alone; runs of several simulated fleets over "
                         "the same time are never added up");
  snapshot->type_name("NUMBER");
  CLI::Option* const archive =
      command.add_option("--archive", arguments.archive, std::string("of a spine: ") + kArchiveHelp);
  archive->type_name("DIR");
  CLI::Option* const from =
      command.add_option("--from", arguments.from, "of a spine: requests admitted on this UTC day or later");
  CLI::Option* const to = command.add_option("--to", arguments.to, "of a spine: requests admitted before this UTC day");
  CLI::Option* const month =
      command.add_option("--month", arguments.month, "of a spine: requests admitted in this month, UTC");
  for (CLI::Option* const day : {from, to}) day->type_name("YYYY-MM-DD")->excludes(month);
  month->type_name("YYYY-MM");
  if (spine != nullptr)
    for (CLI::Option* const option : {grade, snapshot, archive, from, to, month}) option->needs(spine);
}

}  // namespace

void add_source(CLI::App& command, BooksArguments& arguments) {
  add_replay_arguments(command, arguments.replay);
  arguments.replay.sensitivity = "off";  // no other fleet is asked about
  for (const char* const unread : {"--sensitivity", "--bound", "--baseline", "--spine", "--snapshot"})
    command.remove_option(command.get_option(unread));
  command.get_option("trace")->required(false);
  command.get_option("--fleet")->required(false);
  CLI::Option* const spine =
      command.add_option("--spine", arguments.spine, "fold the events of this spine instead of replaying a trace");
  spine->type_name("DIR");
  // What says how to replay has nothing to say there, and is not taken in silence.
  for (CLI::Option* const option : command.get_options())
    if (option != spine && option != command.get_help_ptr() && option->get_name() != "--settlement" &&
        option->get_name() != "--idle")
      spine->excludes(option);
  add_grade(command, arguments, spine);
}

void add_closing(CLI::App& command, BooksArguments& arguments) {
  // Of all that a replay asks, a fold asks who is charged what.
  add_replay_arguments(command, arguments.replay);
  for (CLI::Option* option : command.get_options())
    if (option->get_lnames() != std::vector<std::string>{"settlement"} &&
        option->get_lnames() != std::vector<std::string>{"idle"} && option != command.get_help_ptr() &&
        option->get_name(true) != "directory" && option->get_lnames() != std::vector<std::string>{"json"})
      command.remove_option(option);
  add_grade(command, arguments, nullptr);
}

Result<Books> books_of(const BooksArguments& arguments, Context& context) {
  if (!arguments.spine.empty()) return from_spine(arguments, context);
  if (arguments.replay.trace.empty() || arguments.replay.fleet.empty())
    return Error(Errc::bad_input, "expected where events come from: a trace with --fleet FILE, or --spine DIR");
  return replayed(arguments.replay, context);
}

}  // namespace ace::cli
