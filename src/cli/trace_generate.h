#pragma once
/// `ace trace generate` and `ace trace fit`.
#include "cli/cli.h"

namespace ace::cli {

/// Registers both under `ace trace`.
void add_trace_generate(CLI::App& trace, Context& context);

}  // namespace ace::cli
