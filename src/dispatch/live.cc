#include "dispatch/live.h"

#include <algorithm>

namespace ace {
namespace {

constexpr auto kTokensMeter = static_cast<std::size_t>(Resource::tokens);

void size_offer(Live& live, std::size_t i, const Offer& offer, std::int64_t units) {
  live.running[i] = units > 0 ? 1 : 0;
  live.wait_per_token[i] = offer.profile ? 1.0 / offer.profile->prefill_tokens_per_s : 0.0;
  for (std::size_t r = 0; r < kResources; ++r) {
    const double whole = offer.unit_capacity[r] * static_cast<double>(units);
    live.per_unit[r][i] = whole > 0.0 ? 1.0 / whole : 0.0;
  }
}

void set_prices(Live& live, std::size_t i, UsdPerMtok input, UsdPerMtok cached, UsdPerMtok output, double factor) {
  live.price_input[i] = static_cast<double>(input.nano) * 1e-6 * factor;
  live.price_cached[i] = static_cast<double>(cached.nano) * 1e-6 * factor;
  live.price_output[i] = static_cast<double>(output.nano) * 1e-6 * factor;
}

/// List prices of the first context tier; a unit without a price counts as the one it falls back to.
void set_list_prices(Live& live, std::size_t i, const Fleet& fleet, const Offer& offer) {
  const Destination& at = fleet.destinations[offer.destination.value];
  const PriceRow& row = fleet.prices.rows[offer.price->value];
  const Rates& rates = rates_for(row, Tokens{0}, at.service);
  const UsdPerMtok input = rates[Unit::input].value_or(UsdPerMtok{});
  set_prices(live, i, input, rates[Unit::cached_input].value_or(input), rates[Unit::output].value_or(UsdPerMtok{}),
             static_cast<double>(at.uplift_ppm) * 1e-6);
  live.tiered[i] = row.tiers.size() > 1 ? 1 : 0;
}

}  // namespace

Live::Live(const Snapshot& snapshot) {
  const Fleet& fleet = snapshot.fleet();
  const std::span<const Offer> offers = snapshot.offers();
  const std::size_t n = offers.size();
  for (auto& column : use) column.assign(n, 0.0);
  for (auto& column : per_unit) column.assign(n, 0.0);
  for (auto* column : {&price_input, &price_cached, &price_output, &sustained, &shadow_price, &fail_probability,
                       &warmth, &bias, &wait, &wait_per_token})
    column->assign(n, 0.0);
  for (auto* column : {&meter_output, &meter_cached, &derate}) column->assign(n, 1.0);
  knee.assign(n, kKneePrior);
  knee_by_class.assign(fleet.slo_classes.size(), knee);
  wait_scale.assign(fleet.slo_classes.size(), wait);
  for (auto* column : {&tiered, &scarce}) column->assign(n, 0);
  for (auto* column : {&running, &resident}) column->assign(n, 1);
  ready.assign(fleet.slo_classes.size(), resident);
  for (auto* column : {&throttled_until, &tripped_until}) column->assign(n, 0);
  cached.assign(n, 0);
  version.assign(n, 0);

  for (std::size_t i = 0; i < n; ++i) {
    const Offer& offer = offers[i];
    const Destination& at = fleet.destinations[offer.destination.value];
    resident[i] = offer.resident ? 1 : 0;
    for (auto& column : ready) column[i] = resident[i];
    size_offer(*this, i, offer, offer.profile ? at.units.units : 1);
    if (offer.serving->ptu) {
      meter_output[i] = offer.serving->ptu->output_ratio;
      meter_cached[i] = offer.serving->ptu->cached_weight;
    }
    if (offer.serving->gsu) {
      meter_output[i] = offer.serving->gsu->output_ratio;
      meter_cached[i] = offer.serving->gsu->cached_weight;
    }
    if (per_unit[kTokensMeter][i] > 0.0) scarce[i] = static_cast<std::uint8_t>(Resource::tokens);
    if (offer.profile) scarce[i] = static_cast<std::uint8_t>(Resource::slots);
    if (offer.price) set_list_prices(*this, i, fleet, offer);
    if (const auto b = fleet.policies.bias.find(at.provider.value); b != fleet.policies.bias.end())
      bias[i] = static_cast<double>(b->second.nano) * 1e-6;
  }
  price_energy(snapshot, Instant{});
}

void Live::size_to(const Snapshot& snapshot, DestinationId destination, std::int64_t units) {
  const std::span<const Offer> offers = snapshot.offers();
  for (std::size_t i = 0; i < offers.size(); ++i)
    if (offers[i].destination == destination) size_offer(*this, i, offers[i], units);
}

void Live::price_energy(const Snapshot& snapshot, Instant t) {
  const std::span<const Offer> offers = snapshot.offers();
  const UsdPerKwh electricity = snapshot.fleet().electricity.believed(t);
  for (std::uint32_t i = 0; i < offers.size(); ++i) {
    if (offers[i].tier != Tier::owned) continue;
    const Snapshot::EnergyPrice energy = snapshot.energy_price(OfferId{i}, electricity);
    set_prices(*this, i, energy.prefill, UsdPerMtok{}, energy.decode, 1.0);
  }
}

}  // namespace ace
