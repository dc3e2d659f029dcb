#pragma once
/// Who may serve a request at all: constraints first, price inside what is left.
#include <cstdint>

#include "dispatch/dispatch.h"

namespace ace {

/// Compliance, then capability, then having a price: what neither time nor load changes. Exclusion::none if nothing
/// stands against the offer.
Exclusion fixed_exclusion(const Snapshot& fleet, const Request& request, OfferId offer);

/// Writes, for each offer of the range, fixed_exclusion(), else whether its units run and hold the model, else
/// `attempted` for those in `attempted`. Health and capacity are the kernel's to add.
void exclude(const Snapshot& fleet, const Live& live, const Request& request, const OfferRange& range,
             const std::vector<OfferId>& attempted, std::uint8_t* excluded);

}  // namespace ace
