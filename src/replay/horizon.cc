#include "replay/horizon.h"

#include <fmt/format.h>

#include <algorithm>

namespace ace {
namespace {

/// Midnight of a day that a price list names; a day beyond our times (2262) is for ever.
Instant day(const std::string& date) {
  const Result<Instant> midnight = parse_rfc3339(date + "T00:00:00Z");
  return midnight ? *midnight : date < "2000" ? Instant::min() : Instant::max();
}

constexpr const char* kCut = "give one that covers the trace, or cut the trace with --window";

}  // namespace

void Horizon::add(Span span) {
  from_ = std::max(from_, span.from);
  to_ = std::min(to_, span.to);
  spans_.push_back(std::move(span));
}

/// A version that the fleet file asks for by its day is meant for whatever day a request came on.
void Horizon::add_prices(const Fleet& fleet) {
  std::vector<PriceId> used;
  for (const Model& model : fleet.models)
    if (model.baseline) used.push_back(model.baseline->price);
  for (const Destination& d : fleet.destinations)
    for (const Serving& serving : d.serving)
      if (serving.price) used.push_back(*serving.price);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (const PriceId id : used) {
    const PriceRow& row = fleet.prices.rows[id.value];
    if (row.valid_from.empty()) continue;
    const Instant from = day(row.valid_from), to = row.valid_to.empty() ? Instant::max() : day(row.valid_to);
    if (!row.chosen_on.empty()) {
      chosen_.push_back({from, to, row.key, row.chosen_on});
      continue;
    }
    add({from, to, "the price of " + row.key + " in this fleet",
         "name the day whose prices the fleet file takes (prices: [{path: FILE, on: DAY}]), or cut the trace where "
         "the price changes (--window)"});
  }
}

Horizon::Horizon(const Fleet& fleet) {
  add_prices(fleet);
  const bool owned = std::any_of(fleet.destinations.begin(), fleet.destinations.end(),
                                 [](const Destination& d) { return d.tier == Tier::owned; });
  const auto hour = [](std::int64_t number) { return instant(number * nanos(kHour)); };
  const Electricity& power = fleet.electricity;
  if (owned && !power.hourly.empty())
    add({hour(power.first_hour), hour(power.first_hour + static_cast<std::int64_t>(power.hourly.size())),
         "the electricity series", kCut});
  for (const Destination& d : fleet.destinations) {
    if (!d.rental) continue;
    const Rental& rental = *d.rental;
    if (!rental.hourly_series.empty())
      add({hour(rental.series_first_hour),
           hour(rental.series_first_hour + static_cast<std::int64_t>(rental.hourly_series.size())),
           "the price series of " + d.name, kCut});
    if (const StepSeries& held = rental.availability; !held.values.empty())
      add({held.start, held.start + held.step * static_cast<std::int64_t>(held.values.size()),
           "the availability of " + d.name, kCut});
  }
}

std::vector<std::string> Horizon::assumptions(Instant first, Instant last) const {
  std::vector<std::string> said;
  for (const Span& price : chosen_)
    if (first < price.from || last >= price.to)
      said.push_back(
          fmt::format("the price of {} is that of {}, as the fleet file asks, whatever day a request came on",
                      price.what, price.mend));
  return said;
}

Error Horizon::error(Instant t) const {
  for (const Span& span : spans_) {
    if (t >= span.from && t < span.to) continue;
    return Error(Errc::bad_input,
                 fmt::format("{} {} {}, so nothing is known for {}; {}", span.what, t < span.from ? "begins" : "ends",
                             to_rfc3339(t < span.from ? span.from : span.to), to_rfc3339(t), span.mend));
  }
  return Error(Errc::bad_input, "outside of what the fleet knows: " + to_rfc3339(t));
}

}  // namespace ace
