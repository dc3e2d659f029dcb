#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/unit_commitment.h"

namespace ace {
namespace {

/// Of loads and rooms; solvers keep bounds to 1e-7 or so.
bool above(double value, double limit) { return value > limit + 1e-5 * std::max(1.0, std::abs(limit)); }

double cost_on_curve(const CommitUnit& unit, double each) {
  const std::vector<CommitUnit::Point>& c = unit.curve;
  std::size_t k = 1;
  while (k + 1 < c.size() && each > c[k].load) ++k;
  if (c.size() == 1) return c[0].cost;
  const double slope = (c[k].cost - c[k - 1].cost) / (c[k].load - c[k - 1].load);
  return c[k - 1].cost + slope * (each - c[k - 1].load);
}

/// Goes through the periods of one unit. What is checked here follows from the words of CommitUnit, not from the
/// program.
class Walk {
 public:
  Walk(const CommitUnit& unit, const CommitPlan::Unit& plan, std::vector<std::string>& broken)
      : unit_(unit), plan_(plan), broken_(broken) {}

  /// What it could carry more in each period is added. @return what it costs
  double through(std::vector<double>& room) {
    std::int64_t on = unit_.on_before, unchanged = unit_.unchanged_before;
    double load = unit_.load_before;
    for (t_ = 0; t_ < plan_.on.size(); ++t_) {
      const std::int64_t next = plan_.on[t_];
      within(next);
      if (next != on) change(on, next, unchanged, load);
      room[t_] += std::max(0.0, most(on, load) - plan_.load[t_]);
      if (unit_.count == 1 && on == 1 && next == 1) {
        say(above(plan_.load[t_] - load, unit_.ramp_up), "rises too fast");
        say(above(load - plan_.load[t_], unit_.ramp_down), "falls too fast");
      }
      if (next > 0) {
        const auto machines = static_cast<double>(next);
        cost_ += machines * cost_on_curve(unit_, plan_.load[t_] / machines);
      }
      unchanged = next == on ? unchanged + 1 : 1;
      on = next;
      load = plan_.load[t_];
    }
    return cost_;
  }

 private:
  void say(bool is_broken, const char* rule) {
    if (is_broken) broken_.push_back(fmt::format("{} in period {}: {}", unit_.name, t_ + 1, rule));
  }
  void within(std::int64_t on) {
    say(on < 0 || on > unit_.count || (unit_.must_run && on < unit_.count), "not so many may be on");
    say(above(static_cast<double>(on) * unit_.least, plan_.load[t_]), "carries less than the least");
    say(above(plan_.load[t_], static_cast<double>(on) * unit_.most), "carries more than the most");
  }
  void change(std::int64_t on, std::int64_t next, std::int64_t unchanged, double load) {
    if (unit_.count == 1) {
      say(next == 1 && unchanged < unit_.least_down, "starts too soon");
      say(next == 0 && unchanged < unit_.least_up, "stops too soon");
      say(next == 1 && above(plan_.load[t_], unit_.at_start), "carries too much when it starts");
      say(next == 0 && above(load, unit_.at_stop), "carried too much before it stops");
    }
    if (next < on) cost_ += static_cast<double>(on - next) * unit_.stop_cost;
    if (next < on || unit_.starts.empty()) return;
    std::size_t s = 0;
    while (unit_.count == 1 && s + 1 < unit_.starts.size() && unchanged >= unit_.starts[s + 1].after) ++s;
    cost_ += static_cast<double>(next - on) * unit_.starts[s].cost;
  }
  /// What it may carry in this period at most.
  [[nodiscard]] double most(std::int64_t before, double load) const {
    double limit = static_cast<double>(plan_.on[t_]) * unit_.most;
    if (unit_.count > 1 || plan_.on[t_] == 0) return limit;
    limit = std::min(limit, before == 0 ? unit_.at_start : load + unit_.ramp_up);
    if (t_ + 1 < plan_.on.size() && plan_.on[t_ + 1] == 0) limit = std::min(limit, unit_.at_stop);
    return limit;
  }

  const CommitUnit& unit_;
  const CommitPlan::Unit& plan_;
  std::vector<std::string>& broken_;
  std::size_t t_ = 0;
  double cost_ = 0;
};

}  // namespace

std::vector<std::string> broken_rules(const UnitCommitment& c, const CommitPlan& plan, double* cost) {
  std::vector<std::string> broken;
  std::vector<double> room(c.demand.size(), 0.0), carried(c.demand.size(), 0.0);
  double sum = 0;
  for (std::size_t u = 0; u < c.units.size(); ++u) {
    sum += Walk(c.units[u], plan.units[u], broken).through(room);
    for (std::size_t t = 0; t < carried.size(); ++t) carried[t] += plan.units[u].load[t];
  }
  for (std::size_t s = 0; s < c.sources.size(); ++s)
    for (std::size_t t = 0; t < carried.size(); ++t) {
      const double load = plan.sources[s][t];
      if (above(load, c.sources[s].most[t]) || above(c.sources[s].least[t], load))
        broken.push_back(fmt::format("{} in period {}: carries {}", c.sources[s].name, t + 1, load));
      carried[t] += load;
      sum += load * c.sources[s].cost;
    }
  for (std::size_t t = 0; t < carried.size(); ++t) {
    if (above(carried[t], c.demand[t]) || above(c.demand[t], carried[t]))
      broken.push_back(fmt::format("period {}: {} is carried of {}", t + 1, carried[t], c.demand[t]));
    if (!c.reserve.empty() && above(c.reserve[t], room[t]))
      broken.push_back(fmt::format("period {}: room for {}, {} are kept in reserve", t + 1, room[t], c.reserve[t]));
  }
  if (cost != nullptr) *cost = sum;
  return broken;
}

}  // namespace ace
