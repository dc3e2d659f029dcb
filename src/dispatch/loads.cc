#include "dispatch/loads.h"

#include <algorithm>
#include <limits>

#include "dispatch/knee.h"

namespace ace {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kMeasurable = 0.05;  ///< utilization from which load over utilization tells the capacity

/// Tokens/s of one replica at full load with usual requests: prompt and output share the engine.
double nominal_tokens_per_s(const ServerProfile& p) {
  const Shape shape;
  const double batch = static_cast<double>(p.batch_max);
  const double per_running = p.step_per_sequence_s + p.step_per_kv_token_s * (shape.prompt_mean + shape.output_mean);
  const double request_s =
      shape.prompt_mean / p.prefill_tokens_per_s + shape.output_mean * (p.step_base_s / batch + per_running);
  return (shape.prompt_mean + shape.output_mean) / request_s;
}

}  // namespace

Loads::Loads(const Snapshot& snapshot)
    : snapshot_(&snapshot),
      sites_(snapshot.fleet().destinations.size()),
      own_(snapshot.fleet().models.size()),
      contingency_(snapshot.fleet().models.size(), kInfinite) {
  for (std::uint32_t i = 0; i < snapshot.offers().size(); ++i) {
    site_of_.push_back(snapshot.offers()[i].destination.value);
    own_[snapshot.offers()[i].model.value].push_back(OfferId{i});
  }
  rooms_.reserve(site_of_.size());
}

double Loads::free_room(Instant now, OfferId id, const Occupancy& occupancy, const Live& live) const {
  const std::size_t o = id.value;
  const Offer& offer = (*snapshot_)[id];
  const Site& site = sites_[site_of_[o]];
  if (live.running[o] == 0 || live.resident[o] == 0 || live.tripped_until[o] > nanos(now) ||
      live.throttled_until[o] > nanos(now))
    return 0.0;
  if (offer.profile) {
    const double rho = Occupancy::rho(id, live);
    const double whole = rho >= kMeasurable && site.tokens_per_s > 0.0
                             ? site.tokens_per_s / rho
                             : nominal_tokens_per_s(*offer.profile) * static_cast<double>(occupancy.replicas(id));
    return whole * std::max(0.0, live.knee[o] - rho);
  }
  constexpr auto kTokensUsed = static_cast<std::size_t>(Resource::tokens);
  constexpr auto kRequestsUsed = static_cast<std::size_t>(Resource::requests);
  if (snapshot_->fleet().destinations[offer.destination.value].unlimited) return kInfinite;
  double free = kInfinite;
  const double cap_tokens = live.per_unit[kTokensUsed][o], cap_requests = live.per_unit[kRequestsUsed][o];
  if (cap_tokens > 0.0) {
    const double left = std::max(0.0, 1.0 - live.use[kTokensUsed][o]);
    free = left / cap_tokens / occupancy.flow_seconds(offer.destination) / std::max(live.meter_output[o] / 2.0, 1.0);
  }
  if (cap_requests > 0.0) {
    const double each =
        site.requests_per_s > 0.0 ? site.tokens_per_s / site.requests_per_s : Shape{}.prompt_mean + Shape{}.output_mean;
    free = std::min(free, std::max(0.0, 1.0 - live.use[kRequestsUsed][o]) / cap_requests / 60.0 * each);
  }
  // No quota is known: what it has once served is known to fit, and no more.
  return free == kInfinite ? std::max(0.0, site.peak - site.tokens_per_s) : free;
}

void Loads::close(Instant now, Duration period, const Occupancy& occupancy, const Live& live) {
  const double seconds = std::max(to_seconds(period), 1e-9);
  for (Site& site : sites_) {
    constexpr double kWeight = 0.3;  // the last half minute or so
    site.tokens_per_s += kWeight * (site.tokens / seconds - site.tokens_per_s);
    site.requests_per_s += kWeight * (site.requests / seconds - site.requests_per_s);
    site.peak = std::max(site.peak, site.tokens / seconds);
    site.tokens = site.requests = 0.0;
  }
  short_ = false;
  for (std::size_t m = 0; m < own_.size(); ++m) {
    rooms_.clear();
    for (const OfferId o : own_[m]) {
      const double load = sites_[site_of_[o.value]].tokens_per_s;
      rooms_.push_back({load < 1e-3 ? 0.0 : load, free_room(now, o, occupancy, live)});
    }
    contingency_[m] = contingency_of(rooms_);
    short_ = short_ || contingency_[m] < 1.0;
  }
}

}  // namespace ace
