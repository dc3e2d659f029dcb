#include "plan/demand.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

namespace ace {
namespace {

constexpr std::int64_t kValuesMost = 40'000'000;  ///< of all cells together: 320 MB

/// Sums of one step; exact, since counts of tokens are whole.
struct Sums {
  std::int64_t requests = 0, uncached = 0, cached = 0, output = 0;
};

class Counter {
 public:
  Counter(const RequestSource& source, const DemandOptions& options) : source_(source), options_(options) {}
  Result<void> add(const Arrival& arrival);
  DemandReading finish();

 private:
  [[nodiscard]] DemandCell cell_of(const Arrival& arrival) const;
  std::vector<Sums>& steps_of(const Arrival& arrival);

  const RequestSource& source_;
  const DemandOptions& options_;
  DemandReading reading_;
  std::map<DemandCell, std::vector<Sums>> cells_;      ///< steps from first_step_
  std::map<std::uint64_t, std::vector<Sums>*> known_;  ///< by symbols, so that names are made once
  bool begun_ = false;
  std::int64_t first_step_ = 0;
  Instant first_{}, last_{};
  std::int64_t values_ = 0;
};

DemandCell Counter::cell_of(const Arrival& arrival) const {
  DemandCell cell{source_.models()[arrival.model], "any", "any"};
  if (cell.model.empty()) cell.model = "any";
  if (const Fleet* fleet = options_.fleet) {
    if (const auto model = fleet->model(cell.model)) cell.model = fleet->models[model->value].name;
    SloId slo = fleet->default_slo;
    if (const auto tenant = fleet->tenant(source_.tenants()[arrival.tenant])) {
      const Tenant& t = fleet->tenants[tenant->value];
      if (t.slo.valid()) slo = t.slo;
      if (t.compliance.valid()) cell.region = fleet->compliance[t.compliance.value].name;
    }
    if (slo.valid()) cell.slo = fleet->slo_classes[slo.value].name;
  }
  if (arrival.batch) cell.slo = "batch";
  return cell;
}

std::vector<Sums>& Counter::steps_of(const Arrival& arrival) {
  // Two symbols and a bit: a trace has far fewer than 2^31 names.
  const std::uint64_t key =
      (std::uint64_t{arrival.model} << 33) | (std::uint64_t{arrival.tenant} << 1) | (arrival.batch ? 1U : 0U);
  const auto [found, is_new] = known_.emplace(key, nullptr);
  if (is_new) found->second = &cells_[cell_of(arrival)];
  return *found->second;
}

Result<void> Counter::add(const Arrival& arrival) {
  const std::int64_t step = floor_div(nanos(arrival.at), nanos(options_.step));
  if (!begun_) {
    begun_ = true;
    first_step_ = step;
    first_ = arrival.at;
  }
  last_ = arrival.at;
  ++reading_.requests;
  if (arrival.cache_hit) {
    ++reading_.answered;
    return {};
  }
  std::vector<Sums>& steps = steps_of(arrival);
  const auto at = static_cast<std::size_t>(step - first_step_);
  if (at >= steps.size()) {
    values_ += static_cast<std::int64_t>(at + 1 - steps.size());
    if (values_ > kValuesMost)
      return Error(Errc::out_of_range,
                   fmt::format("{} cells over {} steps do not fit; take a longer step than {} s, or "
                               "a fleet file that says which models and tenants stand together",
                               cells_.size(), at + 1, to_seconds(options_.step)));
    steps.resize(at + 1);
  }
  Sums& sums = steps[at];
  const std::int32_t cached = std::max(arrival.cached, 0);
  reading_.cached_unknown += arrival.cached < 0 ? 1U : 0U;
  ++sums.requests;
  sums.uncached += arrival.prompt - cached;
  sums.cached += cached;
  sums.output += arrival.output;
  return {};
}

DemandReading Counter::finish() {
  if (!begun_) return std::move(reading_);
  const auto start_of = [&](std::int64_t step) { return instant(step * nanos(options_.step)); };
  std::int64_t from = first_step_, to = floor_div(nanos(last_), nanos(options_.step)) + 1;
  // A trace begins with its first arrival and ends with its last: a step that lies beyond either was not seen whole.
  // One arrival's distance is no gap, so a hundredth of the step is let pass.
  const Duration slack = options_.step / 100;
  if (to - from > 2 && first_ - start_of(from) > slack) ++from;
  if (to - from > 1 && start_of(to) - last_ > slack) --to;
  const double minutes = to_seconds(options_.step) / 60.0;
  for (auto& [cell, steps] : cells_) {
    CellDemand demand{cell, {}, {}, {}, {}};
    steps.resize(static_cast<std::size_t>(std::max(to, from + 1) - first_step_));
    const auto series = [&](const char* what, std::int64_t Sums::*member) {
      Series s{name_of(cell) + " " + what, start_of(from), options_.step, {}};
      for (std::size_t i = static_cast<std::size_t>(from - first_step_); i < steps.size(); ++i)
        s.values.push_back(static_cast<double>(steps[i].*member) / minutes);
      return s;
    };
    demand.requests = series("requests/min", &Sums::requests);
    demand.uncached = series("uncached prompt tokens/min", &Sums::uncached);
    demand.cached = series("cached prompt tokens/min", &Sums::cached);
    demand.output = series("output tokens/min", &Sums::output);
    reading_.cells.push_back(std::move(demand));
  }
  return std::move(reading_);
}

}  // namespace

std::string name_of(const DemandCell& cell) { return cell.model + " x " + cell.region + " x " + cell.slo; }

Series CellDemand::load(const LoadWeights& weights) const {
  Series load = uncached;
  load.name = name_of(cell) + " load tokens/min";
  for (std::size_t i = 0; i < load.values.size(); ++i)
    load.values[i] += weights.cached * cached.values[i] + weights.output * output.values[i];
  return load;
}

Result<DemandReading> demand_of(RequestSource& source, const DemandOptions& options) {
  if (options.step <= Duration{0}) return Error(Errc::bad_input, "demand: the step must be positive");
  Counter counter(source, options);
  std::vector<Arrival> batch(512);
  for (;;) {
    const Result<std::size_t> got = source.next(batch);
    if (!got) return got.error();
    if (*got == 0) return counter.finish();
    for (std::size_t i = 0; i < *got; ++i)
      if (Result<void> added = counter.add(batch[i]); !added) return std::move(added).error();
  }
}

}  // namespace ace
