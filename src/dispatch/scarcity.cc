#include "dispatch/scarcity.h"

#include <algorithm>
#include <bit>
#include <span>

namespace ace {
namespace {

constexpr auto kTokensUsed = static_cast<std::size_t>(Resource::tokens);
constexpr auto kRequestsUsed = static_cast<std::size_t>(Resource::requests);
constexpr double kSetAside = 0.01;  ///< dearest share of the use that does not set L
constexpr double kFarBelow = 0.9;   ///< of the knee

}  // namespace

void DearestUse::add(double value, double use) {
  if (use <= 0.0 || value <= 0.0) return;
  // The exponent and the first mantissa bit of the double are two buckets per octave.
  const auto half_octaves = std::bit_cast<std::uint64_t>(std::max(value / use, 1.0)) >> 51;
  const std::size_t b = std::min<std::size_t>(half_octaves - (std::uint64_t{1023} << 1), kBuckets - 1);
  buckets_[b].use += use;
  buckets_[b].value += value;
  use_ += use;
}

double DearestUse::per_unit() const {
  double aside = kSetAside * use_;
  for (std::size_t b = kBuckets; b-- > 0;) {
    if (buckets_[b].use <= 0.0) continue;
    if (buckets_[b].use > aside) return buckets_[b].value / buckets_[b].use;
    aside -= buckets_[b].use;
  }
  return 0.0;
}

void DearestUse::halve() {
  use_ = 0.0;
  for (Bucket& bucket : buckets_) {
    bucket.use /= 2.0;
    bucket.value /= 2.0;
    use_ += bucket.use;
  }
}

Scarcity::Scarcity(const Snapshot& snapshot) : sites_(snapshot.fleet().destinations.size()) {
  for (std::uint32_t i = 0; i < snapshot.offers().size(); ++i) {
    const Offer& offer = snapshot.offers()[i];
    Site& site = sites_[offer.destination.value];
    site.offers.push_back(OfferId{i});
    site_of_.push_back(offer.destination.value);
    site.flow_s[static_cast<std::size_t>(Resource::prefill)] = to_seconds(kPrefillWindow);
    site.flow_s[kTokensUsed] = site.flow_s[kRequestsUsed] = to_seconds(kMinute);
    if (offer.serving->ptu || offer.serving->gsu) {
      const CommitmentMeter meter =
          offer.serving->ptu ? CommitmentMeter(*offer.serving->ptu) : CommitmentMeter(*offer.serving->gsu);
      if (meter.rate() > 0.0) site.flow_s[kTokensUsed] = meter.capacity() / meter.rate();
    }
  }
  moved_.reserve(site_of_.size());
}

void Scarcity::offered(OfferId cheapest, const Uses& uses, double value, Duration residence) {
  Site& site = sites_[site_of_[cheapest.value]];
  site.active = true;
  const bool teaches = site.requests++ % 4 == 0;
  const double held_s = to_seconds(residence);
  for (std::size_t r = 0; r < kResources; ++r) {
    if (uses[r] <= 0.0) continue;
    site.offered_s[r] += uses[r] * (site.flow_s[r] > 0.0 ? site.flow_s[r] : held_s);
    if (teaches) site.dearest[r].add(value, uses[r]);
  }
}

/// @return did a price move
bool Scarcity::settle(Site& site, double period_s, double knee) {
  bool moved = false, alive = false;
  for (std::size_t r = 0; r < kResources; ++r) {
    const double k = r < kQueueing ? knee : 1.0;
    const double offered = site.offered_s[r] / period_s;
    const double before = site.lambda[r];
    site.offered_s[r] = 0.0;
    site.quiet[r] = offered < kFarBelow * k ? std::min(site.quiet[r] + 1, kQuiet) : 0;
    if (site.quiet[r] == kQuiet || (before <= 0.0 && offered <= k)) {
      site.lambda[r] = 0.0;
    } else {
      const double most = site.dearest[r].per_unit();
      site.lambda[r] = std::clamp(before + kEta * most * (offered - k), 0.0, most);
    }
    moved = moved || site.lambda[r] != before;
    alive = alive || site.lambda[r] > 0.0;
  }
  site.active = alive;
  return moved;
}

std::span<const OfferId> Scarcity::close(Duration period, Live& live) {
  moved_.clear();
  for (Site& site : sites_) {
    if (!site.active || site.offers.empty()) continue;
    const auto busiest = static_cast<std::size_t>(std::max_element(site.offered_s.begin(), site.offered_s.end()) -
                                                  site.offered_s.begin());
    const std::size_t shown = live.scarce[site.offers.front().value];
    const bool demand = site.offered_s[busiest] > 0.0;
    if (!settle(site, to_seconds(period), live.knee[site.offers.front().value]) && !demand) continue;
    // With no demand in the period the resource shown stays.
    const std::size_t r = demand ? busiest : shown;
    for (const OfferId o : site.offers) {
      if (live.scarce[o.value] == r && live.shadow_price[o.value] == site.lambda[r]) continue;
      live.scarce[o.value] = static_cast<std::uint8_t>(r);
      live.shadow_price[o.value] = site.lambda[r];
      moved_.push_back(o);
    }
  }
  return moved_;
}

void Scarcity::forget() {
  for (Site& site : sites_)
    for (DearestUse& dearest : site.dearest) dearest.halve();
}

}  // namespace ace
