/// ace_sim: the store's own code on a disk, a clock and a scheduler drawn from a seed.
///     ace_sim --seeds N [--first S]     random workloads, faults of every class, several lives each
///     ace_sim --crash-points            a workload of 200 events, ended at every operation in every way
///     ace_sim --seed S                  one of the first again
///     ace_sim --point KIND LOSS AT SECTORS BOOT BOOT   one of the second again; - for none
/// Exit codes: 0 every promise held, 1 one was broken, 2 usage.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "machine.h"

namespace {
thread_local char reproduce[160] = "";
}  // namespace

namespace ace::sim {

namespace {

using Loss = spine::MemoryDisk::Loss;
using Kind = Fault::Kind;

const spine::Signer& signer() {
  static const spine::Signer made = *spine::Signer::from_seed(std::string(32, 'k'));
  return made;
}

void on_abort(int) {
  std::fputs(reproduce, stderr);
  std::_Exit(1);
}

Fault random_fault(Rng& rng) {
  constexpr std::uint64_t kReach[] = {0, 0, 250, 250, 250, 250, 80, 3000};
  Fault fault;
  fault.kind = static_cast<Kind>(rng.below(8));
  if (rng.chance(0.4)) fault.kind = Kind::power;
  const std::uint64_t reach = kReach[static_cast<std::size_t>(fault.kind)];
  fault.at = reach == 0 ? 0 : rng.below(reach);
  fault.loss = static_cast<Loss>(rng.below(spine::MemoryDisk::kLosses));
  return fault;
}

using Happened = std::map<std::string, std::uint64_t>;

/// @return events acknowledged
std::uint64_t run_seed(std::uint64_t seed, Happened& happened) {
  Machine machine(seed, signer());
  Rng rng(seed, "faults");
  const std::uint64_t lives = 2 + rng.below(5);
  for (std::uint64_t life = 0; life < lives; ++life) {
    std::vector<Fault> boots;
    while (boots.size() < 3 && rng.chance(0.4)) {
      Fault& boot = boots.emplace_back(random_fault(rng));
      boot.at = rng.below(boot.kind == Kind::allocation ? 400 : 25);
    }
    const std::uint64_t events = 20 + rng.below(180);  // drawn in this order, whatever the compiler
    const Fault fault = random_fault(rng);
    machine.live(events, fault, boots);
    machine.judge();
  }
  happened = machine.happened;
  return machine.acknowledged();
}

/// A fault at one operation of the fixed workload, then power cuts while it recovers and while that is recovered from.
struct Point {
  Fault fault;
  std::vector<std::uint64_t> boots{};  ///< operations of the recoveries that are cut short
};
constexpr std::uint64_t kSeed = 20261130, kEvents = 200;

void run_point(const Point& point, Happened& happened) {
  Machine machine(kSeed, signer());
  machine.live(kEvents, point.fault);
  std::vector<Fault> boots;
  for (const std::uint64_t at : point.boots) boots.push_back({Kind::power, at, point.fault.loss, std::nullopt});
  if (!boots.empty()) machine.live(5, {Kind::kill, 0, Loss::none, std::nullopt}, boots);
  machine.judge();
  machine.live(10, {});
  machine.judge();
  happened = machine.happened;
}

/// Pruning that is cut short at one of its operations.
void run_prune(const Fault& fault, Happened& happened) {
  Machine machine(kSeed, signer());
  machine.live(4 * kEvents, {Kind::kill, 0, Loss::none, std::nullopt});
  machine.judge();
  machine.prune(fault);
  machine.judge();
  machine.prune({});
  machine.judge();
  happened = machine.happened;
}

struct Tally {
  std::atomic<std::uint64_t> next{0}, runs{0}, acknowledged{0};
  std::atomic<bool> broken{false};
  std::mutex printing;
  Happened happened;
};

/// Runs jobs on both cores until one is broken.
/// @param must what has to happen in one of them at least
template <class Job>
bool all(std::uint64_t jobs, const Job& job, const std::vector<std::string>& must = {}) {
  Tally tally;
  const auto worker = [&] {
    while (!tally.broken) {
      const std::uint64_t number = tally.next++;
      if (number >= jobs) return;
      try {
        Happened happened;
        tally.acknowledged += job(number, happened);
        ++tally.runs;
        const std::lock_guard lock(tally.printing);
        for (const auto& [what, times] : happened) tally.happened[what] += times;
      } catch (const Broken& b) {
        tally.broken = true;
        const std::lock_guard lock(tally.printing);
        fmt::print(stderr, "broken: {}\n{}", b.why, reproduce);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) threads.emplace_back(worker);
  for (std::thread& thread : threads) thread.join();
  fmt::print("{} runs, {} events acknowledged, none lost, none twice: {}\n", tally.runs.load(),
             tally.acknowledged.load(), tally.broken ? "BROKEN" : "held");
  for (const auto& [what, times] : tally.happened) fmt::print("  {:>9} x {}\n", times, what);
  for (const std::string& what : must) {
    if (tally.broken || tally.happened[what] > 0) continue;
    fmt::print(stderr, "it never happened that {}: these runs show less than they say\n", what);
    tally.broken = true;
  }
  return !tally.broken;
}

const std::vector<std::string> kEverything = {"a segment was sealed",
                                              "a conflict was kept",
                                              "a checkpoint was signed",
                                              "a torn tail was cut",
                                              "power went",
                                              "no memory",
                                              "an error of the disk",
                                              "the disk was full",
                                              "created",
                                              "exists",
                                              "conflict",
                                              "power went during recovery 1",
                                              "power went during recovery 2"};

bool seeds(std::uint64_t first, std::uint64_t count) {
  const auto job = [&](std::uint64_t n, Happened& happened) {
    fmt::format_to_n(reproduce, sizeof reproduce - 1, "ace_sim --seed {}\n\0", first + n);
    return run_seed(first + n, happened);
  };
  return all(count, job, count >= 1000 ? kEverything : std::vector<std::string>());
}

std::string text_of(const Point& point) {
  const auto or_none = [](std::optional<std::uint64_t> number) { return number ? std::to_string(*number) : "-"; };
  const auto boot = [&](std::size_t n) {
    return or_none(n < point.boots.size() ? std::optional(point.boots[n]) : std::nullopt);
  };
  return fmt::format("ace_sim --point {} {} {} {} {} {}\n", static_cast<int>(point.fault.kind),
                     static_cast<int>(point.fault.loss), point.fault.at, or_none(point.fault.sectors), boot(0),
                     boot(1));
}

/// Every operation of the workload in every way, and every operation of the recovery from some of them.
std::vector<Point> points_of(const Machine& whole) {
  std::vector<Point> points;
  std::uint64_t turn = 0;  // recoveries are cut at each of their operations in turn, and so are those from them
  for (std::uint64_t at = 0; at < whole.operations; ++at) {
    for (std::size_t loss = 0; loss < spine::MemoryDisk::kLosses; ++loss) {
      const Fault fault{Kind::power, at, static_cast<Loss>(loss), std::nullopt};
      points.push_back({fault});
      for (std::uint64_t boot = 0; boot < whole.boot_operations; ++boot)
        points.push_back({fault, {boot, turn++ % whole.boot_operations}});
      if (fault.loss == Loss::torn_sector)
        for (std::size_t kept = 0; kept <= whole.sectors[at]; ++kept)
          points.push_back({{Kind::power, at, fault.loss, kept}, {}});
    }
    for (const Kind kind : {Kind::input_output, Kind::full, Kind::full_once})
      points.push_back({{kind, at, Loss::none, std::nullopt}, {}});
  }
  for (std::uint64_t at = 0; at < whole.syncs; ++at) {
    points.push_back({{Kind::sync, at, Loss::all, std::nullopt}, {}});
    for (std::uint64_t boot = 0; boot < whole.boot_operations; ++boot)
      points.push_back({{Kind::sync, at, Loss::all, std::nullopt}, {boot, turn++ % whole.boot_operations}});
  }
  for (std::uint64_t at = 0; at < whole.allocated; ++at)
    points.push_back({{Kind::allocation, at, Loss::none, std::nullopt}, {}});
  return points;
}

bool crash_points() {
  // How far the workload and the recovery from a kill reach, when nothing goes wrong.
  Machine whole(kSeed, signer());
  whole.live(kEvents, {Kind::kill, 0, Loss::none, std::nullopt});
  const Machine* const workload = &whole;
  Machine again(kSeed, signer());
  again.live(kEvents, {Kind::power, whole.operations - 1, Loss::torn_byte, std::nullopt});
  again.live(0, {Kind::kill, 0, Loss::none, std::nullopt});
  whole.boot_operations = again.boot_operations;
  const std::vector<Point> points = points_of(*workload);
  fmt::print("{} operations, {} syncs, {} allocations, {} operations of a recovery: {} points\n", whole.operations,
             whole.syncs, whole.allocated, whole.boot_operations, points.size());
  const bool held = all(
      points.size(),
      [&](std::uint64_t n, Happened& happened) {
        fmt::format_to_n(reproduce, sizeof reproduce - 1, "{}\0", text_of(points[n]));
        run_point(points[n], happened);
        return std::uint64_t{0};
      },
      kEverything);
  Machine pruned(kSeed, signer());
  pruned.live(4 * kEvents, {Kind::kill, 0, Loss::none, std::nullopt});
  pruned.prune({});
  return all(pruned.operations * spine::MemoryDisk::kLosses,
             [&](std::uint64_t n, Happened& happened) {
               const Fault fault{Kind::power, n / spine::MemoryDisk::kLosses,
                                 static_cast<Loss>(n % spine::MemoryDisk::kLosses), std::nullopt};
               fmt::format_to_n(reproduce, sizeof reproduce - 1, "ace_sim --crash-points (pruning, operation {})\n\0",
                                fault.at);
               run_prune(fault, happened);
               return std::uint64_t{0};
             },
             {"a segment was pruned", "power went while pruning"}) &&
         held;
}

int main(int argc, char** argv) {
  std::signal(SIGABRT, on_abort);
  std::uint64_t first = 1;
  const auto number = [&](int i) { return i < argc ? std::strtoull(argv[i], nullptr, 10) : 0; };
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--first") == 0) first = number(i + 1);
  const std::string what = argc > 1 ? argv[1] : "";
  const auto started = std::chrono::steady_clock::now();
  bool held = false;
  if (what == "--seeds" && argc > 2) {
    held = seeds(first, number(2));
  } else if (what == "--seed" && argc > 2) {
    held = seeds(number(2), 1);
  } else if (what == "--crash-points") {
    held = crash_points();
  } else if (what == "--point" && argc > 7) {
    const auto said = [&](int i) { return std::strcmp(argv[i], "-") != 0; };
    Point point{{static_cast<Kind>(number(2)), number(4), static_cast<Loss>(number(3)), std::nullopt}, {}};
    if (said(5)) point.fault.sectors = number(5);
    for (const int i : {6, 7})
      if (said(i)) point.boots.push_back(number(i));
    held = all(1, [&](std::uint64_t, Happened& happened) {
      run_point(point, happened);
      return std::uint64_t{0};
    });
  } else {
    fmt::print(
        stderr,
        "usage: ace_sim --seeds N [--first S] | --seed S | --crash-points | --point KIND LOSS AT SECTORS BOOT BOOT\n");
    return 2;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  fmt::print("BAR ace_sim_seconds {:.1f} 180 {}\n", took.count(), took.count() < 180 ? "met" : "missed");
  return held ? 0 : 1;
}

}  // namespace
}  // namespace ace::sim

int main(int argc, char** argv) { return ace::sim::main(argc, argv); }
