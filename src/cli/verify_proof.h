#pragma once
/// ace verify --proof FILE: a proof about a spine, checked by verify/ without the spine.
#include <string>

#include "cli/verify_log.h"

namespace ace::cli {

/// @return check_failed with the line that does not hold
Result<void> verify_proof(const std::string& path, const LogArguments& arguments, Context& context);

}  // namespace ace::cli
