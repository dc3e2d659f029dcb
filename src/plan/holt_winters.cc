#include "plan/holt_winters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace ace {
namespace {

constexpr std::size_t kWeeksSeen = 8;      ///< older values have faded from every state
constexpr std::size_t kStepsSeen = 4'096;  ///< and more than these cost more than they tell
constexpr double kDamping = 0.98;
constexpr double kLevelRates[] = {0.01, 0.06, 0.3};
constexpr std::array<double, 2> kTrendRates{0.0, 0.003}, kDampedRates{0.01, 0.05};  ///< a trend that fades may be quick
constexpr std::array<std::array<double, 2>, 3> kSeasonRates{{{0.02, 0.05}, {0.08, 0.15}, {0.2, 0.3}}};
constexpr std::array<double, 4> kErrorTerms{0.0, 0.5, 0.8, 0.95};

}  // namespace

std::string HoltWinters::name() const {
  switch (kind_) {
    case Kind::additive:
      return "Holt-Winters, additive";
    case Kind::multiplicative:
      return "Holt-Winters, multiplicative";
    case Kind::damped:
      return "Holt-Winters, damped";
  }
  return {};
}

/// The first step that still matters.
std::size_t HoltWinters::begin(std::size_t known) const {
  const std::size_t seen = calendar_->day() > 1 ? std::min(kWeeksSeen * calendar_->week(), kStepsSeen) : kStepsSeen;
  return known > seen ? known - seen : 0;
}

void HoltWinters::learn_slots(std::size_t steps) {
  for (std::size_t i = slots_.day.size(); i < steps; ++i) {
    const std::size_t slot = calendar_->slot(i);
    slots_.day.push_back(static_cast<std::uint32_t>(slot));
    slots_.week.push_back(static_cast<std::uint32_t>(calendar_->weekday(i) * calendar_->day() + slot));
  }
}

/// Level, daily and weekly profile of the first weeks: plain means, and what is left of them.
HoltWinters::State HoltWinters::initial(std::span<const double> past) const {
  const std::size_t from = begin(past.size()), day = calendar_->day(), week = calendar_->week();
  const std::size_t known = past.size() - from;
  const double neutral = multiplies_ ? 1.0 : 0.0;
  State state;
  state.day.assign(day > 1 && known >= 2 * day ? day : 1, neutral);
  state.week.assign(day > 0 && known >= 2 * week ? week : 1, neutral);
  const std::size_t shown = state.week.size() > 1 ? 2 * week : state.day.size() > 1 ? std::min(known, week) : known;
  const std::span<const double> first =
      past.subspan(from, state.day.size() > 1 ? shown : std::min<std::size_t>(known, 8));
  state.level = std::accumulate(first.begin(), first.end(), 0.0) / static_cast<double>(first.size());
  const auto means = [&](std::vector<double>& season, const std::vector<std::uint32_t>& slots, auto rest) {
    std::vector<double> sums(season.size(), 0.0), counts(season.size(), 0.0);
    for (std::size_t k = 0; k < first.size(); ++k) {
      sums[slots[from + k]] += rest(k);
      counts[slots[from + k]] += 1.0;
    }
    for (std::size_t s = 0; s < season.size(); ++s)
      if (counts[s] > 0.0) season[s] = sums[s] / counts[s];
  };
  const double level = state.level;
  if (state.day.size() > 1)
    means(state.day, slots_.day, [&](std::size_t k) { return multiplies_ ? first[k] / level : first[k] - level; });
  if (state.week.size() > 1) {
    means(state.week, slots_.week, [&](std::size_t k) {
      const double daily = state.day[state.day.size() > 1 ? slots_.day[from + k] : 0];
      return multiplies_ ? first[k] / (level * daily) : first[k] - level - daily;
    });
  }
  return state;
}

double HoltWinters::expected(const State& s, std::size_t i) const {
  const double daily = s.day[s.day.size() > 1 ? slots_.day[i] : 0];
  const double weekly = s.week[s.week.size() > 1 ? slots_.week[i] : 0];
  return multiplies_ ? (s.level + s.trend) * daily * weekly : s.level + s.trend + daily + weekly;
}

void HoltWinters::update(State& s, const Rates& r, std::size_t i, double value) const {
  double& daily = s.day[s.day.size() > 1 ? slots_.day[i] : 0];
  double& weekly = s.week[s.week.size() > 1 ? slots_.week[i] : 0];
  const double base = s.level + s.trend;
  const double error = value - (multiplies_ ? base * daily * weekly : base + daily + weekly);
  s.error = error;
  double of_base = error, of_day = error, of_week = error;
  if (multiplies_) {
    of_base = error / (daily * weekly);
    of_day = error / (base * weekly);
    of_week = error / (base * daily);
  }
  s.level = base + r.alpha * of_base;
  s.trend = (kind_ == Kind::damped ? kDamping : 1.0) * (s.trend + r.beta * of_base);
  if (s.day.size() > 1) daily += r.gamma * of_day;
  if (s.week.size() > 1) weekly += r.omega * of_week;
  if (!multiplies_) return;
  // A product with a factor at zero never recovers, and one below it turns round.
  constexpr double kLeast = 0.02;
  daily = std::max(daily, kLeast);
  weekly = std::max(weekly, kLeast);
  if (s.level + s.trend <= 0.0) {
    s.level = std::max(base, std::numeric_limits<double>::min());
    s.trend = 0.0;
  }
}

void HoltWinters::fit(std::span<const double> past) {
  learn_slots(past.size());
  const std::size_t from = begin(past.size());
  const std::span<const double> window = past.subspan(from);
  multiplies_ =
      kind_ == Kind::multiplicative && std::all_of(window.begin(), window.end(), [](double v) { return v > 0.0; });
  const State start = initial(past);
  const bool seasonal = start.day.size() > 1;
  double least = std::numeric_limits<double>::infinity();
  for (const double alpha : kLevelRates)
    for (const double beta : kind_ == Kind::damped ? kDampedRates : kTrendRates)
      for (const auto& [gamma, omega] : kSeasonRates) {
        Rates rates{alpha, beta, gamma, omega, 0.0};
        State state = start;
        std::array<double, kErrorTerms.size()> sums{};
        for (std::size_t i = from; i < past.size(); ++i) {
          const double before = state.error;
          update(state, rates, i, past[i]);
          for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += std::abs(state.error - kErrorTerms[k] * before);
        }
        for (std::size_t k = 0; k < sums.size(); ++k)
          if (sums[k] < least) {
            least = sums[k];
            rates_ = rates;
            rates_.lambda = kErrorTerms[k];
          }
        if (!seasonal) break;  // the other rates say the same
      }
}

void HoltWinters::predict(std::span<const double> past, ForecastPath& path) {
  learn_slots(past.size() + path.middle.size());
  // Parameters may be older than a value that is not positive.
  if (multiplies_) {
    const std::span<const double> window = past.subspan(begin(past.size()));
    multiplies_ = std::all_of(window.begin(), window.end(), [](double v) { return v > 0.0; });
  }
  State state = initial(past);
  for (std::size_t i = begin(past.size()); i < past.size(); ++i) update(state, rates_, i, past[i]);
  double echo = state.error;
  for (std::size_t h = 0; h < path.middle.size(); ++h) {
    echo *= rates_.lambda;
    path.middle[h] = expected(state, past.size() + h) + echo;
    state.level += state.trend;
    if (kind_ == Kind::damped) state.trend *= kDamping;
  }
  if (multiplies_) {
    // Errors grow with the level: a fan is as wide as the path is high, at most nine times apart.
    double mean = 0.0;
    for (const double v : path.middle) mean += std::abs(v) / static_cast<double>(path.middle.size());
    for (std::size_t h = 0; h < path.middle.size() && mean > 0.0; ++h)
      path.scale[h] = std::clamp(path.middle[h] / mean, 1.0 / 3.0, 3.0);
  }
}

}  // namespace ace
