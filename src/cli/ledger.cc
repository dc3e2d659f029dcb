#include <fmt/core.h>
#include <algorithm>

#include <memory>
#include <ostream>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/ledger_books.h"
#include "core/csv.h"
#include "ledger/ledger.h"

namespace ace::cli {
namespace {

struct ChargebackArguments {
  BooksArguments books;
  std::string by = "tenant,team,model";
};

Result<void> run_chargeback(const ChargebackArguments& arguments, Context& context) {
  const Result<std::vector<By>> by = grouping_from(arguments.by);
  if (!by) return Error(by.error()).with("--by");
  const Result<Books> books = books_of(arguments.books, context);
  if (!books) return Error(books.error());
  const Analysis& a = books->folded;
  const SymbolNames names(a.tenants, a.teams, a.projects);
  *context.out << chargeback_csv(chargeback(a.statement, *by, names), *by, books->fleet, names);
  return {};
}

Result<focus::Version> version_from(const std::string& name) {
  if (name == "1.2") return focus::Version::v1_2;
  if (name == "1.3") return focus::Version::v1_3;
  return Error(Errc::bad_input, "--focus-version: expected 1.2 or 1.3, got \"" + name + "\"");
}

/// @return check_failed with the findings, if there are any
Result<void> judged(const focus::Checker& checker, const std::string& what) {
  if (checker.count() == 0) return {};
  std::string all = fmt::format("{} breaks the rules of FOCUS in {} places:", what, checker.count());
  for (const focus::Finding& f : checker.findings())
    all += fmt::format("\n  {}{}{}: {}", f.row == 0 ? "" : fmt::format("row {}", f.row),
                       f.row == 0 || f.column.empty() ? "" : ", ", f.column, f.what);
  return Error(Errc::check_failed, all);
}

struct FocusArguments {
  BooksArguments books;
  std::string version = "1.2", account = "ace", account_name = "ACE", file;
};

Result<void> run_focus(const FocusArguments& arguments, Context& context) {
  const Result<focus::Version> version = version_from(arguments.version);
  if (!version) return Error(version.error());
  const Result<Books> books = books_of(arguments.books, context);
  if (!books) return Error(books.error());
  const focus::Export options{*version, arguments.account, arguments.account_name, books->settlement, books->idle};
  const std::vector<std::string> header = focus::header(*version);
  focus::Checker checker(header, *version);
  std::string csv;
  focus::append_csv_header(csv, header);
  const auto write = [&](const Statement& statement, const Fleet& fleet, const SymbolNames& names) {
    focus::rows(statement, fleet, names, options, [&](const focus::Cells& cells) {
      checker.row(cells);
      focus::append_csv(csv, header, cells);
      if (csv.size() < (1U << 20)) return;
      *context.out << csv;
      csv.clear();
    });
  };
  const Analysis& a = books->folded;
  if (!books->spine) {
    write(a.statement, books->fleet, {a.tenants, a.teams, a.projects});
  } else {
    // One billing period is one month: each is closed by itself, and no row reaches over its end. What is paid for
    // before the first request or after the last one belongs to their months.
    const Instant last = a.statement.to;
    for (Period month = month_of(a.statement.from), next; month.from <= last; month = next) {
      next = month_of(month.to);
      Period asked = common(month, books->period);
      if (month.holds(a.statement.from)) asked.from = books->period.from;
      if (next.from > last) asked.to = books->period.to;
      const Result<FoldedBooks> part =
          books->spine->ledger.close(books->grade, {books->snapshot, books->settlement, books->idle, asked});
      if (!part) return Error(part.error());
      write(part->statement, part->fleet, {part->tenants, part->teams, part->projects});
    }
  }
  *context.out << csv;
  checker.finish();
  return judged(checker, "the export");
}

Result<void> run_focus_check(const FocusArguments& arguments, Context& context) {
  const Result<focus::Version> version = version_from(arguments.version);
  if (!version) return Error(version.error());
  const Result<std::string> text = read_file(arguments.file);
  if (!text) return Error(text.error());
  Result<CsvTable> table = CsvTable::open(*text);
  if (!table) return std::move(table).error().with(arguments.file);
  focus::Checker checker(table->header(), *version);
  CsvRow row;
  focus::Cells cells;
  while (true) {
    const Result<bool> more = table->next(row);
    if (!more) return Error(more.error()).with(arguments.file);
    if (!*more) break;
    cells.assign(row.fields.size(), std::nullopt);
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (!row.fields[i].empty() && row.fields[i] != "NULL") cells[i] = std::string(row.fields[i]);
    checker.row(cells);
  }
  checker.finish();
  if (Result<void> good = judged(checker, arguments.file); !good) return good;
  *context.out << fmt::format("{}: {} rows keep the rules of FOCUS {}\n", arguments.file, checker.rows(),
                              arguments.version);
  return {};
}

struct ReconcileArguments {
  BooksArguments books;
  std::string bill, format = "csv", columns, provider;
  bool logged = false;
};

/// A usage export or spend log, as totals. What it does not state is none.
Result<std::vector<Billed>> bill_from_log(const ReconcileArguments& arguments, const Fleet& fleet) {
  FormatArguments format;
  format.format = arguments.format;
  const Result<ReadOptions> read = read_options(format, &fleet);
  if (!read) return Error(read.error());
  Result<std::unique_ptr<RequestSource>> source = open_trace(arguments.bill, *read);
  if (!source) return std::move(source).error();
  std::vector<Billed> bill;
  std::vector<Arrival> batch(4096);
  while (true) {
    const Result<std::size_t> count = (*source)->next(batch);
    if (!count) return Error(count.error());
    if (*count == 0) return bill;
    // One entry per model, day and batch is enough: reconcile() sums entries of one key.
    std::vector<Billed> sums;
    for (std::size_t i = 0; i < *count; ++i) {
      const Arrival& x = batch[i];
      Billed one{arguments.provider, (*source)->models()[x.model], day_of(x.at), 1, x.prompt, {}, x.output, {}};
      if (x.cached >= 0) one.cached = x.cached;
      if (x.cost_nano >= 0) one.cost = Usd{x.cost_nano};
      sums.push_back(std::move(one));
    }
    sums = summed_by_key(sums);
    bill.insert(bill.end(), sums.begin(), sums.end());
  }
}

/// Prints the comparison. @return check_failed unless every key is equal
Result<void> told(const std::vector<Reconciled>& lines, Context& context) {
  *context.out << reconciled_csv(lines);
  const auto differing = std::count_if(lines.begin(), lines.end(),
                                       [](const Reconciled& l) { return l.state != Reconciled::State::equal; });
  if (differing == 0) return {};
  return Error(Errc::check_failed,
               fmt::format("{} of {} provider-model-days are not equal on both sides", differing, lines.size()));
}

/// Of a spine: what its log says requests cost against the prices of the fleet.
Result<void> run_reconcile_logged(const ReconcileArguments& arguments, Context& context) {
  if (arguments.books.spine.empty())
    return Error(Errc::bad_input, "--logged is for --spine DIR: it compares what ace ingest brought there");
  const Result<Books> books = books_of(arguments.books, context);
  if (!books) return Error(books.error());
  const Statement& s = books->folded.statement;
  const LoggedCosts costs = logged_costs(s, books->fleet);
  if (costs.logged.empty()) *context.err << "ace: warning: no request whose cost both the log and the prices know\n";
  return told(reconcile(costs.by_prices, costs.logged, s.from, s.to), context);
}

Result<void> run_reconcile(const ReconcileArguments& arguments, Context& context) {
  if (arguments.logged == !arguments.bill.empty())
    return Error(Errc::bad_input, "reconcile with what? --bill FILE, or --logged");
  if (arguments.logged) return run_reconcile_logged(arguments, context);
  const bool totals = arguments.format == "csv";
  if (!totals && arguments.provider.empty())
    return Error(Errc::bad_input, "--provider: expected whose export it is; a usage export does not say");
  const Result<Books> books = books_of(arguments.books, context);
  if (!books) return Error(books.error());
  Result<std::vector<Billed>> theirs = [&]() -> Result<std::vector<Billed>> {
    if (!totals) return bill_from_log(arguments, books->fleet);
    const Result<std::string> text = read_file(arguments.bill);
    if (!text) return Error(text.error());
    return parse_bill(*text, arguments.columns, arguments.provider);
  }();
  if (!theirs) return std::move(theirs).error().with("reading " + arguments.bill);
  for (Billed& b : *theirs)  // an alias of the fleet is the model it stands for
    if (const std::optional<ModelId> model = books->fleet.model(b.model))
      b.model = books->fleet.models[model->value].name;
  const std::size_t stated = theirs->size();
  std::erase_if(*theirs, [&](const Billed& b) { return !books->period.holds(instant(b.day * nanos(kDay))); });
  if (theirs->size() < stated)
    *context.err << fmt::format("ace: note: {} lines of the bill are of days outside of the period\n",
                                stated - theirs->size());
  const Statement& s = books->folded.statement;
  std::vector<Billed> ours = billed_by_ledger(s, books->fleet);
  std::uint64_t nowhere = 0;
  Usd cost{};
  for (const UsageLine& line : s.usage)
    if (!line.destination.valid() && line.marginal != Usd{}) {
      nowhere += line.requests;
      cost += line.marginal;
    }
  if (nowhere > 0)
    *context.err << fmt::format(
        "ace: note: {} requests of {} have no destination, so no provider: they are compared "
        "with nothing\n",
        nowhere, to_display(cost));
  const std::size_t all = ours.size();
  std::erase_if(ours, [&](const Billed& b) {
    return std::none_of(theirs->begin(), theirs->end(), [&](const Billed& t) { return t.provider == b.provider; });
  });
  if (ours.size() < all)
    *context.err << fmt::format("ace: note: {} provider-model-days are of providers this bill has no line of\n",
                                all - ours.size());
  return told(reconcile(ours, *theirs, s.from, s.to), context);
}

template <class Arguments>
CLI::App* add(CLI::App& parent, const char* name, const char* what, Context& context,
              const std::shared_ptr<Arguments>& arguments, Result<void> (*run)(const Arguments&, Context&)) {
  CLI::App* command = parent.add_subcommand(name, what);
  command->callback([arguments, &context, run] {
    if (Result<void> done = run(*arguments, context); !done) context.fail(done.error());
  });
  return command;
}

void add_version(CLI::App& command, FocusArguments& arguments) {
  command.add_option("--focus-version", arguments.version, "of the specification; 1.3 adds the allocation columns")
      ->check(CLI::IsMember({"1.2", "1.3"}))
      ->capture_default_str();
}

}  // namespace

void add_ledger(CLI::App& app, Context& context) {
  CLI::App* ledger =
      app.add_subcommand("ledger", "What was spent and saved, who pays, and what is left of each budget");
  ledger->require_subcommand(1);
  add_ledger_spine(*ledger, context);
  add_ledger_budget(*ledger, context);

  const auto chargeback = std::make_shared<ChargebackArguments>();
  CLI::App* command =
      add(*ledger, "chargeback", "Tokens and cost by any keys, as CSV; every grouping has the same total", context,
          chargeback, run_chargeback);
  add_source(*command, chargeback->books);
  command->add_option("--by", chargeback->by, "keys: hour, tenant, team, project, model, destination, slo_class")
      ->type_name("KEYS")
      ->capture_default_str();

  const auto focus = std::make_shared<FocusArguments>();
  command = add(*ledger, "focus", "The chargeback as FOCUS CSV (docs/FOCUS.md)", context, focus, run_focus);
  add_source(*command, focus->books);
  add_version(*command, *focus);
  command->add_option("--billing-account", focus->account, "BillingAccountId")->type_name("ID")->capture_default_str();
  command->add_option("--billing-account-name", focus->account_name, "BillingAccountName and InvoiceIssuerName")
      ->type_name("NAME")
      ->capture_default_str();

  const auto check = std::make_shared<FocusArguments>();
  command = add(*ledger, "focus-check", "Does a FOCUS CSV file keep the rules of the specification?", context, check,
                run_focus_check);
  command->add_option("file", check->file, "CSV, plain, .gz or .zst; - for standard input")->required();
  add_version(*command, *check);

  const auto reconcile = std::make_shared<ReconcileArguments>();
  command =
      add(*ledger, "reconcile", "A provider's bill or usage export against the ledger, by provider, model and day",
          context, reconcile, run_reconcile);
  add_source(*command, reconcile->books);
  command->add_option("--bill", reconcile->bill, "the provider's export")->type_name("FILE");
  command->add_flag("--logged", reconcile->logged,
                    "of a spine, instead of a bill: what the log that was ingested says requests cost (theirs) against "
                    "the prices of the fleet (ours)");
  command
      ->add_option("--bill-format", reconcile->format,
                   "csv: totals per line (docs/LEDGER.md); or a log format, e.g. openai-usage, litellm")
      ->capture_default_str();
  command->add_option("--bill-columns", reconcile->columns, "other column names: day=date,cost_usd=amount")
      ->type_name("MAP");
  command->add_option("--provider", reconcile->provider, "provider of lines that name none, as in the fleet file")
      ->type_name("NAME");
}

}  // namespace ace::cli
