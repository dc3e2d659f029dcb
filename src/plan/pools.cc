#include "plan/pools.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace ace {
namespace {

/// How long a lost spot unit is missing where the file gives only the chance of losing it: the start of a reactive
/// pool.
constexpr double kRestartHours = 5.0 / 60.0;

bool held(const Offer& offer) {
  return offer.tier != Tier::payg && (offer.profile || offer.serving->ptu || offer.serving->gsu);
}

const Offer* first_offer(const Snapshot& fleet, DestinationId destination) {
  for (const Offer& offer : fleet.offers())
    if (offer.destination == destination && held(offer)) return &offer;
  return nullptr;
}

/// Committed units that `commitment_hourly` is for.
std::int64_t committed_units(const Destination& at, const Serving& serving) {
  if (serving.ptu) return serving.ptu->units;
  if (serving.gsu) return serving.gsu->units;
  return at.units.units;
}

double availability_of(const Destination& at) {
  if (at.tier != Tier::spot || !at.rental) return 1.0;
  const std::vector<double>& series = at.rental->availability.values;
  if (!series.empty()) {
    const double most = std::max(1.0, *std::max_element(series.begin(), series.end()));
    return std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size()) / most;
  }
  return 1.0 / (1.0 + at.rental->hazard_per_hour * kRestartHours);  // repair over the whole cycle, as FOR
}

/// Power of an idle unit for an hour: physics that becomes money here, rounded to a nano-dollar.
Usd idle_power(const Electricity& electricity, double watts, Instant t) {
  const double dollars = watts / 1000.0 * electricity.pue * static_cast<double>(electricity.booked(t).nano) * 1e-9;
  const Result<Usd> hourly = usd_from_physics(std::max(0.0, dollars));
  return hourly ? *hourly : Usd{};
}

/// Of a request, after its arrival. A class without any limit can wait an hour.
Duration latest_end(const SloClass& slo, std::int32_t output) {
  const Duration deadline = slo.deadline.value_or(Duration::max());
  if (slo.ttft && slo.tpot) return std::min(deadline, *slo.ttft + output * *slo.tpot);
  return slo.deadline.value_or(slo.ttft.value_or(kHour));
}

/// Seconds of its rate that a provider's meter holds.
template <class Terms>
double window_of(const Terms& terms) {
  const CommitmentMeter meter(terms);
  return meter.capacity() / meter.rate();
}

}  // namespace

std::string_view name_of(Unpooled why) {
  constexpr std::array<std::string_view, kUnpooled> names = {"no capacity is held for its model",
                                                             "no compliant pay-as-you-go price",
                                                             "may not go to any held capacity, or does not fit there"};
  return names[static_cast<std::size_t>(why)];
}

std::vector<Pool> pools_of(const Snapshot& fleet) {
  const std::size_t models = fleet.fleet().models.size(), nodes = models + fleet.fleet().destinations.size();
  std::vector<std::size_t> root(nodes);
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto find = [&](std::size_t node) {
    while (root[node] != node) node = root[node] = root[root[node]];
    return node;
  };
  std::vector<bool> used(nodes, false);
  for (const Offer& offer : fleet.offers()) {
    if (!held(offer)) continue;
    const std::size_t model = offer.model.value, place = models + offer.destination.value;
    used[model] = used[place] = true;
    const std::size_t a = find(model), b = find(place);
    root[std::max(a, b)] = std::min(a, b);
  }
  std::vector<Pool> pools;
  std::vector<std::size_t> pool_at(nodes, nodes);
  for (std::size_t node = 0; node < nodes; ++node) {
    if (!used[node]) continue;
    std::size_t& at = pool_at[find(node)];
    if (at == nodes) {
      at = pools.size();
      pools.emplace_back();
    }
    Pool& pool = pools[at];
    const auto id = static_cast<std::uint32_t>(node < models ? node : node - models);
    if (node < models) {
      pool.name += (pool.name.empty() ? "" : ", ") + fleet.fleet().models[id].name;
      pool.models.push_back(ModelId{id});
    } else {
      pool.destinations.push_back(DestinationId{id});
    }
  }
  return pools;
}

Supply supply_of(const Snapshot& fleet, DestinationId destination, Instant t) {
  const Destination& at = fleet.fleet().destinations[destination.value];
  const Offer* offer = first_offer(fleet, destination);
  ACE_CHECK(offer != nullptr, "only destinations of a pool are supplies");
  Supply supply;
  supply.name = at.name;
  supply.capacity = availability_of(at);
  supply.fee_hourly = at.unit_hourly(t);
  supply.units_today = at.units.reactive ? at.units.reactive->units_min : at.units.units;
  if (at.tier == Tier::reserved) {
    const std::int64_t units = std::max<std::int64_t>(1, committed_units(at, *offer->serving));
    supply.fee_hourly = Usd{at.commitment_hourly.nano / units};
    supply.units_today = units;
  }
  if (at.tier == Tier::owned)
    supply.fee_hourly += idle_power(fleet.fleet().electricity,
                                    offer->profile->watts_idle * static_cast<double>(at.replicas_per_unit()), t);
  if (offer->serving->ptu) {
    supply.units_min = offer->serving->ptu->units_min;
    supply.increment = offer->serving->ptu->units_increment;
  }
  if (offer->serving->gsu) supply.units_min = supply.increment = offer->serving->gsu->units_increment;
  return supply;
}

PoolScale::PoolScale(const Snapshot& fleet)
    : fleet_(&fleet), belief_(fleet), pools_(pools_of(fleet)), pool_of_(fleet.fleet().models.size(), pools_.size()) {
  for (std::size_t p = 0; p < pools_.size(); ++p)
    for (const ModelId model : pools_[p].models) pool_of_[model.value] = p;
}

const PoolUse* PoolScale::weigh(const Demand& demand, Unpooled& why) {
  const std::size_t p = pool_of_[demand.model.value];
  if (p == pools_.size()) {
    why = Unpooled::no_pool;
    return nullptr;
  }
  const Arrival& arrival = demand.arrival;
  const SloClass& slo = fleet_->fleet().slo_classes[demand.slo.value];
  const Usage usage = usage_of(arrival, std::clamp(arrival.cached, 0, arrival.prompt), arrival.output);
  const auto payg = fleet_->cheapest_payg(demand.model, demand.compliance, demand.data_class, usage,
                                          arrival.batch || slo.deferrable());
  if (!payg) {
    why = Unpooled::unpriced;
    return nullptr;
  }
  const Pool& pool = pools_[p];
  use_.pool = p;
  use_.payg = payg->price;
  use_.at.assign(pool.destinations.size(), {});
  for (const OfferId id : fleet_->candidates(demand.model)) {
    const Offer& offer = (*fleet_)[id];
    if (offer.model != demand.model) break;  // from here on equivalents
    const auto at = std::find(pool.destinations.begin(), pool.destinations.end(), offer.destination);
    if (at != pool.destinations.end())
      weigh_at(use_.at[static_cast<std::size_t>(at - pool.destinations.begin())], id, demand, usage);
  }
  if (std::none_of(use_.at.begin(), use_.at.end(), [](const PoolUse::At& at) { return at.can(); })) {
    why = Unpooled::barred;
    return nullptr;
  }
  return &use_;
}

void PoolScale::weigh_at(PoolUse::At& use, OfferId id, const Demand& demand, const Usage& usage) const {
  const Offer& offer = (*fleet_)[id];
  const Arrival& arrival = demand.arrival;
  const Destination& at = fleet_->fleet().destinations[offer.destination.value];
  if (fleet_->compliance(demand.compliance, demand.data_class, offer.destination) != Exclusion::none) return;
  if (!offer.resident || arrival.prompt + arrival.output > offer.context_max.value) return;
  if (offer.output_max.value > 0 && arrival.output > offer.output_max.value) return;
  if ((offer.capabilities & arrival.needs) != arrival.needs) return;
  const Result<Usd> price = fleet_->price(id, usage, arrival.at);
  if (!price) return;
  double weight = 0.0;  // of a cached prompt token
  if (offer.serving->ptu) weight = offer.serving->ptu->cached_weight;
  if (offer.serving->gsu) weight = offer.serving->gsu->cached_weight;
  const double cached = std::clamp(arrival.cached, 0, arrival.prompt);
  const double prompt = std::max(1.0, arrival.prompt - cached + weight * cached), output = std::max(1, arrival.output);
  const double rate = throughput(*fleet_, id, 1, belief_.knee(id, demand.slo), prompt, output).knee;
  if (!(rate > 0.0)) return;
  use.metered = offer.serving->ptu || offer.serving->gsu;  // whose throughput is that of all committed units
  use.unit_s = (use.metered ? static_cast<double>(committed_units(at, *offer.serving)) : 1.0) / rate;
  use.at_work = *price;
  use.patience_s = to_seconds(latest_end(fleet_->fleet().slo_classes[demand.slo.value], arrival.output));
  if (offer.serving->ptu) use.patience_s = window_of(*offer.serving->ptu);
  if (offer.serving->gsu) use.patience_s = window_of(*offer.serving->gsu);
}

}  // namespace ace
