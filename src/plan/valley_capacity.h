#pragma once
/// The troughs of a pool, from a replay of its traffic.
#include "core/result.h"
#include "plan/series.h"
#include "replay/replay.h"

namespace ace {

/// Units of an owned pool that stay free under its knee, by step:
///
///   free = units x knee - busy,   busy = tokens served / tokens that a fully used unit serves
///
/// never below 0 in any of the replay's own intervals. What a used unit serves is the replay's mean over the whole
/// trace (tokens over used unit-time), so a step whose prompts are longer than usual is busier than this says; the knee
/// is the lowest that the replay learnt there.
/// @param step  positive
/// @return bad_input if the pool is not owned, moves its own units (what it does not need it releases), or the replay
///         has no interval
Result<Series> free_units(const Snapshot& fleet, const Analysis& analysis, DestinationId pool, Duration step);

}  // namespace ace
