#include "verify/fixed.h"

#include <fmt/format.h>

#include <algorithm>

namespace ace::verify {
namespace {

constexpr Duration kMs = std::chrono::milliseconds{1};

std::int64_t ms_of(Instant at) { return floor_div(nanos(at), nanos(kMs)); }
Instant of_ms(std::int64_t ms) { return instant(ms * nanos(kMs)); }

std::string stretch(Instant from, Instant to) { return fmt::format("[{}, {}]", to_rfc3339(from), to_rfc3339(to)); }

/// The same units, as short or as long as a booking in whole milliseconds allows.
std::vector<UnitLife> lives_of(const std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>>& units,
                               Instant from, Instant to, bool longest) {
  const Duration rest = kMs - Duration{1};
  std::vector<UnitLife> lives;
  for (const auto& [device, stretches] : units) {
    // What was said twice (a run that was recorded again, further) is one life; what was interrupted is several.
    std::vector<std::pair<std::int64_t, std::int64_t>> joined = stretches;
    std::erase_if(joined, [&](const auto& s) { return s.second < ms_of(from) || s.first > ms_of(to); });
    std::sort(joined.begin(), joined.end());
    std::size_t last = 0;
    for (std::size_t i = 1; i < joined.size(); ++i)
      if (joined[i].first <= joined[last].second)
        joined[last].second = std::max(joined[last].second, joined[i].second);
      else
        joined[++last] = joined[i];
    if (!joined.empty()) joined.resize(last + 1);
    for (const auto& [begin, end] : joined) {
      // A stretch that begins or ends with what is asked about is cut by it to the nanosecond.
      const Instant requested = begin <= ms_of(from) ? from : of_ms(begin) + (longest ? Duration{0} : rest);
      const Instant released = end >= ms_of(to) ? to : of_ms(end) + (longest ? rest : Duration{0});
      lives.push_back({requested, released});
    }
  }
  return lives;
}

const event::FixedCost* of_kind(const std::vector<event::FixedCost>& costs, event::FixedCost::Kind kind) {
  const auto found = std::find_if(costs.begin(), costs.end(), [&](const auto& c) { return c.kind == kind; });
  return found == costs.end() ? nullptr : &*found;
}

}  // namespace

std::optional<Mismatch> FixedCosts::hear(const Snapshot& fleet, const event::Record& record) {
  const std::size_t destinations = fleet.fleet().destinations.size();
  if (const auto* units = std::get_if<event::UnitsChanged>(&record.event)) {
    if (units->destination.value >= destinations)
      return Mismatch{"a destination of its fleet", std::to_string(units->destination.value)};
    pools_[{record.snapshot, units->destination.value}].running.emplace_back(units->at, units->after);
    return std::nullopt;
  }
  if (const auto* booking = std::get_if<event::GpuBooking>(&record.event)) return booked(fleet, record, *booking);
  const auto* fixed = std::get_if<event::FixedCost>(&record.event);
  if (fixed == nullptr) return std::nullopt;
  if (fixed->to < fixed->from) return Mismatch{"fixed cost that ends after it begins", stretch(fixed->from, fixed->to)};
  if (!fixed->destination.valid()) {
    const std::optional<event::FixedCost> hosts = hosts_cost(fleet.fleet(), fixed->from, fixed->to);
    const Usd amount = hosts ? hosts->amount : Usd{};
    if (fixed->kind != event::FixedCost::Kind::hosts || fixed->amount != amount || fixed->units != 1)
      return Mismatch{fmt::format("hosts at {} USD over {}, by the fleet file", to_decimal(amount),
                                  stretch(fixed->from, fixed->to)),
                      fmt::format("{} at {} USD", name_of(fixed->kind), to_decimal(fixed->amount))};
    ++derived_;
    return std::nullopt;
  }
  if (fixed->destination.value >= destinations)
    return Mismatch{"a destination of its fleet", std::to_string(fixed->destination.value)};
  std::optional<Mismatch> found = cost(fleet, pools_[{record.snapshot, fixed->destination.value}], *fixed);
  if (!found) ++derived_;
  return found;
}

/// A device is DESTINATION/UNIT/GPU.
std::optional<Mismatch> FixedCosts::booked(const Snapshot& fleet, const event::Record& record,
                                           const event::GpuBooking& booking) {
  const std::string& device = booking.device;
  const std::size_t gpu = device.rfind('/');
  const std::size_t unit = gpu == device.npos || gpu == 0 ? device.npos : device.rfind('/', gpu - 1);
  const Fleet& f = fleet.fleet();
  const auto at = unit == device.npos ? f.destinations.end()
                                      : std::find_if(f.destinations.begin(), f.destinations.end(), [&](const auto& d) {
                                          return event::label_of(d.name) == device.substr(0, unit);
                                        });
  if (at == f.destinations.end()) return Mismatch{"a device of a destination of its fleet", device};
  if (device.substr(gpu + 1) != "0") return std::nullopt;
  auto& stretches = pools_[{record.snapshot, static_cast<std::uint32_t>(at - f.destinations.begin())}].units[device];
  // A live unit is booked again every few minutes: one life, not thousands.
  if (!stretches.empty() && stretches.back().second == booking.start_ms && booking.start_ms < booking.end_ms)
    stretches.back().second = booking.end_ms;
  else
    stretches.emplace_back(booking.start_ms, booking.end_ms);
  return std::nullopt;
}

std::optional<Mismatch> FixedCosts::cost(const Snapshot& fleet, Pool& pool, const event::FixedCost& cost) const {
  using Kind = event::FixedCost::Kind;
  const std::string& name = fleet.fleet().destinations[cost.destination.value].name;
  if (cost.kind == Kind::idle_power || cost.kind == Kind::rental)
    if (std::optional<Mismatch> less = all_booked(pool, name, cost.from, cost.to)) return less;
  const std::vector<UnitLife> shortest = lives_of(pool.units, cost.from, cost.to, false),
                              longest = lives_of(pool.units, cost.from, cost.to, true);
  const std::vector<event::FixedCost> least = fixed_cost(fleet, cost.destination, shortest, cost.from, cost.to);
  const std::vector<event::FixedCost> most = fixed_cost(fleet, cost.destination, longest, cost.from, cost.to);
  const event::FixedCost* const a = of_kind(least, cost.kind);
  const event::FixedCost* const b = of_kind(most, cost.kind);
  Usd low = a ? a->amount : Usd{}, high = b ? b->amount : Usd{};
  if (cost.kind == Kind::idle_power || cost.kind == Kind::rental) {
    // Where a price is below zero the later begin or the earlier end is the dearer one, and a life may begin under the
    // one sign and end under the other: each unit is at its least and at its most by itself.
    low = high = Usd{};
    for (std::size_t i = 0; i < longest.size(); ++i) {
      std::vector<Usd> amounts;
      for (const Instant requested : {longest[i].requested, shortest[i].requested})
        for (const Instant released : {longest[i].released, shortest[i].released}) {
          const UnitLife life{requested, released};
          const std::vector<event::FixedCost> one =
              fixed_cost(fleet, cost.destination, std::span(&life, 1), cost.from, cost.to);
          const event::FixedCost* const c = of_kind(one, cost.kind);
          amounts.push_back(c ? c->amount : Usd{});
        }
      low += *std::min_element(amounts.begin(), amounts.end());
      high += *std::max_element(amounts.begin(), amounts.end());
    }
  }
  const std::int64_t units = b ? b->units : 0;
  if (cost.amount >= low && cost.amount <= high && cost.units == units) return std::nullopt;
  return Mismatch{
      fmt::format("{} of {} over {}: {} units, {}{} USD, by fleet file and bookings", name_of(cost.kind), name,
                  stretch(cost.from, cost.to), units, low == high ? "" : to_decimal(low) + " to ", to_decimal(high)),
      fmt::format("{} units, {} USD", cost.units, to_decimal(cost.amount))};
}

/// Units that start or end are booked and do not run, so there may be more bookings; never fewer.
std::optional<Mismatch> FixedCosts::all_booked(const Pool& pool, const std::string& name, Instant from, Instant to) {
  std::vector<std::pair<Instant, std::int64_t>> steps = pool.running;
  std::stable_sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const std::vector<UnitLife> lives = lives_of(pool.units, from, to, true);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& [since, running] = steps[i];
    const Instant until = std::min(i + 1 < steps.size() ? steps[i + 1].first : to, to);
    const Instant begin = std::max(since, from);
    if (begin >= until) continue;
    const auto booked = std::count_if(lives.begin(), lives.end(), [&](const UnitLife& unit) {
      return unit.requested <= begin && unit.released >= until;
    });
    if (booked < running)
      return Mismatch{
          fmt::format("bookings of the {} units of {} that ran over {}", running, name, stretch(begin, until)),
          fmt::format("bookings of {}", booked)};
  }
  return std::nullopt;
}

}  // namespace ace::verify
