#pragma once
/// From a trace to the profile that describes it.
#include <cstdint>
#include <string>

#include "core/result.h"
#include "replay/source.h"
#include "trace/profile.h"

namespace ace {

struct FitOptions {
  std::string name = "fitted";
  std::string source;            ///< where the trace comes from, for the reader of the profile
  std::size_t tenants_max = 16;  ///< (tenant, team, model) with the most requests; the rest becomes one, "other"
};

/// Measures a trace, in two passes, and describes each (tenant, team, model):
///  - rate, share; load by hour of day if it spans a day, by day of week if it spans a week, else flat;
///  - CV of the gaps with that shape taken out; Gamma or Weibull by whose median gap is nearer the measured one;
///  - 22 quantiles of prompt and output tokens; Spearman's correlation on a sample of 2,000;
///  - limits asked for, if most requests state one and there are at most 16; share of batch requests;
///  - prefix blocks that at least 80% of the prompts open with, the share of requests that go on from an earlier
///    prompt beyond these, and the mean time since that one. Conversations are followed up to 4 million.
/// Bursts longer than a few gaps and the order of lengths in time are not described; episodes are never inferred.
/// Memory grows with tenants, hours and conversations, not with requests.
/// @return bad_input if there are fewer than two requests or they all have one time; what the source says otherwise
Result<Profile> fit(RequestSource& source, const FitOptions& options = {});

}  // namespace ace
