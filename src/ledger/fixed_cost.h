#pragma once
/// What is paid whether it is used or not, from the fleet file and the lives of the units. A replay and the gateway
/// book it with these functions; `ace verify` derives it again with the same ones.
#include <optional>
#include <span>
#include <vector>

#include "dispatch/dispatch.h"
#include "spine/spine.h"

namespace ace {

/// A unit is billed over [requested, released), which may begin before and end behind the stretch that is asked about.
struct UnitLife {
  Instant requested{}, released = Instant::max();
};

/// Amortization, idle power, commitment and rental of one destination over [from, to], each once and only where it is
/// not zero. Amortization is of all units that the file has; power and rent follow the units. A rental is billed in
/// steps of its increment, begun ones in full, at the price of each step's start. `used_ppm` is left open.
/// @pre from <= to
std::vector<event::FixedCost> fixed_cost(const Snapshot& fleet, DestinationId id, std::span<const UnitLife> units,
                                         Instant from, Instant to);
/// The GPUs of the units as bookings of [from, to) in whole milliseconds, cut off downwards: those of stretches that
/// touch follow one another. Nothing for a stretch within one millisecond, and for what has no GPUs.
/// @param units as for fixed_cost(): a unit's place in it is part of the name of its devices
std::vector<event::GpuBooking> gpu_bookings(const Destination& destination, std::span<const UnitLife> units,
                                            Instant from, Instant to);
/// ACE's own hosts over [from, to]; nothing where the file says that they cost nothing.
std::optional<event::FixedCost> hosts_cost(const Fleet& fleet, Instant from, Instant to);
/// Does anything accrue in the hour from then on, if every unit runs that may?
bool has_fixed_cost(const Snapshot& fleet, Instant at);

}  // namespace ace
