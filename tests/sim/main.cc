/// ace_sim: the store's own code on a disk, a clock and a scheduler drawn from a seed.
///     ace_sim --seeds N [--first S]     random workloads, faults of every class, several lives each
///     ace_sim --crash-points            a workload of 200 events, ended at every operation in every way
///     ace_sim --seed S                  one of the first again
///     ace_sim --point KIND LOSS AT BOOT one of the second again
/// Exit codes: 0 every promise held, 1 one was broken, 2 usage.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "machine.h"

namespace {
thread_local std::uint64_t allocation_fails = 0, allocation_count = 0;
thread_local char reproduce[160] = "";
}  // namespace

// Every allocation of the process comes by here, so that the n-th can be made to fail.
void* operator new(std::size_t size) {
  if (++allocation_count == allocation_fails) throw std::bad_alloc();
  if (void* made = std::malloc(size == 0 ? 1 : size)) return made;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace ace::sim {

void fail_allocation(std::uint64_t number) {
  allocation_count = 0;
  allocation_fails = number;
}
std::uint64_t allocations() { return allocation_count; }
Unharmed::Unharmed() : fails_(allocation_fails), count_(allocation_count) { allocation_fails = 0; }
Unharmed::~Unharmed() {
  allocation_fails = fails_;
  allocation_count = count_;
}

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

/// @return events acknowledged
std::uint64_t run_seed(std::uint64_t seed) {
  Machine machine(seed, signer());
  Rng rng(seed, "faults");
  const std::uint64_t lives = 2 + rng.below(5);
  for (std::uint64_t life = 0; life < lives; ++life) {
    Fault boot;
    if (rng.chance(0.4)) {
      boot = random_fault(rng);
      boot.at = rng.below(boot.kind == Kind::allocation ? 400 : 25);
    }
    const std::uint64_t events = 20 + rng.below(180);  // drawn in this order, whatever the compiler
    const Fault fault = random_fault(rng);
    machine.live(events, fault, boot);
    machine.judge();
  }
  return machine.acknowledged();
}

/// One crash point of the fixed workload, then up to two more while it recovers.
void run_point(const Fault& fault, std::uint64_t boot) {
  Machine machine(20261130, signer());
  machine.live(200, fault);
  if (boot > 0) {
    Fault nested = fault;
    nested.kind = Kind::power;
    nested.at = boot - 1;
    machine.live(0, {Kind::kill, 0, Loss::none}, nested);
    machine.live(5, {Kind::power, 3, fault.loss}, nested);
  }
  machine.judge();
  machine.live(10, {});
  machine.judge();
}

struct Tally {
  std::atomic<std::uint64_t> next{0}, runs{0}, acknowledged{0};
  std::atomic<bool> broken{false};
  std::mutex printing;
};

/// Runs jobs on both cores until one is broken.
template <class Job>
bool all(std::uint64_t jobs, const Job& job) {
  Tally tally;
  const auto worker = [&] {
    while (!tally.broken) {
      const std::uint64_t number = tally.next++;
      if (number >= jobs) return;
      try {
        tally.acknowledged += job(number);
        ++tally.runs;
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
  return !tally.broken;
}

bool seeds(std::uint64_t first, std::uint64_t count) {
  return all(count, [&](std::uint64_t n) {
    fmt::format_to_n(reproduce, sizeof reproduce - 1, "ace_sim --seed {}\n\0", first + n);
    return run_seed(first + n);
  });
}

bool crash_points() {
  // How far the workload reaches, when nothing goes wrong.
  Machine whole(20261130, signer());
  whole.live(200, {Kind::kill, 0, Loss::none});
  struct Point {
    Fault fault;
    std::uint64_t boot = 0;
  };
  std::vector<Point> points;
  for (std::uint64_t at = 0; at < whole.operations; ++at) {
    for (std::size_t loss = 0; loss < spine::MemoryDisk::kLosses; ++loss) {
      points.push_back({{Kind::power, at, static_cast<Loss>(loss)}});
      points.push_back({{Kind::power, at, static_cast<Loss>(loss)}, 1 + (at + loss) % 12});
    }
    for (const Kind kind : {Kind::input_output, Kind::full, Kind::full_once})
      points.push_back({{kind, at, Loss::none}});
  }
  for (std::uint64_t at = 0; at < whole.syncs; ++at)
    for (std::uint64_t boot = 0; boot < 4; ++boot) points.push_back({{Kind::sync, at, Loss::all}, boot});
  for (std::uint64_t at = 0; at < std::min<std::uint64_t>(whole.allocated, 2000); ++at)
    points.push_back({{Kind::allocation, at, Loss::none}});
  fmt::print("{} operations, {} syncs, {} allocations: {} points\n", whole.operations, whole.syncs, whole.allocated,
             points.size());
  return all(points.size(), [&](std::uint64_t n) {
    const Point& p = points[n];
    fmt::format_to_n(reproduce, sizeof reproduce - 1, "ace_sim --point {} {} {} {}\n\0", static_cast<int>(p.fault.kind),
                     static_cast<int>(p.fault.loss), p.fault.at, p.boot);
    run_point(p.fault, p.boot);
    return std::uint64_t{0};
  });
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
  } else if (what == "--point" && argc > 5) {
    const Fault fault{static_cast<Kind>(number(2)), number(4), static_cast<Loss>(number(3))};
    held = all(1, [&](std::uint64_t) {
      run_point(fault, number(5));
      return std::uint64_t{0};
    });
  } else {
    fmt::print(stderr,
               "usage: ace_sim --seeds N [--first S] | --seed S | --crash-points | --point KIND LOSS AT BOOT\n");
    return 2;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  fmt::print("BAR ace_sim_seconds {:.1f} 180 {}\n", took.count(), took.count() < 180 ? "met" : "missed");
  return held ? 0 : 1;
}

}  // namespace
}  // namespace ace::sim

int main(int argc, char** argv) { return ace::sim::main(argc, argv); }
