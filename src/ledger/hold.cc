#include "ledger/hold.h"

#include <algorithm>

namespace ace {
namespace {

UsdPerMtok dearest(const Rates& rates, std::initializer_list<Unit> units) {
  UsdPerMtok most{};
  for (const Unit unit : units)
    if (const auto price = rates[unit]) most = std::max(most, *price);
  return most;
}

/// Half away from zero, as a bill is.
Usd rounded(int128 femto) { return {static_cast<std::int64_t>(divide_half_away(femto, 1'000'000))}; }

}  // namespace

Holds::Holds(const Snapshot& fleet) : fleet_(&fleet), data_classes_(fleet.fleet()) {
  for (std::uint32_t o = 0; o < fleet.offers().size(); ++o) asks_.push_back(ask_of(OfferId{o}));
  const Fleet& f = fleet.fleet();
  const std::size_t models = f.models.size();
  may_.resize((f.compliance.size() + 1) * data_classes_.size() * models);
  for (std::size_t rule = 0; rule <= f.compliance.size(); ++rule) {
    const ComplianceId id = rule == 0 ? ComplianceId{} : ComplianceId{static_cast<std::uint32_t>(rule - 1)};
    for (std::size_t data = 0; data < data_classes_.size(); ++data)
      for (std::uint32_t m = 0; m < models; ++m)
        for (const OfferId offer : fleet.candidates(ModelId{m}))
          if (!asks_[offer.value].steps.empty() &&
              fleet.compliance(id, data_classes_[data], fleet[offer].destination) == Exclusion::none)
            may_[(rule * data_classes_.size() + data) * models + m].push_back(offer);
  }
}

Holds::Ask Holds::ask_of(OfferId id) const {
  const Offer& offer = (*fleet_)[id];
  const Fleet& fleet = fleet_->fleet();
  const Destination& at = fleet.destinations[offer.destination.value];
  Ask ask{{}, offer.context_max, offer.output_max};
  if (offer.price && (offer.tier == Tier::payg || offer.tier == Tier::reserved)) {
    const auto raised = [&](UsdPerMtok price) {
      return UsdPerMtok{static_cast<std::int64_t>(divide_half_away(int128{price.nano} * at.uplift_ppm, 1'000'000))};
    };
    for (const ContextTier& tier : fleet.prices.rows[offer.price->value].tiers) {
      const Rates& rates = tier.by_service[static_cast<std::size_t>(at.service)];
      const UsdPerMtok input = dearest(rates, {Unit::input, Unit::cache_write, Unit::cache_write_1h});
      ask.steps.push_back(
          {tier.above, raised(input),
           raised(dearest(rates, {Unit::output, Unit::reasoning, Unit::audio_output, Unit::image_output})),
           raised(std::max(input, dearest(rates, {Unit::audio_input, Unit::image_input, Unit::video_input})))});
    }
  } else if (offer.tier == Tier::owned) {
    const Electricity& power = fleet.electricity;
    const UsdPerKwh most =
        power.hourly.empty() ? power.flat : *std::max_element(power.hourly.begin(), power.hourly.end());
    const Snapshot::EnergyPrice energy = fleet_->energy_price(id, most);
    ask.steps.push_back({Tokens{0}, energy.prefill, energy.decode, energy.prefill});
  }
  return ask;
}

Hold Holds::worst_case(const event::Admitted& request) const {
  const std::size_t rule = request.compliance.valid() ? request.compliance.value + 1U : 0;
  const std::size_t data = data_classes_.of(request.declared_tenant);
  const std::size_t models = fleet_->fleet().models.size();
  const bool media = (request.needs & (kImage | kAudio | kVideo)) != 0;
  const std::int64_t prompt = request.prompt.value;
  Hold hold;
  int128 most = -1;
  std::int64_t output = 0;
  for (const OfferId id : may_[(rule * data_classes_.size() + data) * models + request.requested.value]) {
    const Ask& ask = asks_[id.value];
    std::int64_t room = std::max<std::int64_t>(ask.context_max.value - prompt, 0);
    if (ask.output_max.value > 0) room = std::min(room, ask.output_max.value);
    const std::int64_t out = request.max_output.value > 0 ? std::min(request.max_output.value, room) : room;
    const Step* tier = &ask.steps.front();
    for (const Step& next : ask.steps)
      if (request.prompt > next.above) tier = &next;
    const int128 cost = femto_usd(prompt, media ? tier->media : tier->input) + femto_usd(out, tier->output);
    if (cost <= most) continue;
    most = cost;
    output = out;
    hold.dearest = id;
  }
  if (!hold.dearest.valid()) return hold;
  hold.output = Tokens{output};
  hold.amount = rounded(std::max<int128>(most, 0));
  return hold;
}

}  // namespace ace
