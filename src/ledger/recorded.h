#pragma once
/// A request settled from what a spine says of it: the ledger, `ace explain` and `ace verify` all ask here.
#include <span>

#include "ledger/counterfactual.h"

namespace ace {

/// How sure amounts are whose events come from there.
Grade grade_of(event::FleetChanged::Source source);

/// Settles the facts of one request, with the rules of events at rest:
/// - nobody decided (somebody's log): where it went is where it should have gone;
/// - an attempt at no known offer has no price of its own;
/// - C3 asks for the cheapest API for the answer as it came; the event has that for the answer as predicted;
/// - what a customer's log says it cost is what it cost.
/// @param source where the events of its fleet come from @param decided null if nobody did
/// @param attempts in order of their ordinals @pre every index is within the settler's fleet
Settled settle_recorded(const Settler& settler, event::FleetChanged::Source source, const event::Admitted& admitted,
                        const event::Decided* decided, std::span<const event::Attempted> attempts,
                        const event::Completed& completed);

}  // namespace ace
