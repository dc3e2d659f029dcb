#include "replay/sample.h"

#include <algorithm>
#include <cmath>

#include "core/hash.h"

namespace ace {
namespace {

constexpr double kShareLeast = 0.05;
constexpr double kRowsLeast = 50'000.0;
constexpr std::size_t kPrefixBlocks = 2;

/// Scales a rate, a count or an amount that must stay an integer.
std::int64_t times(std::int64_t value, double share, std::int64_t least = 0) {
  return std::max(least, static_cast<std::int64_t>(std::llround(static_cast<double>(value) * share)));
}
/// Fixed cost of the smaller fleet. Rounded to a nano-dollar per hour.
Usd times(Usd amount, double share) { return Usd{times(amount.nano, share)}; }

/// A pool of `share` of the replicas: units of one replica each, as many as come nearest, `speed` of the old ones.
void scale_pool(const Snapshot& snapshot, DestinationId id, double share, Destination& d) {
  const std::int64_t per_unit = d.replicas_per_unit(), ever = d.units.at_most();
  if (per_unit <= 0 || ever <= 0) return;
  const double wanted = static_cast<double>(per_unit * ever) * share;
  const std::int64_t whole = std::max<std::int64_t>(1, std::llround(wanted));
  const double speed = wanted / static_cast<double>(whole);
  const double units = static_cast<double>(whole) / static_cast<double>(ever);  // new units for an old one
  for (Serving& serving : d.serving)
    for (const Offer& offer : snapshot.offers()) {
      if (offer.destination != id || offer.model != serving.model || !offer.profile) continue;
      ServerProfile p = *offer.profile;
      p.prefill_tokens_per_s *= speed;
      p.step_per_sequence_s /= speed;
      p.step_per_kv_token_s /= speed;
      p.batch_max = times(p.batch_max, speed, 1);
      p.kv_tokens_max = times(p.kv_tokens_max, speed, 1);
      p.prefill_chunk = times(p.prefill_chunk, speed, 1);
      p.watts_idle *= speed;
      p.watts_busy *= speed;
      serving.measured = p;
    }
  d.gpus_per_unit = d.tp;
  const auto rescale = [&](std::int64_t& count) { count = count == 0 ? 0 : times(count, units, 1); };
  rescale(d.units.units);
  for (ScheduleWindow& window : d.units.schedule) rescale(window.units);
  if (d.units.reactive) {
    rescale(d.units.reactive->units_min);
    rescale(d.units.reactive->units_max);
  }
  const double cost = share / units;  // of an old unit's, for a new one
  d.amortization_hourly = times(d.amortization_hourly, cost);
  if (!d.rental) return;
  d.rental->hourly = times(d.rental->hourly, cost);
  for (Usd& hourly : d.rental->hourly_series) hourly = times(hourly, cost);
  for (double& available : d.rental->availability.values) available = std::round(available * units);
}

void scale_api(double share, Destination& d) {
  if (d.rpm) d.rpm = times(*d.rpm, share, 1);
  if (d.tpm) d.tpm = times(*d.tpm, share, 1);
  for (Serving& serving : d.serving) {
    if (serving.ptu) {
      serving.ptu->tokens_per_minute_per_unit =
          times(serving.ptu->units * serving.ptu->tokens_per_minute_per_unit, share, 1);
      serving.ptu->units = 1;
    }
    if (serving.gsu) serving.gsu->tokens_per_second_per_unit *= share;
  }
  d.commitment_hourly = times(d.commitment_hourly, share);
}

}  // namespace

bool in_sample(const Arrival& arrival, double share, std::uint64_t seed) {
  if (share >= 1.0) return true;
  const std::uint64_t prefix = arrival.blocks.empty()
                                   ? static_cast<std::uint64_t>(arrival.row)
                                   : mix(arrival.blocks[std::min(arrival.blocks.size(), kPrefixBlocks) - 1], 1);
  const std::uint64_t hash = mix(mix(seed, arrival.tenant), prefix);
  return static_cast<double>(hash >> 11) * 0x1.0p-53 < share;
}

Fleet scaled(const Fleet& fleet, double share) {
  Fleet smaller = fleet;
  if (share == 1.0) return smaller;
  const Snapshot snapshot(fleet);
  for (std::uint32_t i = 0; i < fleet.destinations.size(); ++i) {
    Destination& d = smaller.destinations[i];
    if (runs_on_gpus(d.tier))
      scale_pool(snapshot, DestinationId{i}, share, d);
    else
      scale_api(share, d);
  }
  if (smaller.policies.cache_hosts_hourly)
    smaller.policies.cache_hosts_hourly = times(*smaller.policies.cache_hosts_hourly, share);
  if (smaller.policies.gateway_hosts_hourly)
    smaller.policies.gateway_hosts_hourly = times(*smaller.policies.gateway_hosts_hourly, share);
  return smaller;
}

Fleet scaled_owned(const Fleet& fleet, double share) {
  Fleet other = fleet;
  if (share == 1.0) return other;
  const Snapshot snapshot(fleet);
  for (std::uint32_t i = 0; i < fleet.destinations.size(); ++i)
    if (fleet.destinations[i].tier == Tier::owned) scale_pool(snapshot, DestinationId{i}, share, other.destinations[i]);
  return other;
}

double sample_share(const Fleet& fleet, std::uint64_t rows) {
  double share = std::max(kShareLeast, rows == 0 ? 1.0 : kRowsLeast / static_cast<double>(rows));
  for (const Destination& d : fleet.destinations) {
    const std::int64_t replicas = d.replicas_per_unit() * d.units.at_most();
    if (runs_on_gpus(d.tier) && replicas > 0) share = std::max(share, 1.0 / static_cast<double>(replicas));
  }
  return std::min(share, 1.0);
}

}  // namespace ace
