#include "dispatch/health.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace ace {
namespace {

constexpr double kFailWeight = 1.0 / 64.0;
constexpr double kShowStep = 0.002;  ///< a smaller move of P(fail) or 1% of the price factor is not shown
constexpr double kOverloadedFactor = 1.25;
constexpr double kPanicFactor = 4.0;
constexpr double kSlowFrom = 1.5;  ///< fast over slow average of TPOT
/// The same of TTFT, which also moves with the length of prompts, of which long ones come in runs.
constexpr double kFirstTokenSlowFrom = 3.0;
constexpr std::int64_t kAnswersToCompare = 256;
constexpr double kCapDecrease = 0.8, kCapIncrease = 0.02;
constexpr double kReservedDecrease = 0.9, kReservedIncrease = 0.002;  ///< the latter per 10 s
constexpr double kMeterFull = 0.95;
constexpr std::int64_t kCutPause = 10;  ///< seconds between two cuts of a cap
constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

void average(double& mean, double x, double weight) { mean += weight * (x - mean); }

}  // namespace

void Health::advance(Instant now) {
  constexpr std::int64_t kMinuteBins = 60, kTenBins = 10;
  const std::int64_t target = floor_div(nanos(now), nanos(kSecond));
  if (target <= second) return;
  if (target - second >= kMinuteBins) {
    bins.fill({});
    last_minute = last_ten = {};
    second = target;
    return;
  }
  const auto leave = [](Bin& sum, const Bin& bin) {
    sum.sent -= bin.sent;
    sum.ended -= bin.ended;
    sum.failures -= bin.failures;
    sum.pushed_back -= bin.pushed_back;
  };
  while (second < target) {
    ++second;
    Bin& oldest = bins[static_cast<std::size_t>(second % kMinuteBins)];
    leave(last_minute, oldest);
    leave(last_ten, bins[static_cast<std::size_t>((second + kMinuteBins - kTenBins) % kMinuteBins)]);
    oldest = {};
  }
}

void Slowness::add(double seconds) {
  if (answers >= kAnswersToCompare) seconds = std::min(seconds, Health::kDerateMost * slow);
  const double share = 1.0 / static_cast<double>(++answers);
  average(fast, seconds, std::max(share, 1.0 / 32.0));
  average(slow, seconds, std::max(share, 1.0 / 1024.0));
}

double Slowness::above(double from) const {
  return answers >= kAnswersToCompare && slow > 0.0 && fast > from * slow ? fast / slow : 1.0;
}

bool Slowness::forgive() {
  if (fast <= slow) return false;
  fast += (slow - fast) * (1.0 - 0.7937);
  return true;
}

double Health::price_factor() const {
  double factor = derate;
  factor = std::max(
      {factor, std::min(tpot.above(kSlowFrom), kDerateMost), std::min(ttft.above(kFirstTokenSlowFrom), kDerateMost)});
  if (healthy_share > 0.0) factor /= healthy_share;
  return factor;
}

Healths::Healths(const Snapshot& snapshot, Occupancy& occupancy, Live& live)
    : snapshot_(&snapshot),
      occupancy_(&occupancy),
      healths_(snapshot.fleet().destinations.size()),
      own_(snapshot.fleet().models.size()) {
  for (std::uint32_t i = 0; i < snapshot.offers().size(); ++i)
    own_[snapshot.offers()[i].model.value].push_back(OfferId{i});
  for (std::uint32_t d = 0; d < healths_.size(); ++d) {
    const Destination& destination = snapshot.fleet().destinations[d];
    Health& health = healths_[d];
    if (destination.tier == Tier::payg) {
      health.fail_share = destination.latency.error_rate;
      if (!destination.unlimited)
        health.declared = {static_cast<double>(destination.rpm.value_or(0)),
                           static_cast<double>(destination.tpm.value_or(0)), 0.0, 0.0};
      health.caps = health.declared;
    }
    show(DestinationId{d}, live);
  }
  changed_.clear();
}

namespace {

/// Adds to the newest second and to both sums.
template <class Member>
void count(Health& health, Member member) {
  ++(health.bins[static_cast<std::size_t>(health.second % 60)].*member);
  ++(health.last_minute.*member);
  ++(health.last_ten.*member);
}

}  // namespace

bool Healths::attempted(Instant now, OfferId offer, Live& live) {
  const DestinationId d = (*snapshot_)[offer].destination;
  Health& health = healths_[d.value];
  health.advance(now);
  count(health, &Health::Bin::sent);
  if (!health.tripped || live.tripped_until[offer.value] == 0) return false;
  // Half-open: this one is the probe, the others wait for its answer or for the next period.
  health.tripped_until = nanos(now + health.backoff);
  show(d, live);
  return true;
}

void Healths::close(Health& health) {
  health.tripped = health.refused = false;
  health.tripped_until = 0;
  health.in_a_row = 0;
  health.backoff = Health::kBackoffFirst;
}

void Healths::trip(Instant now, DestinationId d, Live& live) {
  Health& health = healths_[d.value];
  health.tripped = true;
  health.tripped_at = nanos(now);
  health.tripped_until = std::max(health.tripped_until, nanos(now + health.backoff));
  show(d, live);
}

void Healths::succeeded(Instant now, const Claim& claim, const Observed& seen, Live& live) {
  const Offer& offer = (*snapshot_)[claim.offer];
  Health& health = healths_[offer.destination.value];
  health.advance(now);
  count(health, &Health::Bin::ended);
  health.in_a_row = 0;
  average(health.fail_share, 0.0, kFailWeight);
  if (health.fail_share < 1e-4) health.fail_share = 0.0;
  if (!offer.profile && seen.tpot.count() > 0) health.tpot.add(to_seconds(seen.tpot));
  if (!offer.profile && seen.ttft.count() > 0) health.ttft.add(to_seconds(seen.ttft));
  const bool closes = health.tripped && health.tripped_until != kForever && nanos(claim.at) >= health.tripped_at;
  if (closes) close(health);
  if (closes || std::fabs(health.fail_share - health.shown_fail) >= kShowStep ||
      std::fabs(health.price_factor() - health.shown_factor) >= 0.01 * health.shown_factor)
    show(offer.destination, live);
}

/// The same request failed at a second destination: it was the request. What it counted at the first is undone.
void Healths::take_back(Instant now, DestinationId d) {
  Health& health = healths_[d.value];
  health.advance(now);
  for (std::int64_t back = 0; back < 60; ++back) {
    Health::Bin& bin = health.bins[static_cast<std::size_t>((health.second + 60 - back) % 60)];
    if (bin.failures == 0) continue;
    --bin.failures;
    --bin.ended;
    --health.last_minute.failures;
    --health.last_minute.ended;
    if (back < 10) {
      --health.last_ten.failures;
      --health.last_ten.ended;
    }
    health.in_a_row = std::max<std::int64_t>(health.in_a_row - 1, 0);
    health.fail_share = std::max(0.0, (health.fail_share - kFailWeight) / (1.0 - kFailWeight));
    if (health.tripped && !health.refused && health.tripped_until != kForever && !health.failing()) close(health);
    return;
  }
}

void Healths::failed(Instant now, const Claim& claim, Rejection why, Duration retry_after, RateLimit limit,
                     Live& live) {
  const DestinationId d = (*snapshot_)[claim.offer].destination;
  Health& health = healths_[d.value];
  health.advance(now);
  switch (why) {
    case Rejection::request:
      return silent(now, claim, live);
    case Rejection::throttled:
      return throttle(now, d, retry_after, limit, live);
    case Rejection::overloaded:
      health.derate = std::min(health.derate * kOverloadedFactor, Health::kDerateMost);
      if (retry_after.count() > 0)
        health.throttled_until =
            std::max(health.throttled_until, nanos(now + std::min(retry_after, Health::kRetryAfterMost)));
      return show(d, live);
    case Rejection::refused:
      health.refused = true;
      average(health.fail_share, 1.0, kFailWeight);
      if (claim.probe) health.backoff = std::min(2 * health.backoff, Health::kBackoffMost);
      return trip(now, d, live);
    case Rejection::failed:
      break;
  }
  if (claim.failed_at.valid()) {
    const DestinationId first = (*snapshot_)[claim.failed_at].destination;
    if (first != d) {
      take_back(now, first);
      show(first, live);
      return silent(now, claim, live);
    }
  }
  count(health, &Health::Bin::ended);
  count(health, &Health::Bin::failures);
  ++health.in_a_row;
  average(health.fail_share, 1.0, kFailWeight);
  if (claim.probe) {
    health.backoff = std::min(2 * health.backoff, Health::kBackoffMost);
    return trip(now, d, live);
  }
  if (!health.tripped && health.failing()) return trip(now, d, live);
  show(d, live);
}

void Healths::silent(Instant now, const Claim& claim, Live& live) {
  if (!claim.probe) return;
  const DestinationId d = (*snapshot_)[claim.offer].destination;
  Health& health = healths_[d.value];
  if (!health.tripped || health.tripped_until == kForever) return;
  health.tripped_until = nanos(now);
  show(d, live);
}

void Healths::cut_caps(Health& health, DestinationId d, RateLimit limit) {
  const MinuteWindow::Counts& used = occupancy_->minute(d);
  std::array<bool, kRateLimits> cut{};
  if (limit != RateLimit::unknown) {
    cut[static_cast<std::size_t>(limit)] = true;
  } else {
    // Not said which: the known cap that is fullest; with none known, requests and tokens.
    std::size_t fullest = kRateLimits;
    double most = 0.5;
    for (std::size_t k = 0; k < kRateLimits; ++k) {
      if (health.caps[k] <= 0.0 || static_cast<double>(used[k]) < most * health.caps[k]) continue;
      most = static_cast<double>(used[k]) / health.caps[k];
      fullest = k;
    }
    if (fullest < kRateLimits)
      cut[fullest] = true;
    else
      cut[static_cast<std::size_t>(RateLimit::requests)] = cut[static_cast<std::size_t>(RateLimit::tokens)] = true;
  }
  for (std::size_t k = 0; k < kRateLimits; ++k) {
    if (!cut[k] || health.second - health.cut_second[k] < kCutPause) continue;
    health.cut_second[k] = health.second;
    const double from = health.caps[k] > 0.0 ? health.caps[k] : static_cast<double>(used[k]);
    health.caps[k] = std::max(from * kCapDecrease, 1.0);
  }
}

void Healths::throttle(Instant now, DestinationId d, Duration retry_after, RateLimit limit, Live& live) {
  Health& health = healths_[d.value];
  const Tier tier = snapshot_->fleet().destinations[d.value].tier;
  const Duration pause = retry_after.count() > 0  ? std::min(retry_after, Health::kRetryAfterMost)
                         : tier == Tier::reserved ? Health::kReservedPause
                                                  : Health::kPaygPause;
  health.throttled_until = std::max(health.throttled_until, nanos(now + pause));
  if (tier == Tier::reserved) {
    if (occupancy_->meter_level(d, now) < kMeterFull) count(health, &Health::Bin::pushed_back);
    const bool often = health.last_minute.sent >= Health::kAttemptsToTrip &&
                       5 * health.last_minute.pushed_back > health.last_minute.sent;
    std::int64_t& cut = health.cut_second[static_cast<std::size_t>(RateLimit::tokens)];
    if (often && health.second - cut >= 60) {
      cut = health.second;
      health.cap_share *= kReservedDecrease;
      occupancy_->shrink(d, health.cap_share, live);
    }
  } else if (tier == Tier::payg && !snapshot_->fleet().destinations[d.value].unlimited) {
    cut_caps(health, d, limit);
    occupancy_->limit(d, health.caps, live);
  }
  show(d, live);
}

void Healths::suspect(Instant now, DestinationId destination, double healthy_share, Live& live) {
  Health& health = healths_[destination.value];
  health.healthy_share = std::clamp(healthy_share, 0.0, 1.0);
  if (health.healthy_share <= 0.0) {
    health.tripped_until = kForever;
    return trip(now, destination, live);
  }
  if (health.tripped_until == kForever) close(health);
  show(destination, live);
}

void Healths::recover(Instant now, Live& live) {
  for (std::uint32_t d = 0; d < healths_.size(); ++d) {
    Health& health = healths_[d];
    bool moved = false;
    if (health.derate > 1.0) {
      health.derate = 1.0 + (health.derate - 1.0) * 0.7937;  // cube root of a half: three periods halve the excess
      if (health.derate < 1.01) health.derate = 1.0;
      moved = true;
    }
    for (Slowness* slowness : {&health.tpot, &health.ttft}) moved = slowness->forgive() || moved;
    const std::int64_t second = floor_div(nanos(now), nanos(kSecond));
    bool caps = false;
    for (std::size_t k = 0; k < kRateLimits; ++k) {
      if (health.cut_second[k] == 0 || health.caps[k] <= 0.0 || second - health.cut_second[k] < kCutPause) continue;
      const double most = health.declared[k] > 0.0 ? health.declared[k] : 1e18;
      if (health.caps[k] >= most) continue;
      // Additive: a fixed step, 2% of the declared cap or of one request or a thousand tokens a second.
      const double whole = health.declared[k] > 0.0 ? health.declared[k] : (k == 0 ? 60.0 : 60'000.0);
      health.caps[k] = std::min(health.caps[k] + kCapIncrease * whole, most);
      caps = true;
    }
    if (caps) occupancy_->limit(DestinationId{d}, health.caps, live);
    if (health.cap_share < 1.0 && second - health.cut_second[static_cast<std::size_t>(RateLimit::tokens)] >= 60) {
      health.cap_share = std::min(health.cap_share + kReservedIncrease, 1.0);
      occupancy_->shrink(DestinationId{d}, health.cap_share, live);
      caps = true;
    }
    if (moved || caps) show(DestinationId{d}, live);
  }
}

void Healths::inherit(const Healths& before, const Kin& kin, Live& live) {
  for (std::uint32_t d = 0; d < healths_.size(); ++d) {
    if (!kin.destinations[d].valid()) continue;
    Health& health = healths_[d] = before.healths_[kin.destinations[d].value];
    const Destination& destination = snapshot_->fleet().destinations[d];
    if (destination.tier == Tier::payg && !destination.unlimited)
      occupancy_->limit(DestinationId{d}, health.caps, live);
    if (health.cap_share < 1.0) occupancy_->shrink(DestinationId{d}, health.cap_share, live);
  }
  for (std::uint32_t d = 0; d < healths_.size(); ++d)  // when all of a model's are known: panic looks at each
    if (kin.destinations[d].valid()) show(DestinationId{d}, live);
}

/// Failures seen lately, and for spot the chance that the unit is taken during the residence (a minute at most holds
/// nearly every request; the hazard is per hour).
double Healths::fail_probability(OfferId offer) const {
  const Offer& o = (*snapshot_)[offer];
  const Destination& destination = snapshot_->fleet().destinations[o.destination.value];
  double p = healths_[o.destination.value].fail_share;
  if (o.tier == Tier::spot && destination.rental)
    p += destination.rental->hazard_per_hour * to_seconds(occupancy_->residence(offer)) / 3600.0;
  return std::min(p, 0.95);
}

void Healths::show(DestinationId d, Live& live) {
  Health& health = healths_[d.value];
  const double factor = health.price_factor();
  health.shown_fail = health.fail_share;
  health.shown_factor = factor;
  for (const OfferId o : occupancy_->offers(d)) {
    live.derate[o.value] = factor;
    live.fail_probability[o.value] = fail_probability(o);
    live.throttled_until[o.value] = health.throttled_until;
    const bool was = live.tripped_until[o.value] != 0;
    live.tripped_until[o.value] = health.tripped ? health.tripped_until : 0;
    ++live.version[o.value];
    changed_.push_back(o);  // bounded: Belief clears it after every call
    if (health.tripped || was) show_model((*snapshot_)[o].model, live);
  }
}

/// Panic: with more than half of a model's destinations tripped the least bad of them stay in, priced up, so that never
/// more than half are out. Worst are those that refuse, then those with the larger share of failures.
void Healths::show_model(ModelId model, Live& live) {
  const std::vector<OfferId>& all = own_[model.value];
  panic_.clear();
  for (const OfferId o : all) {
    const Health& health = healths_[(*snapshot_)[o].destination.value];
    live.tripped_until[o.value] = health.tripped ? health.tripped_until : 0;
    live.derate[o.value] = health.price_factor();
    if (health.tripped) panic_.push_back(o);
  }
  if (2 * panic_.size() <= all.size()) return;
  std::sort(panic_.begin(), panic_.end(), [this](OfferId a, OfferId b) {
    const auto badness = [this](OfferId o) {
      const Health& health = healths_[(*snapshot_)[o].destination.value];
      return std::tuple(health.tripped_until == kForever, health.refused, health.fail_share, o);
    };
    return badness(a) < badness(b);
  });
  panic_.resize(panic_.size() - all.size() / 2);
  for (const OfferId o : panic_) {
    live.tripped_until[o.value] = 0;
    live.derate[o.value] *= kPanicFactor;
  }
}

}  // namespace ace
