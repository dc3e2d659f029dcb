#pragma once
/// Fixed cost derived again: from the fleet file, and from how long each unit was there by its bookings, which in turn
/// must not say less than the units that ran.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ledger/ledger.h"
#include "spine/spine.h"
#include "verify/difference.h"

namespace ace::verify {

/// Hears units, bookings and fixed cost in the order of the log: bookings come before the cost that follows from them.
class FixedCosts {
 public:
  /// @param fleet of the record's snapshot @return what is not as it must be
  std::optional<Mismatch> hear(const Snapshot& fleet, const event::Record& record);
  [[nodiscard]] std::uint64_t derived() const { return derived_; }  ///< stretches that follow

 private:
  /// What is known of a destination under one snapshot.
  struct Pool {
    /// Units by the name of their first device, each with the stretches in which it was booked, in milliseconds.
    std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> units;
    std::vector<std::pair<Instant, std::int64_t>> running;  ///< from then on
  };
  std::optional<Mismatch> booked(const Snapshot& fleet, const event::Record& record, const event::GpuBooking& booking);
  std::optional<Mismatch> cost(const Snapshot& fleet, Pool& pool, const event::FixedCost& cost) const;
  static std::optional<Mismatch> all_booked(const Pool& pool, const std::string& name, Instant from, Instant to);

  std::map<std::pair<std::uint64_t, std::uint32_t>, Pool> pools_;  ///< by snapshot and destination
  std::uint64_t derived_ = 0;
};

}  // namespace ace::verify
