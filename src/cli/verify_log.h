#pragma once
/// ace verify DIR: the bytes of a spine, checked by verify/.
#include <string>
#include <vector>

#include "cli/cli.h"
#include "verify/verify.h"

namespace ace::cli {

struct LogArguments {
  std::string key;                       ///< hexadecimal; empty = signatures are not checked
  std::vector<std::string> checkpoints;  ///< files
  std::string archive;                   ///< directory of the segments that were removed; empty = none
  std::string report;                    ///< file that `ace ledger report --json` printed; empty = none
  bool json = false;
};

/// The answer no: one object for machines, or the text of the error. @param where said before it
Result<void> refused(const verify::Difference& difference, const std::string& where, bool json, Context& context);

/// @return check_failed with file and offset of the first difference, or with what of the report does not follow
Result<void> verify_log(const std::string& directory, const LogArguments& arguments, Context& context);

}  // namespace ace::cli
