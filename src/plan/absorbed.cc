#include "plan/absorbed.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace ace {
namespace {

/// Rates of the servers beside each other, as multiples of the mean: eight to each doubling around it, up to where the
/// burstiest traces we know (inter-arrival CV 13) are absorbed but for a thousandth.
std::vector<double> server_ratios() {
  constexpr double kStep = 1.0905077326652577;  // 2^(1/8)
  std::vector<double> ratios;
  for (double ratio = 1.0 / 64.0; ratio < 300.0; ratio *= kStep) ratios.push_back(ratio);
  return ratios;
}

}  // namespace

Result<BurstProfile> BurstProfile::through(std::vector<Knot> knots) {
  for (const Knot& knot : knots) {
    const bool fine = std::isfinite(knot.ratio) && knot.ratio > 0.0 && knot.share >= 0.0 && knot.share <= 1.0;
    if (!fine)
      return Error(Errc::bad_input,
                   fmt::format("burst profile: expected a positive ratio and a share from 0 to 1, got {} and {}",
                               knot.ratio, knot.share));
  }
  std::sort(knots.begin(), knots.end(), [](const Knot& a, const Knot& b) { return a.ratio < b.ratio; });
  BurstProfile profile;
  std::vector<Knot>& hull = profile.knots_;
  hull = {{0.0, 0.0}};
  for (Knot knot : knots) {
    knot.share = std::min(knot.share, knot.ratio);  // nothing serves more than its rate
    if (knot.ratio <= hull.back().ratio || knot.share <= hull.back().share) continue;
    const auto below_chord = [&] {  // the last knot lies at or below the line from the one before it to the new one
      const Knot &a = hull[hull.size() - 2], &b = hull.back();
      return (b.share - a.share) * (knot.ratio - a.ratio) <= (knot.share - a.share) * (b.ratio - a.ratio);
    };
    while (hull.size() >= 2 && below_chord()) hull.pop_back();
    hull.push_back(knot);
  }
  return profile;
}

double BurstProfile::share(double ratio) const {
  const auto after =
      std::upper_bound(knots_.begin(), knots_.end(), ratio, [](double r, const Knot& knot) { return r < knot.ratio; });
  if (after == knots_.end()) return knots_.back().share;
  if (after == knots_.begin()) return 0.0;
  const Knot &a = *std::prev(after), &b = *after;
  return a.share + (b.share - a.share) * (ratio - a.ratio) / (b.ratio - a.ratio);
}

BurstReplay::BurstReplay(const Series& demand)
    : demand_(&demand),
      last_(demand.start),
      ratios_(server_ratios()),
      backlog_s_(ratios_.size(), 0.0),
      absorbed_(ratios_.size(), 0.0) {}

void BurstReplay::add(Instant at, double work, double patience_s) {
  while (interval_ + 1 < demand_->values.size() && at >= demand_->at(interval_ + 1)) ++interval_;
  if (at < demand_->start || at >= demand_->end()) return;
  const double mean = demand_->values[interval_];
  if (is_gap(mean) || mean <= 0.0 || work <= 0.0) return;
  const double passed = to_seconds(at - last_);
  last_ = at;
  offered_ += work;
  for (std::size_t i = 0; i < ratios_.size(); ++i) {
    const double backlog = std::max(0.0, backlog_s_[i] - passed);
    const double taken_s = std::clamp(work / (ratios_[i] * mean), 0.0, std::max(0.0, patience_s - backlog));
    backlog_s_[i] = backlog + taken_s;
    absorbed_[i] += taken_s * ratios_[i] * mean;
  }
}

BurstProfile BurstReplay::profile() const {
  if (offered_ <= 0.0) return {};
  std::vector<BurstProfile::Knot> knots;
  for (std::size_t i = 0; i < ratios_.size(); ++i)
    knots.push_back({ratios_[i], std::min(1.0, absorbed_[i] / offered_)});
  return *BurstProfile::through(std::move(knots));
}

Result<AbsorbedLoad> AbsorbedLoad::of(std::span<const double> demand, double hours, const BurstProfile& profile) {
  AbsorbedLoad load;
  struct Drop {
    double level, hours;  // beyond the level so many hours fewer are at work
  };
  std::vector<Drop> drops;
  const std::span<const BurstProfile::Knot> shape = profile.knots();
  const auto slope = [&](std::size_t segment) {  // of the profile, before knot `segment`
    if (segment >= shape.size()) return 0.0;
    return (shape[segment].share - shape[segment - 1].share) / (shape[segment].ratio - shape[segment - 1].ratio);
  };
  for (std::size_t i = 0; i < demand.size(); ++i) {
    const double d = demand[i];
    if (is_gap(d)) continue;
    if (!std::isfinite(d) || d < 0.0)
      return Error(Errc::bad_input,
                   fmt::format("demand: value {} of {} is {}; expected a finite number from 0 up, or a gap", i + 1,
                               demand.size(), d));
    load.sorted_.push_back(d);
    load.total_ += d * hours;
    load.hours_ += hours;
    if (d <= 0.0) continue;
    for (std::size_t k = 1; k < shape.size(); ++k)
      drops.push_back({d * shape[k].ratio, hours * (slope(k) - slope(k + 1))});
  }
  if (load.sorted_.empty())
    return Error(Errc::bad_input, "demand: no interval has a value; nothing can be sized on gaps");
  std::sort(load.sorted_.begin(), load.sorted_.end());
  std::sort(drops.begin(), drops.end(), [](const Drop& a, const Drop& b) { return a.level < b.level; });
  load.knots_.resize(drops.size() + 1);
  double beyond = 0.0;  // summed from above, so that it is exactly zero beyond the last
  for (std::size_t i = drops.size(); i-- > 0;) {
    load.knots_[i + 1] = {drops[i].level, beyond, 0.0};
    beyond += drops[i].hours;
  }
  load.knots_[0].hours_beyond = beyond;
  for (std::size_t i = 1; i < load.knots_.size(); ++i) {
    const Knot& before = load.knots_[i - 1];
    load.knots_[i].absorbed = before.absorbed + before.hours_beyond * (load.knots_[i].level - before.level);
  }
  return load;
}

const AbsorbedLoad::Knot& AbsorbedLoad::below(double capacity) const {
  const auto after = std::upper_bound(knots_.begin(), knots_.end(), capacity,
                                      [](double c, const Knot& knot) { return c < knot.level; });
  return after == knots_.begin() ? knots_.front() : *std::prev(after);
}

double AbsorbedLoad::at(double capacity) const {
  const Knot& knot = below(capacity);
  return knot.absorbed + knot.hours_beyond * (capacity - knot.level);
}

double AbsorbedLoad::hours_at_work(double capacity) const { return below(capacity).hours_beyond; }

double AbsorbedLoad::hours_at_work_below(double capacity) const {
  const auto at = std::lower_bound(knots_.begin(), knots_.end(), capacity,
                                   [](const Knot& knot, double c) { return knot.level < c; });
  return at == knots_.begin() ? knots_.front().hours_beyond : std::prev(at)->hours_beyond;
}

double AbsorbedLoad::level(double hours) const {
  return std::partition_point(knots_.begin(), knots_.end(), [&](const Knot& knot) { return knot.hours_beyond > hours; })
      ->level;  // the last knot has none beyond it
}

double AbsorbedLoad::quantile(double q) const {
  if (sorted_.empty()) return 0.0;
  const double rank = std::ceil(q * static_cast<double>(sorted_.size()));
  const auto at = static_cast<std::size_t>(std::max(1.0, rank)) - 1;
  return sorted_[std::min(at, sorted_.size() - 1)];
}

std::vector<AbsorbedLoad::Block> AbsorbedLoad::blocks() const {
  std::vector<Block> blocks;
  for (std::size_t i = 1; i < knots_.size(); ++i) {
    const double hours = knots_[i - 1].hours_beyond - knots_[i].hours_beyond;
    if (hours > 0.0) blocks.push_back({knots_[i].level, hours});
  }
  return blocks;
}

AbsorbedLoad AbsorbedLoad::scaled(double factor) const {
  AbsorbedLoad load = *this;
  for (Knot& knot : load.knots_) knot.level *= factor, knot.absorbed *= factor;
  for (double& d : load.sorted_) d *= factor;
  load.total_ *= factor;
  return load;
}

}  // namespace ace
