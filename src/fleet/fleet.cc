#include "fleet/fleet.h"

#include <algorithm>

namespace ace {
namespace {

/// The element with this name in a vector sorted by name.
template <class Id, class Named>
std::optional<Id> find_named(const std::vector<Named>& sorted, std::string_view name) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), name,
                                   [](const Named& n, std::string_view wanted) { return n.name < wanted; });
  if (at == sorted.end() || at->name != name) return std::nullopt;
  return Id{static_cast<std::uint32_t>(at - sorted.begin())};
}

UsdPerKwh price_in(const std::vector<UsdPerKwh>& hourly, std::int64_t first_hour, Instant t) {
  const std::int64_t hour = hour_of(t) - first_hour;
  return hourly[static_cast<std::size_t>(
      std::clamp<std::int64_t>(hour, 0, static_cast<std::int64_t>(hourly.size()) - 1))];
}

}  // namespace

std::string_view name_of(Api api) {
  switch (api) {
    case Api::none:
      return "";
    case Api::openai:
      return "openai";
    case Api::azure_openai:
      return "azure-openai";
    case Api::anthropic:
      return "anthropic";
    case Api::vertex:
      return "vertex";
    case Api::bedrock:
      return "bedrock";
  }
  return "?";
}

std::string_view name_of(Tier tier) {
  switch (tier) {
    case Tier::owned:
      return "owned";
    case Tier::reserved:
      return "reserved";
    case Tier::spot:
      return "spot";
    case Tier::on_demand:
      return "on_demand";
    case Tier::payg:
      return "payg";
  }
  return "unknown";
}

UsdPerKwh Electricity::booked(Instant t) const { return hourly.empty() ? flat : price_in(hourly, first_hour, t); }

UsdPerKwh Electricity::believed(Instant t) const {
  return day_ahead.empty() ? booked(t) : price_in(day_ahead, first_hour, t);
}

std::int64_t UnitPlan::at_most() const {
  std::int64_t most = units;
  for (const ScheduleWindow& window : schedule) most = std::max(most, window.units);
  if (reactive) most = std::max(most, reactive->units_max);
  return most;
}

std::int64_t UnitPlan::scheduled(Instant t) const {
  const auto weekday = static_cast<unsigned>(((day_of(t) + 3) % 7 + 7) % 7);  // 1970-01-01 was a Thursday; 0 = Monday
  const std::int64_t minute = (nanos(t) - day_of(t) * nanos(kDay)) / nanos(kMinute);
  for (const ScheduleWindow& window : schedule)
    if ((window.days >> weekday & 1U) != 0 && minute >= window.from_minute && minute < window.to_minute)
      return window.units;
  return units;
}

double StepSeries::at(Instant t) const {
  if (values.empty()) return 0.0;
  const std::int64_t i = floor_div(nanos(t - start), nanos(step));
  return values[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, static_cast<std::int64_t>(values.size()) - 1))];
}

std::optional<ModelId> Fleet::model(std::string_view name_or_alias) const {
  if (const auto found = find_named<ModelId>(models, name_or_alias)) return found;
  for (std::size_t i = 0; i < models.size(); ++i)
    if (std::binary_search(models[i].aliases.begin(), models[i].aliases.end(), name_or_alias))
      return ModelId{static_cast<std::uint32_t>(i)};
  return std::nullopt;
}

std::optional<TenantId> Fleet::tenant(std::string_view name) const { return find_named<TenantId>(tenants, name); }

std::optional<DestinationId> Fleet::destination(std::string_view name) const {
  return find_named<DestinationId>(destinations, name);
}

std::optional<ProviderId> Fleet::provider(std::string_view name) const {
  return find_named<ProviderId>(providers, name);
}

Usd Rental::at(Instant t) const {
  if (hourly_series.empty()) return hourly;
  const auto last = static_cast<std::int64_t>(hourly_series.size()) - 1;
  return hourly_series[static_cast<std::size_t>(std::clamp<std::int64_t>(hour_of(t) - series_first_hour, 0, last))];
}

Usd Destination::unit_hourly(Instant t) const {
  if (rental) return rental->at(t);
  if (tier == Tier::reserved) return Usd{commitment_hourly.nano / std::max<std::int64_t>(units.units, 1)};
  return amortization_hourly;
}

}  // namespace ace
