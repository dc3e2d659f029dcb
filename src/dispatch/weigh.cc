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
    if (request.prompt > range.tier_min) price_long_context(range, ask, price, seen);
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

void Weighing::price_long_context(const OfferRange& range, const Ask& ask, double* price, Weighed& seen) const {
  for (std::uint32_t i = 0; i < range.count; ++i) {
    const std::uint32_t offer = range.first.value + i;
    if (live_.tiered[offer] == 0 || !(price[i] < std::numeric_limits<double>::infinity())) continue;
    const TokenPrices p = token_prices(fleet_.fleet().prices.rows[fleet_[OfferId{offer}].price->value], request_.prompt,
                                       fleet_.fleet().destinations[fleet_[OfferId{offer}].destination.value]);
    const double cached = std::min(static_cast<double>(live_.cached[offer]), ask.prompt);
    price[i] = round_nano((ask.prompt - cached) * p.input + cached * p.cached + ask.output_mean * p.output);
    seen.dearest_price = std::max(seen.dearest_price, price[i]);
    seen.dearest_output = std::max(seen.dearest_output, p.output);
  }
}

OfferId Weighing::cheapest(Terms& terms) const {
  OfferId chosen;
  double least = std::numeric_limits<double>::infinity();
  std::size_t at = 0;
  for (const OfferRange& range : fleet_.ranges(request_.model)) {
    const Columns columns = columns_of(range);
    const Ask ask = ask_of(range);
    Best best{least, 0, false};
    if (chosen.valid()) best.key = least + 1.0;  // keys are whole: let an equal one through, to break the tie below
    kernel_.pick(columns, ask, scratch_.price.data() + at, scratch_.rho.data() + at, fleet_.bias_floor(), range.count,
                 best);
    if (best.found) {
      const OfferId offer{range.first.value + static_cast<std::uint32_t>(best.at)};
      const auto place = [&](OfferId id) { return std::pair(fleet_[id].destination, fleet_[id].model); };
      if (!chosen.valid() || best.key < least || place(offer) < place(chosen)) {
        chosen = offer;
        least = best.key;
        terms = terms_of(columns, ask, best.at, scratch_.price[at + best.at], scratch_.rho[at + best.at]);
      }
    }
    at += range.count;
  }
  return chosen;
}

OfferId Weighing::cheapest_uncongested(OfferId chosen, const Terms& terms) const {
  // Where nobody cheaper is congested or full, leaving congestion out changes nothing; this is nearly always so.
  bool waits = excluded_[static_cast<std::size_t>(Exclusion::saturated)] > 0 || terms.congestion > 0;
  const double key = static_cast<double>(terms.key());
  std::size_t at = 0;
  for (const OfferRange& range : fleet_.ranges(request_.model)) {
    const Columns c = columns_of(range);
    const double *price = scratch_.price.data() + at, *rho = scratch_.rho.data() + at;
    for (std::uint32_t i = 0; i < range.count; ++i)
      waits |= (price[i] + fleet_.bias_floor() < key) & (rho[i] > 0.98 * std::min(c.knee[i], c.knee_of_class[i]));
    at += range.count;
  }
  if (!waits) return chosen;

  OfferId found;
  double least = std::numeric_limits<double>::infinity();
  at = 0;
  for (const OfferRange& range : fleet_.ranges(request_.model)) {
    const Columns c = columns_of(range);
    const Ask ask = ask_of(range);
    for (std::uint32_t i = 0; i < range.count; ++i, ++at) {
      const auto why = static_cast<Exclusion>(scratch_.excluded[at]);
      if (why != Exclusion::none && why != Exclusion::saturated) continue;
      double price = scratch_.price[at];
      if (why == Exclusion::saturated) {
        const double cached = std::min(static_cast<double>(c.cached[i]), ask.prompt);
        price = round_nano((ask.prompt - cached) * c.price_input[i] + cached * c.price_cached[i] +
                           ask.output_mean * c.price_output[i]);
      }
      const Terms t = terms_of(c, ask, i, price, 0.0);  // rho 0: no congestion
      const auto k = static_cast<double>(t.key());
      const OfferId offer{range.first.value + i};
      const auto place = [&](OfferId id) { return std::pair(fleet_[id].destination, fleet_[id].model); };
      if (k < least || (k == least && place(offer) < place(found))) {
        least = k;
        found = offer;
      }
    }
  }
  return found;
}

}  // namespace ace
