#pragma once
/// ace verify DIR: the bytes of a spine, checked by verify/.
#include <string>
#include <vector>

#include "cli/cli.h"

namespace ace::cli {

struct LogArguments {
  std::string key;                       ///< hexadecimal; empty = signatures are not checked
  std::vector<std::string> checkpoints;  ///< files
};

/// @return check_failed with file and offset of the first difference
Result<void> verify_log(const std::string& directory, const LogArguments& arguments, Context& context);

}  // namespace ace::cli
