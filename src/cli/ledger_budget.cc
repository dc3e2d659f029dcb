/// ace ledger budget: what of each budget is spent, held and left.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/files.h"
#include "cli/ledger_books.h"
#include "cli/spine.h"
#include "fleet/budget.h"

namespace ace::cli {
namespace {

struct Arguments {
  std::string directory, fleet, archive;
  bool json = false, all = false;
};

std::string who(const Budget& b) {
  std::string text;
  for (const auto& [what, name] :
       {std::pair{"tenant", &b.tenant}, std::pair{"team", &b.team}, std::pair{"project", &b.project},
        std::pair{"key", &b.key}, std::pair{"model", &b.model}})
    if (!name->empty()) text += (text.empty() ? "" : ", ") + std::string(what) + " " + *name;
  return text.empty() ? "everyone" : text;
}

/// Of the file that was given, else of the newest fleet on the spine.
Result<BudgetReading> budgets_of(const Arguments& arguments) {
  if (!arguments.fleet.empty()) {
    const Result<std::string> text = read_file(arguments.fleet);
    if (!text) return Error(text.error());
    return parse_budgets(*text, arguments.fleet);
  }
  LedgerOptions options;
  options.archive = arguments.archive;
  Result<LedgerOfSpine> made = ledger_of(arguments.directory, options);
  if (!made) return std::move(made).error().with("folding the ledger of " + arguments.directory);
  const event::FleetChanged* const newest = made->ledger.newest_fleet();
  if (newest == nullptr || newest->files.empty()) return BudgetReading{};
  const Result<std::string> text = FleetFiles(arguments.directory).read(newest->files.front());
  if (!text) return Error(text.error());
  return parse_budgets(*text, newest->files.front().name);
}

Result<void> run(const Arguments& arguments, Context& context) {
  const Result<BudgetReading> budgets = budgets_of(arguments);
  if (!budgets) return Error(budgets.error());
  if (!budgets->mistakes.empty()) return Error(Errc::bad_input, describe(budgets->mistakes));
  LedgerOptions options;
  options.budgets = budgets->budgets;
  options.archive = arguments.archive;
  options.save_view = arguments.fleet.empty();  // what somebody tries out leaves nothing behind
  const Result<LedgerOfSpine> made = ledger_of(arguments.directory, options);
  if (!made) return Error(made.error()).with("folding the ledger of " + arguments.directory);
  const BudgetBook& book = made->ledger.budgets();
  const Instant now = made->ledger.latest() == Instant::min() ? Instant{} : made->ledger.latest();
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::uint32_t b = 0; b < book.budgets().size(); ++b) {
    const Budget& budget = book.budgets()[b];
    const Instant current = start_of(budget.window, now);
    std::map<Instant, BudgetAccount> windows;
    if (arguments.all) windows = book.windows(b);
    windows.try_emplace(current, book.account(b, now));
    for (const auto& [window, account] : windows)
      rows.push_back({{"budget", budget.name},
                      {"for", who(budget)},
                      {"enforce", book.retired(b) ? "retired"
                                  : budget.hard   ? "hard"
                                                  : "soft"},
                      {"window", name_of(budget.window)},
                      {"from", budget.window == Budget::Window::total ? "" : to_rfc3339(window)},
                      {"limit_usd", to_decimal(budget.limit)},
                      {"spent_usd", to_decimal(account.spent)},
                      {"held_usd", to_decimal(account.held)},
                      {"left_usd", to_decimal(budget.limit - account.spent - account.held)},
                      {"requests", account.requests},
                      {"crossed", account.crossed ? nlohmann::ordered_json(to_rfc3339(*account.crossed))
                                                  : nlohmann::ordered_json(nullptr)}});
  }
  if (arguments.json) {
    const nlohmann::ordered_json all = {{"at", to_rfc3339(now)}, {"budgets", rows}};
    *context.out << all.dump(1, ' ', true) << "\n";
    return {};
  }
  if (rows.empty()) {
    *context.out << "no budgets: the fleet file declares them under `budgets:` (docs/FLEET.md)\n";
    return {};
  }
  *context.out << fmt::format("{:<20}{:<28}{:<6}{:<22}{:>14}{:>14}{:>14}{:>14}  {}\n", "budget", "for", "", "window",
                              "limit", "spent", "held", "left", "crossed");
  const auto dollars = [](const nlohmann::ordered_json& usd) {
    const auto nano = parse_decimal(usd.get<std::string>(), 9);
    return nano ? to_display(Usd{*nano}) : usd.get<std::string>();
  };
  for (const auto& r : rows) {
    const std::string from = r["from"];
    const std::string window = r["window"].get<std::string>() + (from.empty() ? "" : " " + from.substr(0, 13));
    *context.out << fmt::format("{:<20}{:<28}{:<6}{:<22}{:>14}{:>14}{:>14}{:>14}  {}\n", r["budget"].get<std::string>(),
                                r["for"].get<std::string>(), r["enforce"].get<std::string>(), window,
                                dollars(r["limit_usd"]), dollars(r["spent_usd"]), dollars(r["held_usd"]),
                                dollars(r["left_usd"]), r["crossed"].is_null() ? "" : r["crossed"].get<std::string>());
  }
  return {};
}

}  // namespace

void add_ledger_budget(CLI::App& ledger, Context& context) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = ledger.add_subcommand(
      "budget", "What of each budget is spent, held for requests under way, and left; when one was crossed");
  command->add_option("directory", arguments->directory, "of the spine")->required();
  command
      ->add_option("--fleet", arguments->fleet,
                   "with the budgets; left out, the newest one on the spine. They count from the first record on")
      ->type_name("FILE");
  command->add_option("--archive", arguments->archive, kArchiveHelp)->type_name("DIR");
  command->add_flag("--all", arguments->all, "every window, not only the current one");
  command->add_flag("--json", arguments->json, "one JSON object");
  command->callback([arguments, &context] {
    if (Result<void> done = run(*arguments, context); !done) context.fail(done.error());
  });
}

}  // namespace ace::cli
