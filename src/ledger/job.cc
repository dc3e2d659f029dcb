#include "ledger/job.h"

#include <algorithm>

#include "core/int128.h"
#include "core/numeric.h"

namespace ace {
namespace {

constexpr std::int64_t kMillisPerHour = 3'600'000;
constexpr std::int64_t kWhole = 1'000'000;  // parts per million

/// GPU-milliseconds at the price of a unit-hour, `ppm` millionths of it.
Usd rent_of(GpuMillis work, Usd unit_hourly, std::int64_t gpus_per_unit, std::int64_t ppm) {
  const int128 nano = divide_half_away(int128{work.value} * unit_hourly.nano * ppm,
                                       int128{kMillisPerHour} * std::max<std::int64_t>(gpus_per_unit, 1) * kWhole);
  return Usd{static_cast<std::int64_t>(nano)};
}

/// Power that one busy GPU of a destination draws more than an idle one, at the wall, in watts.
double busy_watts(const Snapshot& fleet, const Destination& at) {
  const Accelerator* gpu = find_accelerator(at.accelerator);
  return gpu == nullptr ? 0.0 : std::max(0.0, gpu->watts_max - gpu->watts_idle) * fleet.fleet().electricity.pue;
}

Result<Usd> energy_of(const Snapshot& fleet, const Destination& at, const event::GpuBooking& booking) {
  if (at.tier != Tier::owned) return Usd{};
  const Instant begins = instant(booking.start_ms * 1'000'000);
  const double kwh = busy_watts(fleet, at) * static_cast<double>(booking.end_ms - booking.start_ms) / 3.6e9;
  return usd_from_physics(kwh * static_cast<double>(fleet.fleet().electricity.booked(begins).nano) * 1e-9);
}

/// Cheapest price of the job's work among the destinations of a tier that rent out its GPU class when it is submitted.
std::optional<Usd> cheapest(const Snapshot& fleet, const GpuJob& job, Tier tier) {
  std::optional<Usd> least;
  const Duration alone{job.work.value * 1'000'000 / std::max<std::int64_t>(job.gpus, 1)};
  for (const Destination& at : fleet.fleet().destinations) {
    if (at.tier != tier || at.accelerator != job.accelerator || !at.rental) continue;
    std::int64_t ppm = kWhole;
    if (tier == Tier::spot) {
      if (!at.rental->availability.values.empty() && at.rental->availability.at(job.submitted) < 1.0) continue;
      if (at.rental->hazard_per_hour >= 1.0) continue;
      const double factor = expected_redo(at.rental->hazard_per_hour, std::min(job.checkpoint, alone));
      ppm = static_cast<std::int64_t>(factor * static_cast<double>(kWhole) + 0.5);
    }
    const Usd price = rent_of(job.work, at.rental->at(job.submitted), at.gpus_per_unit, ppm);
    if (!least || price < *least) least = price;
  }
  return least;
}

}  // namespace

double expected_redo(double hazard_per_hour, Duration segment) {
  if (hazard_per_hour <= 0.0 || segment.count() <= 0) return 1.0;
  const double losses = -numeric::log(1.0 - hazard_per_hour) * to_seconds(segment) / 3600.0;
  return losses < 1e-9 ? 1.0 : (numeric::exp(std::min(losses, 20.0)) - 1.0) / losses;
}

Result<SettledJob> settle(const Snapshot& fleet, const GpuJob& job, std::span<const JobStretch> stretches,
                          std::optional<Instant> finished) {
  SettledJob settled;
  Usd actual{};
  for (const JobStretch& stretch : stretches) {
    const Destination& at = fleet.fleet().destinations[stretch.destination.value];
    const event::GpuBooking& b = stretch.booking;
    if (b.use != event::GpuBooking::Use::valley || b.start_ms >= b.end_ms || at.accelerator != job.accelerator ||
        b.start_ms * 1'000'000 < nanos(job.submitted))
      return Error(Errc::bad_input, "job of row " + std::to_string(job.row) + ": a stretch on \"" + b.device +
                                        "\" is empty, no valley, on another GPU class or before the submission");
    settled.booked = settled.booked + GpuMillis{b.end_ms - b.start_ms};
    const Result<Usd> energy = energy_of(fleet, at, b);
    if (!energy) return Error(energy.error());
    actual += *energy;
  }
  settled.finished = finished.has_value();
  if (settled.finished && settled.booked < job.work)
    return Error(Errc::bad_input, "job of row " + std::to_string(job.row) + ": finished with " +
                                      std::to_string(settled.booked.value) + " of its " +
                                      std::to_string(job.work.value) + " GPU-milliseconds booked");
  Chain& chain = settled.chain;
  chain.c[4] = actual;
  if (settled.finished) {
    const std::optional<Usd> on_demand = cheapest(fleet, job, Tier::on_demand);
    if (!on_demand) settled.excluded = Reason::no_baseline;
    chain.c[0] = chain.c[1] = chain.c[2] = chain.c[3] = on_demand.value_or(actual);
    if (on_demand) chain.c[3] = cheapest(fleet, job, Tier::spot).value_or(*on_demand);
    if (*finished > job.deadline) settled.withheld = Reason::slo_request;
  }
  for (std::size_t i = 0; i < kLevers; ++i) chain.lever[i] = chain.c[i] - chain.c[i + 1];
  return settled;
}

}  // namespace ace
