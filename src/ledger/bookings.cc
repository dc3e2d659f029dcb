#include "ledger/bookings.h"

#include <algorithm>

namespace ace {

std::string_view name_of(event::GpuBooking::Use use) {
  constexpr std::array<std::string_view, kUses> names = {"served", "valley", "lent", "released"};
  return names[static_cast<std::size_t>(use)];
}

Result<void> Bookings::add(const event::GpuBooking& booking) {
  if (booking.end_ms <= booking.start_ms)
    return Error(Errc::bad_input, "a booking of " + booking.device + " ends at " + std::to_string(booking.end_ms) +
                                      " ms, not after its start at " + std::to_string(booking.start_ms) + " ms");
  auto& intervals = devices_[booking.device];
  auto next = intervals.upper_bound(booking.start_ms);
  const auto clash = [&](std::int64_t from, std::int64_t to) {
    return Error(Errc::conflict, "GPU time is booked once: " + booking.device + " [" +
                                     std::to_string(booking.start_ms) + ", " + std::to_string(booking.end_ms) +
                                     ") ms overlaps [" + std::to_string(from) + ", " + std::to_string(to) + ")");
  };
  if (next != intervals.end() && next->first < booking.end_ms) return clash(next->first, next->second.end_ms);
  std::int64_t start = booking.start_ms, end = booking.end_ms;
  if (next != intervals.begin()) {
    const auto before = std::prev(next);
    if (before->second.end_ms > booking.start_ms) return clash(before->first, before->second.end_ms);
    if (before->second.end_ms == start && before->second.use == booking.use) {
      start = before->first;
      intervals.erase(before);
    }
  }
  if (next != intervals.end() && next->first == end && next->second.use == booking.use) {
    end = next->second.end_ms;
    intervals.erase(next);
  }
  intervals[start] = {end, booking.use};
  return {};
}

Result<void> Bookings::merge(const Bookings& other) {
  Bookings both = *this;
  for (const auto& [device, intervals] : other.devices_)
    for (const auto& [start, interval] : intervals)
      if (Result<void> booked = both.add({interval.use, device, start, interval.end_ms}); !booked) return booked;
  *this = std::move(both);
  return {};
}

std::array<GpuMillis, kUses> Bookings::by_use(const Period& period) const {
  constexpr std::int64_t kMillisecond = 1'000'000;
  const std::int64_t from = nanos(period.from) / kMillisecond, to = nanos(period.to) / kMillisecond;
  std::array<GpuMillis, kUses> sums{};
  for (const auto& [device, intervals] : devices_)
    for (const auto& [start, interval] : intervals)
      if (const std::int64_t begin = std::max(start, from), end = std::min(interval.end_ms, to); begin < end)
        sums[static_cast<std::size_t>(interval.use)] += GpuMillis{end - begin};
  return sums;
}

}  // namespace ace
