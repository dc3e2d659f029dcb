#pragma once
/// Who may serve a request at all: constraints first, price inside what is left.
#include <cstdint>

#include "dispatch/dispatch.h"

namespace ace {

/// Compliance, then capability, then having a price: what neither time nor load changes. Exclusion::none if nothing
/// stands against the offer.
Exclusion fixed_exclusion(const Snapshot& fleet, const Request& request, OfferId offer);

/// Sets Lot::barred and Lot::attempted of the lots of a range, from the one of its first offer on, and adds up in
/// `counts` why they are barred. Health and capacity are the kernel's to add.
void bar(const Snapshot& fleet, const Request& request, const OfferRange& range, const std::vector<OfferId>& attempted,
         Lot* lots, std::array<std::uint32_t, kExclusions>& counts);

}  // namespace ace
