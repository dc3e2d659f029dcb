#include "plan/size.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "core/int128.h"

namespace ace {
namespace {

double dollars(Usd amount) { return static_cast<double>(amount.nano) * 1e-9; }

/// Fee of capacity 1 over all hours of the load.
double fixed_of(const SizingProblem& problem, const Supply& supply) {
  return dollars(supply.fee_hourly) / supply.capacity * problem.load.hours();
}

/// A piece of the lower envelope of F + e h: from `hours` on downwards, `supply` is cheapest; none = PAYG.
struct Piece {
  std::optional<std::size_t> supply;
  double hours = 0.0;
};

std::vector<Piece> lower_envelope(const SizingProblem& problem) {
  const auto variable = [&](const std::optional<std::size_t>& k) {
    return k ? problem.supplies[*k].variable : problem.payg;
  };
  const auto fixed = [&](const std::optional<std::size_t>& k) {
    return k ? fixed_of(problem, problem.supplies[*k]) : 0.0;
  };
  std::vector<std::optional<std::size_t>> lines = {std::nullopt};
  for (const std::size_t k : merit_order(problem)) lines.emplace_back(k);
  const double all = problem.load.hours();
  std::vector<Piece> pieces = {{std::nullopt, all}};
  for (const auto& line : lines)
    if (fixed(line) + variable(line) * all < fixed(pieces[0].supply) + variable(pieces[0].supply) * all)
      pieces[0].supply = line;
  while (pieces.back().supply) {  // ends: PAYG is dearest at work and costs nothing at rest
    const std::optional<std::size_t> now = pieces.back().supply;
    Piece next;  // PAYG, down to nothing
    for (const auto& line : lines) {
      if (variable(line) <= variable(now)) continue;
      const double cross = (fixed(now) - fixed(line)) / (variable(line) - variable(now));
      if (cross > next.hours) next = {line, cross};
    }
    pieces.push_back(next);
  }
  return pieces;
}

}  // namespace

Result<void> check(const SizingProblem& problem) {
  const auto wrong = [](const Supply& s, const std::string& what) {
    return Error(Errc::bad_input, fmt::format("sizing: {}: {}", s.name, what));
  };
  if (!std::isfinite(problem.payg) || problem.payg < 0.0)
    return Error(Errc::bad_input, fmt::format("sizing: the PAYG price is {}; expected 0 USD or more", problem.payg));
  for (const Supply& s : problem.supplies) {
    if (!std::isfinite(s.capacity) || s.capacity <= 0.0)
      return wrong(s, fmt::format("a unit has the capacity {}; expected a positive number", s.capacity));
    if (s.fee_hourly < Usd{}) return wrong(s, "its fee is negative");
    if (!std::isfinite(s.variable) || s.variable < 0.0)
      return wrong(s, fmt::format("its variable cost is {}; expected 0 USD or more (see shift_variable)", s.variable));
    if (s.units_min < 1 || s.increment < 1)
      return wrong(s, fmt::format("sizes are {} + k x {} units; both must be at least 1", s.units_min, s.increment));
    if (s.units_max && *s.units_max != 0 && *s.units_max < s.units_min)
      return wrong(s, fmt::format("at least {} units are sold but at most {} may be held; raise the one or set the "
                                  "other to 0",
                                  s.units_min, *s.units_max));
    if (s.units_today < 0) return wrong(s, "the units held today are negative");
  }
  return {};
}

std::vector<std::size_t> merit_order(const SizingProblem& problem) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < problem.supplies.size(); ++k)
    if (problem.supplies[k].variable < problem.payg) order.push_back(k);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return problem.supplies[a].variable < problem.supplies[b].variable;
  });
  return order;
}

SizingCost cost_of(const SizingProblem& problem, std::span<const double> units) {
  SizingCost cost;
  for (std::size_t k = 0; k < problem.supplies.size(); ++k)
    cost.fixed += dollars(problem.supplies[k].fee_hourly) * units[k] * problem.load.hours();
  double level = 0.0;
  for (const std::size_t k : merit_order(problem)) {
    const Supply& supply = problem.supplies[k];
    level += supply.capacity * units[k];
    const double absorbed = problem.load.at(level);
    cost.variable += supply.variable * (absorbed - cost.absorbed);
    cost.absorbed = absorbed;
  }
  cost.payg = problem.payg * std::max(0.0, problem.load.total() - cost.absorbed);
  return cost;
}

double value_of_next(const SizingProblem& problem, std::span<const double> units, std::size_t supply) {
  std::vector<double> more(units.begin(), units.end());
  const Supply& s = problem.supplies[supply];
  more[supply] += static_cast<double>(more[supply] > 0.0 ? s.increment : s.units_min);
  return cost_of(problem, units).total() - cost_of(problem, more).total();
}

double break_even_utilization(const Supply& supply, double payg) {
  const double saved = (payg - supply.variable) * supply.capacity;
  if (saved <= 0.0) return std::numeric_limits<double>::infinity();
  return dollars(supply.fee_hourly) / saved;
}

std::vector<double> screening_optimum(const SizingProblem& problem) {
  std::vector<double> units(problem.supplies.size(), 0.0);
  const std::vector<Piece> pieces = lower_envelope(problem);
  double below = 0.0;
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
    const std::size_t k = *pieces[i].supply;
    const double level = std::max(below, problem.load.level(pieces[i + 1].hours));
    units[k] = (level - below) / problem.supplies[k].capacity;
    below = level;
  }
  return units;
}

std::vector<double> screening_at(const SizingProblem& problem, double capacity) {
  std::vector<double> units = screening_optimum(problem);
  double left = capacity;
  std::optional<std::size_t> last;
  for (const std::size_t k : merit_order(problem)) {
    const Supply& supply = problem.supplies[k];
    units[k] = std::clamp(units[k], 0.0, left / supply.capacity);
    left = std::max(0.0, left - units[k] * supply.capacity);
    if (units[k] > 0.0) last = k;
  }
  if (left <= 0.0) return units;
  if (!last) {
    const auto at_work = [&](std::size_t k) {
      const Supply& s = problem.supplies[k];
      return fixed_of(problem, s) * capacity + s.variable * problem.load.at(capacity);
    };
    for (std::size_t k = 0; k < problem.supplies.size(); ++k)
      if (!last || at_work(k) < at_work(*last)) last = k;
  }
  if (last) units[*last] += left / problem.supplies[*last].capacity;
  return units;
}

Sizes sizes_around(const Supply& supply, double units) {
  const auto at_most = [&](double size) {
    const double most = supply.units_max ? static_cast<double>(*supply.units_max) : 9e15;
    const double least = static_cast<double>(supply.units_min), step = static_cast<double>(supply.increment);
    return least > most ? 0.0 : std::min(size, least + std::floor((most - least) / step) * step);
  };
  if (!(units > 0.0)) return {};
  const double least = static_cast<double>(supply.units_min), step = static_cast<double>(supply.increment);
  const double steps = (units - least) / step;
  const double floor = steps < 0.0 ? 0.0 : least + std::floor(steps) * step;
  const double ceil = steps < 0.0 ? least : least + std::ceil(steps) * step;
  return {static_cast<std::int64_t>(at_most(floor)), static_cast<std::int64_t>(at_most(ceil))};
}

std::vector<std::int64_t> rounded(const SizingProblem& problem, std::span<const double> units) {
  const std::size_t n = problem.supplies.size();
  std::vector<double> best(n, 0.0);
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](const std::vector<double>& sizes) {
    const double cost = cost_of(problem, sizes).total();
    if (cost >= least) return false;
    least = cost;
    best = sizes;
    return true;
  };
  std::vector<std::vector<double>> choices(n);
  std::size_t combinations = 1;
  for (std::size_t k = 0; k < n; ++k) {
    const Sizes around = sizes_around(problem.supplies[k], units[k]);
    choices[k] = {0.0, static_cast<double>(around.floor), static_cast<double>(around.ceil)};
    std::sort(choices[k].begin(), choices[k].end());
    choices[k].erase(std::unique(choices[k].begin(), choices[k].end()), choices[k].end());
    combinations = std::min<std::size_t>(combinations * choices[k].size(), 100'000);
  }
  std::vector<double> sizes(n);
  for (std::size_t c = 0; c < combinations; ++c) {
    std::size_t rest = c;
    for (std::size_t k = 0; k < n; ++k) {
      sizes[k] = choices[k][rest % choices[k].size()];
      rest /= choices[k].size();
    }
    consider(sizes);
  }
  for (bool better = true; better;) {
    better = false;
    const std::vector<double> from = best;
    for (std::size_t k = 0; k < n; ++k) {
      const Supply& s = problem.supplies[k];
      const double step = static_cast<double>(s.increment);
      for (const double to : {from[k] + (from[k] > 0.0 ? step : static_cast<double>(s.units_min)), from[k] - step}) {
        const Sizes whole = sizes_around(s, to);
        std::vector<double> next = from;
        next[k] = static_cast<double>(whole.floor);
        if (next[k] != from[k]) better = consider(next) || better;
      }
    }
  }
  std::vector<std::int64_t> whole(n);
  std::transform(best.begin(), best.end(), whole.begin(), [](double u) { return static_cast<std::int64_t>(u); });
  return whole;
}

Result<PricedPlan> price_plan(const SizingProblem& problem, std::span<const std::int64_t> units) {
  PricedPlan plan;
  plan.units.assign(units.begin(), units.end());
  const auto time = int128{from_seconds(problem.load.hours() * 3600.0).count()};
  const std::vector<double> sizes(units.begin(), units.end());
  const SizingCost cost = cost_of(problem, sizes);
  plan.absorbed = cost.absorbed;
  int128 nano = 0;
  for (std::size_t k = 0; k < units.size(); ++k)
    nano += divide_half_away(int128{problem.supplies[k].fee_hourly.nano} * units[k] * time, nanos(kHour));
  if (nano > std::numeric_limits<std::int64_t>::max())
    return Error(Errc::out_of_range, "sizing: the fees of this plan exceed 9.2 billion USD");
  plan.fixed = Usd{static_cast<std::int64_t>(nano)};
  // The absorbed load is an expectation; here it becomes money.
  Result<Usd> variable = usd_from_physics(cost.variable), payg = usd_from_physics(cost.payg);
  if (!variable) return std::move(variable).error().with("sizing: variable cost");
  if (!payg) return std::move(payg).error().with("sizing: PAYG cost");
  plan.variable = *variable;
  plan.payg = *payg;
  if (nano + plan.variable.nano + plan.payg.nano > std::numeric_limits<std::int64_t>::max())
    return Error(Errc::out_of_range, "sizing: this plan costs more than 9.2 billion USD");
  return plan;
}

}  // namespace ace
