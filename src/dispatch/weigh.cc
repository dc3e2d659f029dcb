#include "dispatch/weigh.h"

#include <algorithm>
#include <limits>

namespace ace {
namespace {

/// List price in nano-USD per token at this prompt length, as the service tier and the region's surcharge have it.
struct TokenPrices {
  double input = 0.0, cached = 0.0, output = 0.0;
};
TokenPrices token_prices(const PriceRow& row, Tokens prompt, const Destination& at) {
  const Rates& rates = rates_for(row, prompt, at.service);
  const double factor = static_cast<double>(at.uplift_ppm) * 1e-6 * 1e-6;
  const UsdPerMtok input = rates[Unit::input].value_or(UsdPerMtok{});
  return {static_cast<double>(input.nano) * factor,
          static_cast<double>(rates[Unit::cached_input].value_or(input).nano) * factor,
          static_cast<double>(rates[Unit::output].value_or(UsdPerMtok{}).nano) * factor};
}

}  // namespace

double reference_price(const Fleet& fleet, const Request& request, double dearest) {
  const auto prompt = static_cast<double>(request.prompt.value);
  const double tokens = prompt + request.predicted.output_mean;
  double v = dearest;
  if (const std::optional<Baseline>& baseline = fleet.models[request.model.value].baseline) {
    const TokenPrices p = token_prices(fleet.prices.rows[baseline->price.value], request.prompt,
                                       fleet.destinations[baseline->destination.value]);
    v = p.input * prompt + p.output * request.predicted.output_mean;
  }
  return v > tokens ? v : tokens;
}

Weighing::Weighing(const Snapshot& fleet, const Live& live, const Request& request, Instant now, Scratch& scratch,
                   const Kernel& kernel)
    : fleet_(fleet),
      live_(live),
      request_(request),
      now_(now),
      scratch_(scratch),
      kernel_(kernel),
      columns_(columns_of(fleet, live, request.slo)) {
  Lot* lots = scratch.lots.data();
  double* price = scratch.price.data();
  for (const OfferRange& range : fleet.ranges(request.model)) {
    const Ask ask = ask_of(range);
    bar(fleet, request, range, scratch.attempted, lots, seen_.excluded);
    kernel.weigh(columns_, ask, nanos(now), range.first.value, range.count, lots, price, seen_);
    if (request.prompt > range.tier_min) price_long_context(range, ask, lots, price);
    lots += range.lots();
    price += range.lots() * kLot;
  }
  reference_ = reference_price(fleet.fleet(), request, seen_.dearest_price);
  miss_ = reference_;
  if (request.slo.valid())
    if (const std::optional<Usd>& value = fleet.fleet().slo_classes[request.slo.value].miss_value)
      miss_ = static_cast<double>(value->nano);
}

Ask Weighing::ask_of(const OfferRange& range) const {
  Ask ask;
  ask.prompt = static_cast<double>(request_.prompt.value);
  ask.output_mean = request_.predicted.output_mean * range.verbosity;
  ask.output_p90 = request_.predicted.output_p90 * range.verbosity;
  ask.held = ask.prompt + ask.output_p90;
  ask.tokens = ask.prompt + ask.output_mean;
  ask.reference = reference_;
  ask.failure = ask.output_mean * seen_.dearest_output + miss_;
  return ask;
}

Exclusion Weighing::exclusion_of(OfferId offer, const Lot& lot) const {
  const std::size_t i = offer.value;
  const auto is = [&](std::uint64_t word) { return (word >> i % kLot & 1U) != 0; };
  if (is(lot.barred)) return fixed_exclusion(fleet_, request_, offer);
  if (live_.running[i] == 0) return Exclusion::not_running;
  if (columns_.ready[i] == 0) return Exclusion::not_resident;
  if (live_.tripped_until[i] > nanos(now_)) return Exclusion::tripped;
  if (live_.throttled_until[i] > nanos(now_)) return Exclusion::throttled;
  if (is(lot.saturated)) return Exclusion::saturated;
  return is(lot.attempted) ? Exclusion::attempted : Exclusion::none;
}

void Weighing::price_long_context(const OfferRange& range, const Ask& ask, const Lot* lots, double* price) {
  const Fleet& fleet = fleet_.fleet();
  for (std::uint32_t i = range.first.value; i < range.first.value + range.count; ++i) {
    const std::size_t at = i - range.first.value / kLot * kLot;
    const Lot& lot = lots[at / kLot];
    if (live_.tiered[i] == 0 || ((lot.in | lot.saturated) >> i % kLot & 1U) == 0) continue;
    const Offer& offer = fleet_[OfferId{i}];
    const TokenPrices p = token_prices(fleet.prices.rows[offer.price->value], request_.prompt,
                                       fleet.destinations[offer.destination.value]);
    const double cached = std::min(static_cast<double>(live_.cached[i]), ask.prompt);
    price[at] = round_nano((ask.prompt - cached) * p.input + cached * p.cached + ask.output_mean * p.output);
    if ((lot.in >> i % kLot & 1U) == 0) continue;
    seen_.dearest_price = std::max(seen_.dearest_price, price[at]);
    seen_.dearest_output = std::max(seen_.dearest_output, p.output);
  }
}

Cheapest Weighing::cheapest() const {
  constexpr double none = std::numeric_limits<double>::infinity();
  Cheapest cheapest;
  double key = none, key_uncongested = none;
  const auto place = [&](OfferId id) { return std::pair(fleet_[id].destination, fleet_[id].model); };
  const auto offer = [](const Least& least) { return OfferId{static_cast<std::uint32_t>(least.offer)}; };
  const Lot* lots = scratch_.lots.data();
  const double* price = scratch_.price.data();
  for (const OfferRange& range : fleet_.ranges(request_.model)) {
    const Ask ask = ask_of(range);
    // Keys are whole: one more lets an equal one of a later range through, to break the tie here.
    Best best{{key + 1.0, 0, false}, {key_uncongested + 1.0, 0, false}};
    kernel_.pick(columns_, ask, range.first.value, range.count, lots, price, fleet_.bias_floor(), best);
    if (best.all.found && (best.all.key < key || place(offer(best.all)) < place(cheapest.offer))) {
      key = best.all.key;
      cheapest.offer = offer(best.all);
      cheapest.terms = terms_of(columns_, ask, best.all.offer, price[best.all.offer - range.first.value / kLot * kLot]);
    }
    if (best.uncongested.found &&
        (best.uncongested.key < key_uncongested || place(offer(best.uncongested)) < place(cheapest.uncongested))) {
      key_uncongested = best.uncongested.key;
      cheapest.uncongested = offer(best.uncongested);
    }
    lots += range.lots();
    price += range.lots() * kLot;
  }
  return cheapest;
}

}  // namespace ace
