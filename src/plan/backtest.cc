#include "plan/backtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "plan/pinball.h"

namespace ace {
namespace {

constexpr std::size_t kTeachDays = 56;        ///< at most: eight weeks show what a week is like
constexpr std::size_t kPointsMost = 400'000;  ///< values held against forecasts, more or less
constexpr std::size_t kPerGroup = 16;         ///< leads of a group that one origin scores; the next one scores others
constexpr double kForget = 0.97;              ///< of what a model lost, per origin
constexpr std::size_t kRefitDays = 28;
constexpr double kAhead = 12.0;  ///< values whose mean loss makes another model the chosen one: half a day of hours
constexpr std::size_t kOriginsWanted = 20, kPointsWanted = 950;  ///< where the series is long enough for them

/// Of the leads of a group one origin scores every so many.
std::size_t every_of(std::size_t group) { return std::max<std::size_t>(1, (std::size_t{1} << group) / kPerGroup); }

/// Leads of a group that one origin scores.
std::size_t scored_of(std::size_t group, std::size_t horizon) {
  const std::size_t first = std::size_t{1} << group;
  const std::size_t leads = std::min(first, horizon - first + 1), every = every_of(group);
  return (leads + every - 1) / every;
}

}  // namespace

Origins origins_for(std::size_t steps, std::size_t horizon, std::size_t day) {
  Origins o;
  o.scored = std::max<std::size_t>(1, steps / 2);
  if (day > 0) o.scored = std::min(o.scored, kTeachDays * day);
  o.first = std::max<std::size_t>(1, o.scored / 2);
  o.horizon = std::clamp<std::size_t>(horizon, 1, std::max<std::size_t>(1, (steps - o.scored + 1) / 2));
  o.stride = std::max<std::size_t>(1, day > 0 ? std::min(o.horizon, day) : std::min<std::size_t>(o.horizon, 24));
  std::size_t leads = 0;  // that one origin scores
  for (std::size_t group = 0; group <= lead_group(o.horizon); ++group) leads += scored_of(group, o.horizon);
  const auto few = [&] {
    return (steps - o.first) / o.stride < kOriginsWanted || (steps - o.scored) / o.stride * leads < kPointsWanted;
  };
  while (o.stride > 1 && few()) o.stride = (o.stride + 1) / 2;
  while ((steps - o.first) / o.stride * leads > kPointsMost) o.stride *= 2;
  return o;
}

Rolling::Rolling(std::span<const double> observed, std::span<const double> clean, const Calendar& calendar,
                 std::vector<double> levels, double interval, Origins origins)
    : observed_(observed),
      clean_(clean),
      calendar_(&calendar),
      levels_(std::move(levels)),
      interval_(interval),
      misses_(kLeadGroups, AdaptiveMiss(1.0 - interval)),
      origins_(origins),
      models_(all_models(calendar)) {
  for (const auto& model : models_) names_.push_back(model->name());
  names_.emplace_back("ensemble");
  calibrations_.assign(names_.size(), Calibration(calendar));
  losses_.assign(names_.size(), 0.0);
  recent_.assign(names_.size(), 0.0);
}

/// The model that lost least lately, where it is ahead of the one chosen so far by more than chance would have it. The
/// first to be chosen is a naive one.
std::size_t Rolling::best() const {
  const auto least = std::min_element(recent_.begin(), recent_.end());
  const double chance = recent_points_ > 0.0 ? kAhead * recent_[0] / recent_points_ : 0.0;
  return *least + chance < recent_[chosen_] ? static_cast<std::size_t>(least - recent_.begin()) : chosen_;
}

void Rolling::run() {
  for (std::size_t origin = origins_.first; origin < clean_.size(); origin += origins_.stride) {
    learn(origin);
    open_.emplace_back();
    say(origin, std::min(origins_.horizon, clean_.size() - origin), open_.back());
  }
  learn(clean_.size());
}

void Rolling::say(std::size_t origin, std::size_t horizon, Said& said) {
  said.origin = origin;
  for (; seen_ < origin; ++seen_)
    if (observed_[seen_] < 0.0) floor_ = std::numeric_limits<double>::lowest();
  chosen_ = best();
  said.model = chosen_;
  said.paths.resize(names_.size());
  const std::span<const double> past = clean_.first(origin);
  const bool refit = origin == clean_.size() || fitted_ == 0 || origin >= 2 * fitted_ ||
                     (calendar_->day() > 0 && origin >= fitted_ + kRefitDays * calendar_->day());
  if (refit) fitted_ = origin;
  ForecastPath& ensemble = said.paths.back();
  ensemble.resize(horizon);
  ensemble.scale.assign(horizon, 0.0);
  const std::vector<double> weights = ensemble_weights();
  for (std::size_t m = 0; m < models_.size(); ++m) {
    if (refit) models_[m]->fit(past);
    ForecastPath& path = said.paths[m];
    path.resize(horizon);
    models_[m]->predict(past, path);
    for (std::size_t h = 0; h < horizon; ++h) {
      ensemble.middle[h] += weights[m] * path.middle[h];
      ensemble.scale[h] += weights[m] * path.scale[h];
    }
  }
  const std::size_t levels = levels_.size();
  said.quantiles.assign(horizon * names_.size() * levels, 0.0);
  said.low.assign(horizon, 0.0);
  said.high.assign(horizon, 0.0);
  for (std::size_t h = 0; h < horizon; ++h) {
    if (!scores_lead(said, h)) continue;
    for (std::size_t m = 0; m < names_.size(); ++m)
      quantiles_at(said, m, h, std::span(said.quantiles).subspan((h * names_.size() + m) * levels, levels));
    std::tie(said.low[h], said.high[h]) = interval_at(said, h);
  }
}

/// A model that loses a tenth more weighs a third less; equal while none has lost anything.
std::vector<double> Rolling::ensemble_weights() const {
  const auto members = recent_.begin() + static_cast<std::ptrdiff_t>(models_.size());
  const double least = *std::min_element(recent_.begin(), members);
  std::vector<double> weights;
  double sum = 0.0;
  for (auto loss = recent_.begin(); loss != members; ++loss) {
    const double ratio = *loss > 0.0 ? least / *loss : 1.0;
    weights.push_back(ratio * ratio * ratio * ratio);
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

void Rolling::learn(std::size_t known) {
  for (Said& said : open_) {
    const std::size_t horizon = said.horizon();
    for (; said.matured < horizon && said.origin + said.matured < known; ++said.matured)
      if (scores_lead(said, said.matured)) hold_against(said, said.matured);
  }
  std::erase_if(open_, [](const Said& said) { return said.matured == said.horizon(); });
  for (double& loss : recent_) loss *= kForget;
  recent_points_ *= kForget;
}

bool Rolling::scores_lead(const Said& said, std::size_t h) const {
  return (h + said.origin / origins_.stride) % every_of(lead_group(h + 1)) == 0;
}

void Rolling::quantiles_at(const Said& said, std::size_t model, std::size_t h, std::span<double> out) const {
  const ForecastPath& path = said.paths[model];
  const ScoreWindow* scores = calibrations_[model].scores(h + 1);
  const double unit = calibrations_[model].unit(said.origin + h, path.scale[h]);
  // One sample, one unit: what ascends in level ascends in value.
  for (std::size_t k = 0; k < levels_.size(); ++k)
    out[k] = std::max(floor_, path.middle[h] + (scores == nullptr ? 0.0 : unit * scores->at(levels_[k])));
}

std::pair<double, double> Rolling::interval_at(const Said& said, std::size_t h) const {
  const ForecastPath& path = said.paths[said.model];
  const ScoreWindow* scores = calibrations_[said.model].scores(h + 1);
  if (scores == nullptr) return {path.middle[h], path.middle[h]};
  const double unit = calibrations_[said.model].unit(said.origin + h, path.scale[h]);
  const double miss = misses_[lead_group(h + 1)].rate();
  return {std::max(floor_, path.middle[h] + unit * scores->at(miss / 2.0)),
          std::max(floor_, path.middle[h] + unit * scores->at(1.0 - miss / 2.0))};
}

double Rolling::loss_of(std::span<const double> quantiles, double value) const {
  double loss = 0.0;
  for (std::size_t k = 0; k < levels_.size(); ++k) loss += pinball(levels_[k], quantiles[k], value);
  return loss / static_cast<double>(levels_.size());
}

void Rolling::hold_against(Said& said, std::size_t h) {
  const std::size_t i = said.origin + h, levels = levels_.size();
  const double value = observed_[i];
  if (is_gap(value)) return;
  const bool counts = said.origin >= origins_.scored;
  for (std::size_t m = 0; m < names_.size(); ++m) {
    const double loss = loss_of(std::span(said.quantiles).subspan((h * names_.size() + m) * levels, levels), value);
    recent_[m] += loss;
    if (counts) losses_[m] += loss;
  }
  recent_points_ += 1.0;
  const bool missed = value < said.low[h] || value > said.high[h];
  if (counts) {
    ++result_.points;
    result_.chosen_pinball +=
        loss_of(std::span(said.quantiles).subspan((h * names_.size() + said.model) * levels, levels), value);
    inside_ += missed ? 0U : 1U;
  }
  const std::size_t group = lead_group(h + 1);
  const double weight = 1.0 / static_cast<double>(scored_of(group, said.horizon()));
  const ForecastPath& path = said.paths[said.model];
  const Calibration& calibration = calibrations_[said.model];
  if (const ScoreWindow* scores = calibration.scores(h + 1)) {
    const auto [low, high] = scores->rank((value - path.middle[h]) / calibration.unit(i, path.scale[h]));
    const double still = std::min(1.0, 2.0 * std::min(high, 1.0 - low));
    misses_[group].observe(still, missed, weight);
  }
  // Forecasts from origins closer than the lead see much of the same.
  const double apart = std::min(1.0, static_cast<double>(origins_.stride) / static_cast<double>(h + 1));
  for (std::size_t m = 0; m < names_.size(); ++m)
    calibrations_[m].observe(i, h + 1, value, said.paths[m].middle[h], said.paths[m].scale[h], weight * apart);
}

Backtest Rolling::result() const {
  Backtest result = result_;
  const double points = result.points > 0 ? static_cast<double>(result.points) : 1.0;
  for (std::size_t o = origins_.scored; o < clean_.size(); ++o)
    if (o >= origins_.first && (o - origins_.first) % origins_.stride == 0) ++result.origins;
  result.chosen_pinball /= points;
  result.coverage = static_cast<double>(inside_) / points;
  result.interval = interval_;
  result.naive_pinball = std::numeric_limits<double>::max();
  for (std::size_t m = 0; m < models_.size(); ++m)
    if (models_[m]->is_naive()) result.naive_pinball = std::min(result.naive_pinball, losses_[m] / points);
  for (std::size_t m = 0; m < names_.size(); ++m) {
    const double loss = losses_[m] / points;
    const double relative = result.naive_pinball > 0.0 ? loss / result.naive_pinball : 1.0;
    result.models.push_back({names_[m], loss, relative, m == chosen_});
  }
  return result;
}

Fan Rolling::forecast(std::size_t steps) {
  Said said;
  const std::size_t tested = std::min(steps, origins_.horizon);
  say(clean_.size(), tested, said);
  // Beyond what could be tested the last whole week (day) of the path repeats, and the fan widens as a random walk's.
  const std::size_t day = calendar_->day(), week = calendar_->week();
  const std::size_t season = week > 0 && week <= tested ? week : day > 0 && day <= tested ? day : 1;
  ForecastPath& path = said.paths[said.model];
  for (std::size_t h = tested; h < steps; ++h) {
    path.middle.push_back(path.middle[h - season]);
    path.scale.push_back(path.scale[h - season]);
  }
  Fan fan;
  fan.quantiles.assign(levels_.size(), std::vector<double>(steps));
  std::vector<double> quantiles(levels_.size());
  for (std::size_t h = 0; h < steps; ++h) {
    const double wider = h < tested ? 1.0 : std::sqrt(static_cast<double>(h + 1) / static_cast<double>(tested));
    const auto widened = [&](double v) { return std::max(floor_, path.middle[h] + wider * (v - path.middle[h])); };
    quantiles_at(said, said.model, h, quantiles);
    for (std::size_t k = 0; k < levels_.size(); ++k) fan.quantiles[k][h] = widened(quantiles[k]);
    const auto [low, high] = interval_at(said, h);
    fan.low.push_back(widened(low));
    fan.high.push_back(widened(high));
  }
  return fan;
}

}  // namespace ace
