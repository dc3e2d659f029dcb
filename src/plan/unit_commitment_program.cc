#include "plan/unit_commitment_program.h"

#include <algorithm>
#include <cmath>

namespace ace {

UnitCommitmentProgram::UnitCommitmentProgram(const UnitCommitment& commitment) : commitment_(&commitment) {
  for (std::size_t t = 0; t < periods(); ++t) {
    demand_.push_back(program_.add_row({commitment.demand[t], commitment.demand[t]}));
    if (!commitment.reserve.empty()) reserve_.push_back(program_.add_row({commitment.reserve[t], kInfinite}));
  }
  for (const CommitUnit& unit : commitment.units) add(unit);
  for (const CommitSource& source : commitment.sources) {
    std::vector<Column>& columns = sources_.emplace_back();
    for (std::size_t t = 0; t < periods(); ++t) {
      columns.push_back(program_.add_column(source.cost, {source.least[t], source.most[t]}));
      program_.add_term(demand_[t], columns[t], 1);
    }
  }
}

LinearProgram UnitCommitmentProgram::relaxed() const {
  LinearProgram relaxed = program_;
  relaxed.integer.assign(relaxed.integer.size(), false);
  return relaxed;
}

UnitCommitmentProgram::Row UnitCommitmentProgram::add(LinearProgram::Bounds bounds,
                                                      std::initializer_list<std::pair<Column, double>> terms) {
  const Row row = program_.add_row(bounds);
  for (const auto& [column, factor] : terms)
    if (factor != 0) program_.add_term(row, column, factor);
  return row;
}

void UnitCommitmentProgram::add(const CommitUnit& unit) {
  Unit c;
  const auto count = static_cast<double>(unit.count);
  const double idle = unit.curve.front().cost;
  for (std::size_t t = 0; t < periods(); ++t) {
    c.on.push_back(program_.add_column(idle, {unit.must_run ? count : 0, count}, true));
    // Whole by themselves where `on` is.
    c.start.push_back(program_.add_column(unit.starts.empty() ? 0 : unit.starts.back().cost, {0, count}));
    c.stop.push_back(program_.add_column(unit.stop_cost, {0, count}));
    c.load.push_back(program_.add_column(0, {0, count * (unit.most - unit.least)}));
    program_.add_term(demand_[t], c.load[t], 1);
    if (unit.least > 0) program_.add_term(demand_[t], c.on[t], unit.least);
    if (reserve_.empty()) continue;
    c.room.push_back(program_.add_column(0, {0, kInfinite}));
    program_.add_term(reserve_[t], c.room[t], 1);
  }
  add_past(unit, c);
  add_changes(unit, c);
  add_starts(unit, c);
  add_curve(unit, c);
  add_limits(unit, c);
  add_ramps(unit, c);
  units_.push_back(std::move(c));
}

/// What began before the first period must last as long as if it had begun in it.
void UnitCommitmentProgram::add_past(const CommitUnit& unit, const Unit& c) {
  const auto before = static_cast<double>(unit.on_before);
  for (std::size_t t = 0; t < periods(); ++t) {
    LinearProgram::Bounds& on = program_.columns[c.on[t]];
    const auto passed = static_cast<std::int64_t>(t) + unit.unchanged_before;
    if (passed < unit.least_up) on.lower = std::max(on.lower, before);
    if (passed < unit.least_down && !unit.must_run) on.upper = std::min(on.upper, std::max(on.lower, before));
  }
  // Its last period on may have been the one before the first.
  if (unit.on_before > 0 && unit.load_before > unit.at_stop) program_.columns[c.stop[0]].upper = 0;
}

void UnitCommitmentProgram::add_changes(const CommitUnit& unit, const Unit& c) {
  const auto before = static_cast<double>(unit.on_before), count = static_cast<double>(unit.count);
  for (std::size_t t = 0; t < periods(); ++t) {
    if (t == 0)
      add({before, before}, {{c.on[0], 1}, {c.start[0], -1}, {c.stop[0], 1}});
    else
      add({0, 0}, {{c.on[t], 1}, {c.on[t - 1], -1}, {c.start[t], -1}, {c.stop[t], 1}});
    const Row up = program_.add_row({-kInfinite, 0}), down = program_.add_row({-kInfinite, count});
    program_.add_term(up, c.on[t], -1);
    program_.add_term(down, c.on[t], 1);
    for (std::size_t i = 0; i <= t; ++i) {
      if (static_cast<std::int64_t>(t - i) < unit.least_up) program_.add_term(up, c.start[i], 1);
      if (static_cast<std::int64_t>(t - i) < unit.least_down) program_.add_term(down, c.stop[i], 1);
    }
  }
}

/// A start costs what the coldest does, less what one saves that was off for a shorter time; of these there are no more
/// than stopped at that distance.
void UnitCommitmentProgram::add_starts(const CommitUnit& unit, const Unit& c) {
  if (unit.starts.size() < 2) return;
  for (std::size_t t = 0; t < periods(); ++t) {
    const auto now = static_cast<std::int64_t>(t);
    const Row once = program_.add_row({-kInfinite, 0});
    program_.add_term(once, c.start[t], -1);
    for (std::size_t s = 0; s + 1 < unit.starts.size(); ++s) {
      const std::int64_t from = unit.starts[s].after, until = unit.starts[s + 1].after;
      // One that has not run yet has been off since before. Where it has, that says too long a time, and costs more.
      const bool since_before = unit.on_before == 0 && now + unit.unchanged_before < until;
      const Column warm = program_.add_column(unit.starts[s].cost - unit.starts.back().cost, {0, 1});
      program_.add_term(once, warm, 1);
      const Row row = add({-kInfinite, since_before ? 1.0 : 0.0}, {{warm, 1}});
      for (std::int64_t lag = std::max<std::int64_t>(from, 1); lag < until && lag <= now; ++lag)
        program_.add_term(row, c.stop[static_cast<std::size_t>(now - lag)], -1);
    }
  }
}

/// The load above the least, by pieces of the cost curve: as it is convex, the cheap ones fill first.
void UnitCommitmentProgram::add_curve(const CommitUnit& unit, const Unit& c) {
  for (std::size_t t = 0; t < periods(); ++t) {
    const Row whole = add({0, 0}, {{c.load[t], -1}});
    for (std::size_t k = 1; k < unit.curve.size(); ++k) {
      const double width = unit.curve[k].load - unit.curve[k - 1].load;
      const Column piece = program_.add_column((unit.curve[k].cost - unit.curve[k - 1].cost) / width,
                                               {0, static_cast<double>(unit.count) * width});
      program_.add_term(whole, piece, 1);
      add_limit(unit, c, t, {piece}, width,
                [&](double most) { return std::clamp(unit.curve[k].load - most, 0.0, width); });
    }
  }
}

void UnitCommitmentProgram::add_limits(const CommitUnit& unit, const Unit& c) {
  for (std::size_t t = 0; t < periods(); ++t) {
    std::vector<Column> carried{c.load[t]};
    if (!c.room.empty()) carried.push_back(c.room[t]);
    add_limit(unit, c, t, carried, unit.most - unit.least,
              [&](double most) { return std::max(0.0, unit.most - most); });
  }
}

/// The sum of these columns is at most `width` of each unit that is on, less what is `beyond` the most that one may
/// carry that has just started, or is about to stop. One that stays on for two periods and more never does both at
/// once, so that both may be taken off in one row, and with them what ramps do not allow yet.
template <class Beyond>
void UnitCommitmentProgram::add_limit(const CommitUnit& unit, const Unit& c, std::size_t t,
                                      const std::vector<Column>& carried, double width, Beyond beyond) {
  const bool last = t + 1 == periods();
  const auto row = [&] {
    const Row made = add({-kInfinite, 0}, {{c.on[t], -width}});
    for (const Column column : carried) program_.add_term(made, column, 1);
    return made;
  };
  const Row limit = row();
  const double at_stop = last ? 0 : beyond(unit.at_stop);
  if (at_stop > 0) program_.add_term(limit, c.stop[t + 1], at_stop);
  const Row rising = unit.least_up >= 2 || at_stop == 0 ? limit : row();
  const std::size_t ago = static_cast<std::size_t>(std::max<std::int64_t>(0, unit.least_up - 2));
  double allowed = unit.at_start;
  for (std::size_t i = 0; i <= std::min(ago, t) && beyond(allowed) > 0; ++i, allowed += unit.ramp_up)
    program_.add_term(rising, c.start[t - i], beyond(allowed));
}

void UnitCommitmentProgram::add_ramps(const CommitUnit& unit, const Unit& c) {
  const double width = unit.most - unit.least;
  const auto before = static_cast<double>(unit.on_before);
  const double above = unit.load_before - before * unit.least;
  const double first = std::min(unit.at_start, unit.most) - unit.least,
               final = std::min(unit.at_stop, unit.most) - unit.least;
  for (std::size_t t = 0; t < periods(); ++t) {
    if (unit.ramp_up < width) {
      const Row up = add({-kInfinite, t == 0 ? above : 0},
                         {{c.load[t], 1}, {c.on[t], -unit.ramp_up}, {c.start[t], unit.ramp_up - first}});
      if (t > 0) program_.add_term(up, c.load[t - 1], -1);
      if (!c.room.empty()) program_.add_term(up, c.room[t], 1);
    }
    if (unit.ramp_down < width) {
      const Row down = add({-kInfinite, t == 0 ? unit.ramp_down * before - above : 0},
                           {{c.load[t], -1}, {c.stop[t], unit.ramp_down - final}});
      if (t > 0) program_.add_term(down, c.load[t - 1], 1);
      if (t > 0) program_.add_term(down, c.on[t - 1], -unit.ramp_down);
    }
  }
}

CommitPlan UnitCommitmentProgram::plan(const LpSolution& solution) const {
  CommitPlan plan;
  plan.cost = solution.cost;
  plan.bound = solution.bound;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    CommitPlan::Unit& unit = plan.units.emplace_back();
    std::int64_t before = commitment_->units[u].on_before;
    for (std::size_t t = 0; t < periods(); ++t) {
      unit.on.push_back(std::llround(solution.columns[units_[u].on[t]]));
      unit.load.push_back(solution.columns[units_[u].load[t]] +
                          commitment_->units[u].least * static_cast<double>(unit.on.back()));
      unit.starts += std::max<std::int64_t>(0, unit.on.back() - before);
      before = unit.on.back();
    }
  }
  for (const std::vector<Column>& columns : sources_) {
    std::vector<double>& loads = plan.sources.emplace_back();
    for (const Column column : columns) loads.push_back(solution.columns[column]);
  }
  return plan;
}

}  // namespace ace
