#pragma once
/// The ledger of a spine's directory, with what was folded kept beside the log, so that the next one goes on from
/// there.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "adapters/fleet_files.h"
#include "adapters/log_view.h"
#include "ledger/spine_ledger.h"

namespace ace {

struct LedgerOfSpine {
  std::unique_ptr<Snapshots> fleets;    ///< that the ledger refers to
  std::unique_ptr<SpineEvents> events;  ///< likewise, for requests booked long ago
  SpineLedger ledger;
  spine::LogSummary log;    ///< as it was read, up to a tail that was never acknowledged
  std::uint64_t begun = 0;  ///< record from which it was folded now; what is before came from the view
  std::string view;         ///< why the view was not used, or nothing
};

struct LedgerOptions {
  bool use_view = true;                           ///< go on from what lies beside the log, if it fits
  bool save_view = true;                          ///< and leave it there again
  std::vector<Budget> budgets;                    ///< to count; then the view is one of its own
  std::optional<std::uint64_t> before;            ///< only records before this one; then there is no view
  std::string archive;                            ///< directory with segments that were pruned since, or empty
  std::function<void(const JournalEntry&)> each;  ///< every entry of what is folded now
  std::function<void(std::uint64_t)> progress;    ///< records read so far, now and then
};

/// Folds a log as it lies on the disk, also one that is in use. A view is used only if it has the log's own identity
/// and the chain at its place, and is as it was written; else it is made again. It never changes what comes out.
/// @return as spine::read_log, SpineLedger::add; bad_input if segments were pruned that no view has
Result<LedgerOfSpine> ledger_of(const std::string& directory, const LedgerOptions& options);

/// Is the view of a spine what the records before it come to?
struct ViewCheck {
  std::uint64_t records = 0;  ///< that it stands for; 0 = there is none that a ledger would go on from
  bool equal = true;
};
/// Folds those records from the first one. @return as ledger_of()
Result<ViewCheck> check_view(const std::string& directory, const std::string& archive);

/// Names of the view in the directory of a spine, and of the one in which budgets are counted. docs/LEDGER.md says what
/// is in them.
inline constexpr const char* kLedgerView = "ledger.view";
inline constexpr const char* kBudgetView = "budgets.view";

}  // namespace ace
