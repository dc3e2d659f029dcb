#pragma once
/// The report of a ledger over a spine, as `ace ledger report` prints it and `ace verify --report` makes it again.
#include <cstdint>
#include <string>
#include <vector>

#include "cli/ledger_books.h"

namespace ace::cli {

/// The report as one JSON object. @param books of a spine @param directory of the spine
std::string ledger_report(const Books& books, const std::string& directory);

struct LedgerReportCheck {
  std::uint64_t records = 0;             ///< that the report says it read
  std::vector<std::string> differences;  ///< field by field; empty = it follows from the spine
};
/// Folds the spine in `directory` from its first record, as far as the report in `file` says that it read, and compares
/// every field of the two.
/// @return bad_input if it is no such report; check_failed if it says that it read more than there is
Result<LedgerReportCheck> check_ledger_report(const std::string& directory, const std::string& archive,
                                              const std::string& file, Context& context);

}  // namespace ace::cli
