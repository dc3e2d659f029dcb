#pragma once
/// Who used which GPU when: disjoint intervals per device, one use each. ECONOMICS 8.
#include <array>
#include <map>
#include <string>

#include "core/result.h"
#include "core/units.h"
#include "ledger/period.h"
#include "spine/spine.h"

namespace ace {

inline constexpr std::size_t kUses = 4;
std::string_view name_of(event::GpuBooking::Use use);

class Bookings {
 public:
  /// @return bad_input for an empty or negative interval; conflict, and nothing booked, if a millisecond of the device
  ///         is booked already, whatever its use.
  Result<void> add(const event::GpuBooking& booking);
  /// Takes over disjoint bookings. @return conflict, with ours unchanged, if one overlaps.
  Result<void> merge(const Bookings& other);
  /// Milliseconds booked by use; over any partition of the devices these sums add up.
  /// @param period that is asked about
  [[nodiscard]] std::array<GpuMillis, kUses> by_use(const Period& period = {}) const;

 private:
  struct Interval {
    std::int64_t end_ms = 0;
    event::GpuBooking::Use use{};
  };
  std::map<std::string, std::map<std::int64_t, Interval>> devices_;  ///< by start; touching ones of one use are joined
};

}  // namespace ace
