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
    : fleet_(fleet), live_(live), request_(request), scratch_(scratch), kernel_(kernel) {
  std::size_t at = 0;
  Weighed seen;
  for (const OfferRange& range : fleet.ranges(request.model)) {
    double* price = scratch.price.data() + at;
    std::uint8_t* out = scratch.excluded.data() + at;
    const Columns columns = columns_of(range);
    const Ask ask = ask_of(range);
    exclude(fleet, live, request, range, scratch.attempted, out);
    kernel.weigh(columns, ask, nanos(now), range.count, price, scratch.rho.data() + at, out, seen);
    if (request.prompt > range.tier_min) price_long_context(range, ask, out, price, seen);
    at += range.count;
  }
  seen.counts[0] = 0;
  excluded_ = seen.counts;
  feasible_ = static_cast<std::uint32_t>(at);
  for (const std::uint32_t count : excluded_) feasible_ -= count;
  reference_ = reference_price(fleet.fleet(), request, seen.dearest_price);
  dearest_output_ = seen.dearest_output;
  miss_ = reference_;
  if (request.slo.valid())
    if (const std::optional<Usd>& value = fleet.fleet().slo_classes[request.slo.value].miss_value)
      miss_ = static_cast<double>(value->nano);
}

Columns Weighing::columns_of(const OfferRange& range) const {
  return columns_from(fleet_, live_, request_.slo, request_.compliance, range.first);
}

Ask Weighing::ask_of(const OfferRange& range) const {
  Ask ask;
  ask.prompt = static_cast<double>(request_.prompt.value);
  ask.output_mean = request_.predicted.output_mean * range.verbosity;
  ask.output_p90 = request_.predicted.output_p90 * range.verbosity;
  ask.held = ask.prompt + ask.output_p90;
  ask.tokens = ask.prompt + ask.output_mean;
  ask.reference = reference_;
  ask.failure = ask.output_mean * dearest_output_ + miss_;
  return ask;
}

void Weighing::price_long_context(const OfferRange& range, const Ask& ask, const std::uint8_t* excluded, double* price,
                                  Weighed& seen) const {
  for (std::uint32_t i = 0; i < range.count; ++i) {
    const std::uint32_t offer = range.first.value + i;
    if (live_.tiered[offer] == 0 || !(price[i] < std::numeric_limits<double>::infinity())) continue;
    const TokenPrices p = token_prices(fleet_.fleet().prices.rows[fleet_[OfferId{offer}].price->value], request_.prompt,
                                       fleet_.fleet().destinations[fleet_[OfferId{offer}].destination.value]);
    const double cached = std::min(static_cast<double>(live_.cached[offer]), ask.prompt);
    price[i] = round_nano((ask.prompt - cached) * p.input + cached * p.cached + ask.output_mean * p.output);
    if (excluded[i] != 0) continue;
    seen.dearest_price = std::max(seen.dearest_price, price[i]);
    seen.dearest_output = std::max(seen.dearest_output, p.output);
  }
}

Cheapest Weighing::cheapest() const {
  constexpr double none = std::numeric_limits<double>::infinity();
  Cheapest cheapest;
  double key = none, key_uncongested = none;
  const auto place = [&](OfferId id) { return std::pair(fleet_[id].destination, fleet_[id].model); };
  std::size_t at = 0;
  for (const OfferRange& range : fleet_.ranges(request_.model)) {
    const Columns columns = columns_of(range);
    const Ask ask = ask_of(range);
    // Keys are whole: one more lets an equal one of a later range through, to break the tie here.
    Best best{{key + 1.0, 0, false}, {key_uncongested + 1.0, 0, false}};
    kernel_.pick(columns, ask, scratch_.price.data() + at, scratch_.rho.data() + at, fleet_.bias_floor(), range.count,
                 best);
    const auto offer = [&](const Least& least) {
      return OfferId{range.first.value + static_cast<std::uint32_t>(least.at)};
    };
    if (best.all.found && (best.all.key < key || place(offer(best.all)) < place(cheapest.offer))) {
      key = best.all.key;
      cheapest.offer = offer(best.all);
      cheapest.terms =
          terms_of(columns, ask, best.all.at, scratch_.price[at + best.all.at], scratch_.rho[at + best.all.at]);
    }
    if (best.uncongested.found &&
        (best.uncongested.key < key_uncongested || place(offer(best.uncongested)) < place(cheapest.uncongested))) {
      key_uncongested = best.uncongested.key;
      cheapest.uncongested = offer(best.uncongested);
    }
    at += range.count;
  }
  return cheapest;
}

}  // namespace ace
