#include "plan/spot_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/int128.h"

namespace ace {
namespace {

Result<void> check(const SpotTask& task, Duration step) {
  const auto bad = [](const char* what) { return Error(Errc::bad_input, what); };
  if (step <= Duration{}) return bad("a step of the availability is positive");
  if (task.work <= Duration{} || task.work > 3650 * kDay) return bad("expected work above 0 and below ten years");
  if (task.changeover < Duration{} || task.changeover > step)
    return bad("expected a changeover from 0 to one step of the availability; take longer steps");
  if (task.checkpoint < Duration{}) return bad("expected a checkpoint interval from 0 up");
  if (task.deadline < task.work + task.changeover)
    return Error(Errc::bad_input,
                 fmt::format("no capacity can keep this deadline: work and one changeover take {:.2f} h, "
                             "the deadline is after {:.2f} h",
                             to_seconds(task.work + task.changeover) / 3600.0, to_seconds(task.deadline) / 3600.0));
  return {};
}

/// From nanoseconds x hourly price, rounded once.
Result<Usd> bill(int128 sum) {
  const int128 nano = divide_half_away(sum, nanos(kHour));
  if (nano > std::numeric_limits<std::int64_t>::max())
    return Error(Errc::out_of_range, "spot: a run costs more than 9.2 billion USD");
  return Usd{static_cast<std::int64_t>(nano)};
}

/// Is it ahead of the straight line from nothing at the start to everything at the deadline, as it will be at `at`?
bool ahead(const SpotTask& task, Duration done, Duration at) {
  return int128{nanos(done)} * nanos(task.deadline) >= int128{nanos(task.work)} * nanos(at);
}

}  // namespace

std::string_view name_of(SpotRule rule) {
  constexpr std::string_view kNames[] = {"on_demand", "spot", "greedy", "uniform_progress"};
  return kNames[static_cast<std::size_t>(rule)];
}

SpotMode next_mode(SpotRule rule, const SpotTask& task, const SpotView& view) {
  if (rule == SpotRule::on_demand) return SpotMode::on_demand;
  if (rule == SpotRule::spot) return SpotMode::spot;
  // What is done on demand is durable: nobody takes it away, and who leaves it saves first.
  const Duration durable = view.mode == SpotMode::on_demand ? view.done : view.durable;
  const bool safe = task.deadline - view.now - view.step >= task.work - durable + task.changeover;
  if (!safe) return SpotMode::on_demand;
  if (view.mode == SpotMode::on_demand && rule == SpotRule::uniform_progress &&
      !ahead(task, view.done, view.now + 2 * task.changeover))
    return SpotMode::on_demand;
  if (view.available) return SpotMode::spot;
  if (rule == SpotRule::greedy || ahead(task, view.done, view.now)) return SpotMode::idle;
  return SpotMode::on_demand;
}

Result<SpotOutcome> run_spot(SpotRule rule, const SpotTask& task, const SpotPrices& prices,
                             std::span<const std::uint8_t> available, Duration step) {
  if (Result<void> fine = check(task, step); !fine) return Error(fine.error());
  SpotOutcome outcome;
  SpotView view;
  view.step = step;
  view.available = true;  // nobody knows; one tries
  Duration before{};      // done when this stay on spot began
  for (std::size_t t = 0;; ++t, view.now += step) {
    const bool there = t < available.size() && available[t] != 0;
    if (t >= available.size() && rule == SpotRule::spot) break;  // it will never finish
    const SpotMode mode = next_mode(rule, task, view);
    const bool starts = mode != view.mode;
    if (mode == SpotMode::spot && !there) {
      if (!starts) {
        ++outcome.evictions;
        outcome.lost += view.done - view.durable;
        view.done = view.durable;
      }
      view.mode = SpotMode::idle;
    } else {
      if (starts && view.mode != SpotMode::idle) view.durable = view.done;  // who leaves by plan saves first
      if (starts && mode != SpotMode::idle) ++outcome.switches, before = view.done;
      view.mode = mode;
      if (mode != SpotMode::idle) {
        const Duration start = starts ? task.changeover : Duration{};
        const Duration worked = std::min(step - start, task.work - view.done);
        view.done += worked;
        (mode == SpotMode::spot ? outcome.on_spot : outcome.paid) += start + worked;
        const Duration since = view.done - before;
        const bool lasts = mode == SpotMode::on_demand || task.checkpoint == Duration{};
        view.durable = lasts ? view.done
                             : std::max(view.durable, before + since / nanos(task.checkpoint) * nanos(task.checkpoint));
        if (view.done == task.work) {
          outcome.finished = view.now + start + worked;
          outcome.met = outcome.finished <= task.deadline;
          break;
        }
      }
    }
    view.available = there;
    outcome.finished = view.now + step;
  }
  const Result<Usd> cost =
      bill(int128{nanos(outcome.on_spot)} * prices.spot.nano + int128{nanos(outcome.paid)} * prices.on_demand.nano);
  if (!cost) return Error(cost.error());
  outcome.cost = *cost;
  return outcome;
}

Result<Usd> spot_optimum(const SpotTask& task, const SpotPrices& prices, std::span<const std::uint8_t> available,
                         Duration step) {
  if (Result<void> fine = check(task, step); !fine) return Error(fine.error());
  const std::int64_t unit = std::gcd(std::gcd(nanos(step), nanos(task.changeover)), nanos(task.work));
  const std::int64_t work = nanos(task.work) / unit, whole = nanos(step) / unit, start = nanos(task.changeover) / unit;
  const std::int64_t steps = -floor_div(-nanos(task.deadline), nanos(step));
  if (int128{work} * steps > 100'000'000)
    return Error(Errc::bad_input,
                 "the optimum would take too long: choose work and changeover in multiples of a minute");
  constexpr int128 kNever = int128{std::numeric_limits<std::int64_t>::max()} << 32;
  constexpr std::size_t kModes = 3;
  const int128 price[kModes] = {0, prices.spot.nano, prices.on_demand.nano};
  // least[mode][done]: units of time x hourly price, at the beginning of a step in which nothing has finished.
  // A unit of a second makes 3,600 of a nano-dollar an hour, which at a thousand machines is too much for 64 bits.
  using Column = std::vector<int128>;
  std::vector<Column> least(kModes, Column(static_cast<std::size_t>(work), kNever));
  least[0][0] = 0;
  int128 best = kNever;
  for (std::int64_t t = 0; t < steps; ++t) {
    const bool there = static_cast<std::size_t>(t) < available.size() && available[static_cast<std::size_t>(t)] != 0;
    const std::int64_t room = std::min(whole, (nanos(task.deadline) - t * nanos(step)) / unit);
    std::vector<Column> after(kModes, Column(static_cast<std::size_t>(work), kNever));
    for (std::size_t mode = 0; mode < kModes; ++mode) {
      for (std::int64_t done = 0; done < work; ++done) {
        const int128 so_far = least[mode][static_cast<std::size_t>(done)];
        if (so_far == kNever) continue;
        for (std::size_t next = 0; next < kModes; ++next) {
          if (next == 1 && !there) continue;
          const std::int64_t lead = next == 0 || next == mode ? 0 : start, left = work - done;
          if (next != 0 && lead + left <= whole) {
            if (lead + left <= room) best = std::min(best, so_far + (lead + left) * price[next]);
            continue;  // it finishes in this step, or too late
          }
          const std::int64_t then = next == 0 ? done : done + whole - lead;
          int128& cell = after[next][static_cast<std::size_t>(then)];
          cell = std::min(cell, so_far + (next == 0 ? 0 : whole * price[next]));
        }
      }
    }
    least = std::move(after);
  }
  ACE_CHECK(best != kNever, "on demand from the start keeps the deadline");
  return bill(best * unit);
}

}  // namespace ace
