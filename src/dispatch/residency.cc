#include "dispatch/residency.h"

#include <algorithm>

namespace ace {
namespace {

/// Weight of the last stay in the mean of all.
constexpr std::int64_t kStays = 4;

}  // namespace

double load_price(double load_s, double reload_s, double units, Usd hourly, double requests) {
  const double per_second = units * static_cast<double>(hourly.nano) / 3600.0;
  return std::max(0.0, per_second * (load_s + reload_s) / std::max(requests, 1.0));
}

Residency::Residency(const Snapshot& snapshot, Live& live)
    : snapshot_(&snapshot), pools_(snapshot.fleet().destinations.size()), by_model_(snapshot.fleet().models.size()) {
  for (const SloClass& slo : snapshot.fleet().slo_classes)
    patience_s_.push_back(slo.ttft ? to_seconds(*slo.ttft) : slo.deadline ? to_seconds(*slo.deadline) : 0.0);
  for (std::uint32_t i = 0; i < snapshot.offers().size(); ++i) {
    const Offer& offer = snapshot.offers()[i];
    set(OfferId{i}, offer.resident, true, 0.0, live);
    if (!offer.resident) continue;
    pools_[offer.destination.value].home.push_back(OfferId{i});
    pools_[offer.destination.value].reload_s += offer.load_s;
  }
  for (std::uint32_t i = 0; i < snapshot.offers().size(); ++i) {
    const Offer& offer = snapshot.offers()[i];
    Pool& pool = pools_[offer.destination.value];
    if (!offer.guest() || pool.home.empty()) continue;
    pool.guests.push_back(guests_.size());
    by_model_[offer.model.value].push_back(guests_.size());
    guests_.emplace_back().offer = OfferId{i};
  }
}

/// @param open takes requests: at once where resident, else by those who can wait for load_s
void Residency::set(OfferId offer, bool resident, bool open, double load_s, Live& live) const {
  live.resident[offer.value] = resident ? 1 : 0;
  for (std::size_t s = 0; s < live.ready.size(); ++s)
    live.ready[s][offer.value] = open && (resident || (load_s > 0.0 && load_s <= patience_s_[s])) ? 1 : 0;
}

void Residency::holds(Instant now, const Belief::Holding& h, Live& live) {
  Pool& pool = pools_[h.destination.value];
  const bool at_home = !h.guest.valid();
  for (const OfferId o : pool.home) {
    set(o, at_home && h.loaded, true, 0.0, live);
    ++live.version[o.value];
  }
  for (const std::size_t g : pool.guests) {
    Guest& guest = guests_[g];
    const bool its_own = h.guest == guest.offer, there = its_own && h.loaded;
    const bool may = its_own || (at_home && h.loaded);
    set(guest.offer, there, may && h.open, (*snapshot_)[guest.offer].load_s, live);
    ++live.version[guest.offer.value];
    if (there && !guest.there) guest.since = now;
    if (!there && guest.there) guest.stay += ((now - guest.since) - guest.stay) / kStays;
    guest.there = there;
    if (its_own) live.warmth[guest.offer.value] = 0.0;  // there, or paid for by the one who had it fetched
  }
}

void Residency::dispatched(Instant now, ModelId requested, OfferId offer) {
  for (const std::size_t g : by_model_[requested.value]) guests_[g].asked.add(now, 1.0);
  Pool& pool = pools_[(*snapshot_)[offer].destination.value];
  pool.home_used = pool.home_used || (*snapshot_)[offer].resident;
}

void Residency::price(Instant now, const std::vector<std::int64_t>& units, Live& live) {
  for (const Guest& guest : guests_) {
    const std::size_t o = guest.offer.value;
    const Offer& offer = (*snapshot_)[guest.offer];
    if (guest.there || live.resident[pools_[offer.destination.value].home.front().value] == 0) continue;
    const Pool& pool = pools_[offer.destination.value];
    const double requests = guest.asked.per_second(now) * to_seconds(guest.stay);
    live.warmth[o] = load_price(offer.load_s, pool.home_used ? pool.reload_s : 0.0,
                                static_cast<double>(units[offer.destination.value]),
                                snapshot_->fleet().destinations[offer.destination.value].unit_hourly(now), requests);
  }
}

}  // namespace ace
