#pragma once
/// What the numbers of a report rest on, in sentences a reader can check.
#include <string>
#include <vector>

#include "replay/run.h"

namespace ace {

/// Everything that was declared, chosen or left open and moves an amount: the trace's own notes, prices, capacity,
/// compliance, evidence, the window.
std::vector<std::string> assumptions_of(const Snapshot& snapshot, const RequestSource& source,
                                        const AnalyzeOptions& options, const RunResult& run);

/// Measurements of the fleet file that no hardware of that name could reach, as sentences: more prompts than its
/// arithmetic allows at 100% of peak, a step that is done before the weights are read, more KV tokens than its memory.
std::vector<std::string> beyond_data_sheet(const Snapshot& snapshot);

}  // namespace ace
