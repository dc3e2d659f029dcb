#pragma once
/// A part of a trace on an equal part of a fleet, for runs that only compare.
#include <cstdint>

#include "replay/run.h"

namespace ace {

/// Does this request belong to the sample? By tenant x prefix, so that what shares a cache stays together: the prefix
/// is the first two blocks of the prompt, since the first alone is often one system prompt common to all (Mooncake's
/// conversations: 12,031 of 12,031). A request without blocks shares nothing: it is a prefix of its own.
bool in_sample(const Arrival& arrival, double share, std::uint64_t seed);

/// The same fleet with `share` of its capacity: replicas as whole ones and the rest in their speed, committed rates,
/// quotas, amortization, rents, fees, hosts and watts. A pool is never cut to less than one replica, which is then
/// slower; a sample that would need that is taken larger (sample_share).
/// @param share in (0, 10]; 1 gives the fleet itself
Fleet scaled(const Fleet& fleet, double share);
/// The same for the owned pools alone.
Fleet scaled_owned(const Fleet& fleet, double share);

/// Share to sample of `rows` requests: 5%, but at least 50,000 requests and one whole replica of every pool.
double sample_share(const Fleet& fleet, std::uint64_t rows);

}  // namespace ace
