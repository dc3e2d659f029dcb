#pragma once
/// Where a trace's load meets the supply curve of its models.
#include <vector>

#include "replay/analysis.h"

namespace ace {

/// The curves of the busiest models at the 50th and 95th percentile of load over the series' buckets. A model's load is
/// its share of all tokens served times the arrivals of the bucket; the request is the mean one. At most `models_max`
/// models.
std::vector<LoadCurve> load_curves(const Snapshot& fleet, const Statement& statement, const LoadSeries& series,
                                   std::size_t models_max = 4);

}  // namespace ace
