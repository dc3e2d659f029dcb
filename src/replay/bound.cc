#include "replay/bound.h"

#include <algorithm>
#include <cmath>

#include "core/hash.h"
#include "replay/bound_world.h"

namespace ace {
namespace {

constexpr std::size_t kBatch = 16'384;

/// A sum of many doubles whose error does not grow with their number (Neumaier).
struct Sum {
  double sum = 0.0, lost = 0.0, magnitude = 0.0;
  void add(double x) {
    const double next = sum + x;
    lost += std::fabs(sum) >= std::fabs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
    magnitude += std::fabs(x);
  }
  [[nodiscard]] double value() const { return sum + lost; }
};

/// The one door from the bound's doubles into money: nano-dollars rounded down by more than all that was lost to
/// rounding on the way, so that what comes out is still a bound.
Usd floor_usd(const Sum& nano) {
  return Usd{static_cast<std::int64_t>(std::floor(nano.value() - 1e-12 * nano.magnitude - 1.0))};
}

/// Prompt blocks seen so far, in flat memory: two that share a bit count as one, which only loosens the bound.
class SeenBlocks {
 public:
  explicit SeenBlocks(std::uint64_t bits) : size_(bits) {}
  /// Blocks of the unbroken prefix that were seen before; all of them are seen now.
  std::int64_t meet(std::span<const std::uint32_t> blocks) {
    if (blocks.empty()) return 0;
    if (bits_.empty()) bits_.resize(size_ / 64 + 1);
    std::int64_t known = 0;
    bool unbroken = true;
    for (const std::uint32_t block : blocks) {
      const std::uint64_t bit = mix(block, 0) % size_;
      std::uint64_t& word = bits_[bit / 64];
      unbroken = unbroken && (word >> (bit % 64) & 1U) != 0;
      known += unbroken ? 1 : 0;
      word |= std::uint64_t{1} << (bit % 64);
    }
    return known;
  }
  void forget() { std::fill(bits_.begin(), bits_.end(), 0); }

 private:
  std::uint64_t size_;
  std::vector<std::uint64_t> bits_;
};

/// One of the two bounds, with its multipliers.
class Dual {
 public:
  Dual(const BoundWorld& world, bool plan) : world_(&world), plan_(plan) {
    for (const BoundWorld::Place& place : world.places())
      for (const std::optional<BoundWorld::Limit>& limit : place.limits) {
        std::optional<ShadowPrices>& prices = prices_.emplace_back();
        if (limit) prices.emplace(limit->grid, plan ? limit->at_most : limit->as_run, limit->one_over);
      }
  }

  void add(std::span<const BoundWorld::Choice> choices, Instant from, Instant to) {
    constexpr double never = 1e300;
    double least = never, cheapest = never, second = never;
    const BoundWorld::Choice* chosen = nullptr;
    std::array<std::size_t, BoundWorld::kResources> at{};
    for (const BoundWorld::Choice& choice : choices) {
      if (!open(choice)) continue;
      if (choice.cost < cheapest) {
        second = cheapest;
        cheapest = choice.cost;
      } else {
        second = std::min(second, choice.cost);
      }
      double cost = choice.cost;
      std::array<std::size_t, BoundWorld::kResources> here{};
      for (std::size_t k = 0; k < BoundWorld::kResources; ++k) {
        std::optional<ShadowPrices>& prices = of(choice.place, k);
        if (!prices) continue;
        prices->seen(choice.use[k]);
        const ShadowPrices::Least low = prices->least(from, to);
        cost += low.price * choice.use[k];
        here[k] = low.bucket;
      }
      if (cost >= least) continue;
      least = cost;
      chosen = &choice;
      at = here;
    }
    if (chosen == nullptr) return;
    total_.add(least);
    if (!best_) add_cheapest(cheapest);
    for (const BoundWorld::Choice& choice : choices) {
      if (!open(choice)) continue;
      const double elsewhere = choice.cost == cheapest ? second : cheapest;
      for (std::size_t k = 0; k < BoundWorld::kResources; ++k) {
        std::optional<ShadowPrices>& prices = of(choice.place, k);
        if (!prices || choice.use[k] <= 0.0 || elsewhere == never || elsewhere <= choice.cost) continue;
        const double worth = (elsewhere - choice.cost) / choice.use[k];
        prices->worth(prices->grid().of(from), worth);
        prices->worth(prices->grid().of(to), worth);
        if (&choice == chosen) prices->worth(at[k], worth);
      }
    }
    for (std::size_t k = 0; k < BoundWorld::kResources; ++k)
      if (std::optional<ShadowPrices>& prices = of(chosen->place, k)) prices->use(from, to, chosen->use[k]);
  }

  /// Ends a pass: keeps the bound it gave if it is the best, then moves the prices.
  void settle(double hosts) {
    for (std::size_t d = 0; d < world_->places().size(); ++d) settle(d);
    // A booked line of fixed cost may have been rounded down by half a nano-dollar; a destination has at most three.
    if (plan_) total_.add(hosts - 2.0 * static_cast<double>(world_->places().size() + 1));
    if (!best_) best_ = without_limits(hosts);
    const Usd now = floor_usd(total_);
    if (!best_ || now > *best_) best_ = now;
    total_ = {};
  }
  [[nodiscard]] Usd best() const { return best_.value_or(Usd{}); }

 private:
  [[nodiscard]] std::optional<ShadowPrices>& of(std::size_t place, std::size_t k) {
    return prices_[place * BoundWorld::kResources + k];
  }
  [[nodiscard]] bool open(const BoundWorld::Choice& choice) const {
    const BoundWorld::Place& place = world_->places()[choice.place];
    return plan_ ? place.may_run : place.ran;
  }

  /// What each request costs at its cheapest open place, whatever that can hold: whole nano-dollars, so nothing is lost
  /// to rounding, and where nothing is scarce no bound is higher.
  void add_cheapest(double nano) {
    constexpr double exact_most = 9.0e15;  // a double holds every whole number up to 2^53
    exact_ = exact_ && std::fabs(nano) < exact_most;
    if (exact_) cheapest_ += Usd{static_cast<std::int64_t>(nano)};
  }
  /// That sum, where it is a bound: fixed cost may be left out only if none of it is negative.
  [[nodiscard]] std::optional<Usd> without_limits(double hosts) const {
    bool bounds = exact_;
    for (const BoundWorld::Place& place : world_->places()) {
      if (!plan_) break;
      bounds = bounds && hosts >= 0.0 && place.once >= 0.0 &&
               std::all_of(place.running.begin(), place.running.end(), [](double cost) { return cost >= 0.0; });
    }
    return bounds ? std::optional(cheapest_) : std::nullopt;
  }

  void settle(std::size_t d) {
    const BoundWorld::Place& place = world_->places()[d];
    // The two limits of a GPU are the same replica-seconds and are held together; a quota in requests costs nothing.
    const bool together = place.limits[0] && place.limits[1] && !place.limits[0]->one_over;
    double gain = 0.0;  // of holding, once apart
    std::vector<bool> worth_running(place.running.size());
    for (std::size_t t = 0; t < place.running.size(); ++t) {
      const double value = of(d, 0)->value(t) + (together ? of(d, 1)->value(t) : 0.0);
      worth_running[t] = value > place.running[t];
      if (plan_ ? worth_running[t] : value != 0.0) gain += value - (plan_ ? place.running[t] : 0.0);
    }
    const bool held = !plan_ || place.once == 0.0 || gain > place.once;
    if (!plan_)
      total_.add(-gain);
    else if (held)
      total_.add(place.once - gain);
    if (of(d, 1) && !together)
      for (std::size_t t = 0; t < of(d, 1)->size(); ++t) total_.add(-of(d, 1)->value(t));
    for (std::size_t k = 0; k < BoundWorld::kResources; ++k) {
      std::optional<ShadowPrices>& prices = of(d, k);
      if (!prices) continue;
      total_.add(-prices->value_over());
      const bool mine = k == 0 || together;
      std::vector<bool> there(prices->size(), true);
      std::vector<double> first(prices->size());
      for (std::size_t t = 0; plan_ && mine && t < prices->size(); ++t) {
        there[t] = held && (worth_running[t] || (place.once == 0.0 && place.running[t] == 0.0));
        const double fixed = place.running[t] + place.once / static_cast<double>(prices->size());
        if (prices->capacity(t) > 0.0) first[t] = fixed / prices->capacity(t) / (together ? 2.0 : 1.0);
      }
      prices->move(there, first);
    }
  }

  const BoundWorld* world_;
  bool plan_;
  std::vector<std::optional<ShadowPrices>> prices_;  ///< by place, then resource
  Sum total_;
  Usd cheapest_{};
  bool exact_ = true;
  std::optional<Usd> best_;
};

std::optional<double> share(Usd baseline, Usd actual, Usd bound) {
  const double possible = static_cast<double>(baseline.nano) - static_cast<double>(bound.nano);
  if (possible <= 0.0) return std::nullopt;
  return (static_cast<double>(baseline.nano) - static_cast<double>(actual.nano)) / possible;
}

/// The requests of the run, in the order of the source.
template <class Each>
Result<void> for_each_demand(const Snapshot& fleet, RequestSource& source, const BoundOptions& options, Each each) {
  if (Result<void> back = source.rewind(); !back) return std::move(back).error().with("reading the trace again");
  Resolver resolve(fleet, source, options.naming);
  std::vector<Arrival> batch(kBatch);
  while (true) {
    const Result<std::size_t> count = source.next(batch);
    if (!count) return Error(count.error());
    if (*count == 0) return {};
    for (std::size_t i = 0; i < *count; ++i) {
      const Arrival& arrival = batch[i];
      if (arrival.at < options.from || arrival.at >= options.to) continue;
      const std::optional<Demand> demand = resolve(arrival);
      if (demand && !arrival.failed && !arrival.cache_hit && !arrival.billed_otherwise()) each(*demand);
    }
  }
}

}  // namespace

Result<BoundResult> bound(const Snapshot& fleet, RequestSource& source, const RunResult& run,
                          const BoundOptions& options, bool uncached) {
  BoundResult result;
  double hosts = 0.0;
  for (const FixedLine& line : run.statement.fixed_lines)
    if (line.kind == event::FixedCost::Kind::hosts) hosts += static_cast<double>((line.used + line.idle).nano);

  // What a meter may give back decides its stretches, so it is looked for before anything is bounded.
  BoundWorld::Options world_options{options.slowdown, source.block_tokens(), run.first, run.last, false};
  Result<void> looked = for_each_demand(fleet, source, options, [&](const Demand& demand) {
    world_options.states_maximum = world_options.states_maximum || demand.arrival.max_output > 0;
  });
  if (!looked) return std::move(looked).error();

  BoundWorld world(fleet, run.facts, world_options);
  Dual dispatch(world, false), plan(world, true);
  SeenBlocks seen(options.block_bits);
  for (std::uint64_t pass = 0; pass < options.passes; ++pass) {
    seen.forget();
    Result<void> read = for_each_demand(fleet, source, options, [&](const Demand& demand) {
      const Arrival& arrival = demand.arrival;
      std::int64_t cached = seen.meet(arrival.blocks) * world_options.block_tokens.value;
      if (std::binary_search(run.facts.left_out.begin(), run.facts.left_out.end(), arrival.row)) return;
      const auto late = std::lower_bound(run.facts.late_hits.begin(), run.facts.late_hits.end(), arrival.row,
                                         [](const Engine::LateHit& hit, std::int64_t row) { return hit.row < row; });
      if (late != run.facts.late_hits.end() && late->row == arrival.row)
        cached = std::max<std::int64_t>(cached, late->cached);
      const auto choices =
          world.choices(demand, static_cast<std::int32_t>(std::min<std::int64_t>(cached, arrival.prompt)));
      const Instant latest = world.latest(demand.slo, arrival.at);
      dispatch.add(choices, arrival.at, latest);
      plan.add(choices, arrival.at, latest);
    });
    if (!read) return std::move(read).error();
    dispatch.settle(0.0);
    plan.settle(hosts);
    if (options.progress) options.progress(static_cast<double>(pass + 1) / static_cast<double>(options.passes));
  }
  result.dispatch_bound = dispatch.best();
  result.plan_bound = plan.best();
  const Usd baseline = uncached ? run.facts.uncached : run.facts.baseline;
  result.dispatch_share = share(baseline, run.facts.actual, result.dispatch_bound);
  result.plan_share = share(baseline, run.facts.actual + run.statement.fixed, result.plan_bound);
  return result;
}

}  // namespace ace
