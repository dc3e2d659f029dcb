#pragma once
/// What the commands of `ace ledger` share: books folded from a replay, or from a spine.
#include <memory>
#include <optional>
#include <string>

#include "adapters/ledger_view.h"
#include "cli/replay_arguments.h"

namespace ace::cli {

/// Where the events come from, and the policies of closing.
struct BooksArguments {
  ReplayArguments replay;
  std::string spine, grade, archive;
  std::optional<std::uint64_t> snapshot;  ///< of a spine: what was recorded under this fleet alone
  std::string from, to, month;            ///< of a spine: days, or a month, of the books
  bool use_view = true;                   ///< what was folded before, if it fits
  std::optional<std::uint64_t> before;    ///< only records before this one; then without the view
};

/// A folded ledger with the names it was folded under: all that these commands ask of where events come from.
struct Books {
  Fleet fleet;
  Analysis folded;
  SettlementPolicy settlement = SettlementPolicy::pooled;
  IdlePolicy idle = IdlePolicy::by_usage;
  std::optional<LedgerOfSpine> spine;       ///< where they come from one
  FoldedFacts facts;                        ///< likewise
  Duration fixed_due{0}, fixed_missing{0};  ///< likewise @see FoldedBooks
  bool fully_loaded = true;
  Grade grade = Grade::modelled;
  std::optional<std::uint64_t> snapshot;
  Period period;
};

/// A trace with its fleet, or --spine DIR.
void add_source(CLI::App& command, BooksArguments& arguments);
/// --grade, --snapshot, --archive, --from, --to, --month, --settlement, --idle.
void add_closing(CLI::App& command, BooksArguments& arguments);
Result<Books> books_of(const BooksArguments& arguments, Context& context);

void add_ledger_spine(CLI::App& ledger, Context& context);   ///< report, rebuild
void add_ledger_budget(CLI::App& ledger, Context& context);  ///< budget

}  // namespace ace::cli
