#pragma once
/// What was asked for over time, by cell: model class x region x SLO class.
#include <string>
#include <vector>

#include "core/result.h"
#include "fleet/fleet.h"
#include "plan/series.h"
#include "replay/source.h"

namespace ace {

/// Weights that make one load of three kinds of tokens, as a provisioned-throughput meter does (ECONOMICS 2):
///
///   load = uncached prompt + cached x cached prompt + output x output tokens
///
/// The defaults are those of PtuTerms: cached tokens weigh nothing, an output token four prompt tokens.
struct LoadWeights {
  double cached = 0.0, output = 4.0;  ///< in uncached prompt tokens; not negative
};

/// Requests that the same units could serve, and that have the same promise.
struct DemandCell {
  std::string model;   ///< as the fleet file names it, else as the trace (masked) does
  std::string region;  ///< the compliance profile of the tenant, which says where it may be served; "any" if none does
  std::string slo;  ///< the class of the tenant; "batch" for what came through a batch API; "any" without a fleet file
  friend auto operator<=>(const DemandCell&, const DemandCell&) = default;
};
std::string name_of(const DemandCell& cell);

/// Means over each step, per minute, so that steps of any length and the TPM of contracts are on one scale. What the
/// log shows as not served was asked for all the same and counts; what a response cache answered does not.
struct CellDemand {
  DemandCell cell;
  Series requests, uncached, cached, output;  ///< per minute; zero where nobody asked
  [[nodiscard]] Series load(const LoadWeights& weights) const;
};

struct DemandOptions {
  Duration step = kHour;         ///< positive
  const Fleet* fleet = nullptr;  ///< declares models, tenants, classes and profiles; null = the trace's own names
};

struct DemandReading {
  std::vector<CellDemand> cells;  ///< by name
  std::uint64_t requests = 0;
  std::uint64_t cached_unknown = 0;  ///< requests whose log does not say what was cached: all of it counts as uncached
  std::uint64_t answered = 0;        ///< by a response cache: no model ran
};

/// Reads a source to its end. Steps begin at multiples of the step since the epoch; the first and the last are left out
/// where the trace covers only a part of them, unless nothing else is left.
/// @return the source's error, bad_input for a step that is not positive, out_of_range beyond 40 million values of all
/// cells
Result<DemandReading> demand_of(RequestSource& source, const DemandOptions& options);

}  // namespace ace
