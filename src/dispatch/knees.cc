#include "dispatch/knees.h"

#include <algorithm>

namespace ace {
namespace {

constexpr std::uint32_t kNoSite = 0xffff'ffff;
constexpr std::uint64_t kAnswersToFit = 256;
constexpr Duration kLookAhead{10 * kSecond};
/// Of a TTFT, what prefill work may take: the rest is for the imbalance between replicas and the step under way.
constexpr double kWaitShare = 0.8;

}  // namespace

Knees::Knees(const Snapshot& snapshot, const Occupancy& occupancy, const LatencyFit& latency, double scale, Live& live)
    : snapshot_(&snapshot),
      occupancy_(&occupancy),
      latency_(&latency),
      scale_(scale),
      classes_(snapshot.fleet().slo_classes.size()),
      site_of_(snapshot.offers().size(), kNoSite),
      presence_(snapshot.fleet().destinations.size() * classes_) {
  const Fleet& fleet = snapshot.fleet();
  for (const SloClass& slo : fleet.slo_classes) epsilon_.push_back(fleet.policies.epsilon.value_or(slo.epsilon));
  for (std::uint32_t i = 0; i < site_of_.size(); ++i) {
    live.knee[i] = kKneeMost;
    for (auto& column : live.knee_by_class) column[i] = kKneeMost;
    if (!snapshot.offers()[i].profile) continue;
    site_of_[i] = static_cast<std::uint32_t>(sites_.size());
    sites_.emplace_back().offer = OfferId{i};
    queues_.push_back(snapshot.offers()[i].destination);
    for (std::uint32_t s = 0; s < classes_; ++s) {
      knees_.emplace_back(prior(sites_.back(), s));
      begin_at_prior(site_of_[i], SloId{s}, live);
    }
  }
  std::sort(queues_.begin(), queues_.end());
  queues_.erase(std::unique(queues_.begin(), queues_.end()), queues_.end());
}

double Knees::prior(const Site& site, std::size_t slo) const {
  const Shape shape = latency_->answers(site.offer) >= kAnswersToFit ? latency_->shape(site.offer) : Shape{};
  const ServerProfile& curve = latency_->curve(site.offer);
  return std::clamp(knee_prior(curve, snapshot_->fleet().slo_classes[slo], shape) * scale_, kKneeLeast, kKneeMost);
}

void Knees::show(std::uint32_t site, SloId slo, Live& live) {
  const OfferId offer = sites_[site].offer;
  live.knee_by_class[slo.value][offer.value] = knee(site, slo).value();
  ++live.version[offer.value];
}

void Knees::begin_at_prior(std::uint32_t site, SloId slo, Live& live) {
  if (const std::optional<Duration>& ttft = snapshot_->fleet().slo_classes[slo.value].ttft)
    live.wait_scale[slo.value][sites_[site].offer.value] = knee(site, slo).value() / (kWaitShare * to_seconds(*ttft));
  show(site, slo, live);
}

void Knees::show_smallest(DestinationId d, Live& live) {
  for (const OfferId o : occupancy_->offers(d)) {
    if (site_of_[o.value] == kNoSite) continue;
    double smallest = kKneeMost;
    for (std::uint32_t s = 0; s < classes_; ++s) {
      if (!presence(d, SloId{s}).counts) continue;
      smallest = std::min(smallest, knee(site_of_[o.value], SloId{s}).value());
    }
    live.knee[o.value] = smallest;
  }
}

void Knees::admitted(const Claim& claim, double share, Live& live) {
  const std::uint32_t site = site_of_[claim.offer.value];
  if (site == kNoSite || !claim.slo.valid()) return;
  knee(site, claim.slo).admitted(claim.rho, share);
  const DestinationId d = (*snapshot_)[claim.offer].destination;
  Presence& here = presence(d, claim.slo);
  ++here.in_flight;
  here.last = claim.at;
  if (here.counts) return;
  here.counts = true;
  show_smallest(d, live);
}

void Knees::left(const Claim& claim) {
  if (site_of_[claim.offer.value] == kNoSite || !claim.slo.valid()) return;
  --presence((*snapshot_)[claim.offer].destination, claim.slo).in_flight;
}

bool Knees::completed(Instant now, const Claim& claim, bool slo_met, Live& live) {
  const std::uint32_t site = site_of_[claim.offer.value];
  if (site == kNoSite || !claim.slo.valid()) return false;
  left(claim);
  Knee& k = knee(site, claim.slo);
  const double before = k.value();
  if (!k.ended(now, claim.at, slo_met, epsilon_[claim.slo.value])) return false;
  last_ = {claim.offer, claim.slo, before, k.value()};
  show(site, claim.slo, live);
  show_smallest((*snapshot_)[claim.offer].destination, live);
  return true;
}

std::span<const Knees::Moved> Knees::close(Instant now, Duration window, bool learn, Live& live) {
  moved_.clear();
  for (std::uint32_t i = 0; learn && i < sites_.size(); ++i) {
    for (std::uint32_t s = 0; s < classes_; ++s) {
      Knee& k = knee(i, SloId{s});
      if (k.trials() == 0) continue;
      const double before = k.value();
      if (!k.close(now, window, epsilon_[s])) continue;
      show(i, SloId{s}, live);
      moved_.push_back({sites_[i].offer, SloId{s}, before, k.value()});
    }
  }
  for (const DestinationId d : queues_) {
    const Duration ahead = std::max(kLookAhead, occupancy_->residence(occupancy_->offers(d).front()));
    for (std::uint32_t s = 0; s < classes_; ++s) {
      Presence& here = presence(d, SloId{s});
      here.counts = here.counts && (here.in_flight > 0 || now - here.last <= ahead);
    }
    show_smallest(d, live);
  }
  return moved_;
}

std::span<const Knees::Moved> Knees::refit(Live& live) {
  moved_.clear();
  for (std::uint32_t i = 0; i < sites_.size(); ++i) {
    const std::uint64_t answers = latency_->answers(sites_[i].offer);
    if (answers == sites_[i].answers || answers < kAnswersToFit) continue;
    sites_[i].answers = answers;
    for (std::uint32_t s = 0; s < classes_; ++s) {
      Knee& k = knee(i, SloId{s});
      const double before = k.value();
      if (k.moved() || !k.refit(prior(sites_[i], s))) continue;
      begin_at_prior(i, SloId{s}, live);
      moved_.push_back({sites_[i].offer, SloId{s}, before, k.value()});
    }
  }
  return moved_;
}

void Knees::inherit(const Knees& before, const Kin& kin, const Live& before_live, Live& live) {
  for (std::uint32_t i = 0; i < sites_.size(); ++i) {
    const OfferId offer = sites_[i].offer, old = kin.offers[offer.value];
    if (!old.valid()) continue;
    const std::uint32_t site = before.site_of_[old.value];
    sites_[i].answers = before.sites_[site].answers;
    for (std::uint32_t s = 0; s < classes_; ++s) {
      const SloId slo = kin.slo_classes[s];
      if (!slo.valid()) continue;
      knee(i, SloId{s}) = before.knees_[site * before.classes_ + slo.value];
      live.wait_scale[s][offer.value] = before_live.wait_scale[slo.value][old.value];
      show(i, SloId{s}, live);
    }
  }
}

}  // namespace ace
