#pragma once
/// Counts of what the gateway does, and their text for Prometheus. Counting takes no lock; label values are words of
/// ours and names that the operator declared, never what a client sent.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/money.h"
#include "core/time.h"

namespace ace::gateway {

class Counter {
 public:
  void add(std::int64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_ = 0;
};

/// Durations by upper bounds.
class Histogram {
 public:
  /// 1 ms to 164 s, doubling: what requests take. 16 us to 131 ms: what we add to them.
  static constexpr std::array<Duration, 18> kRequest = [] {
    std::array<Duration, 18> bounds{};
    for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = Duration{std::int64_t{1'250'000} << i};
    return bounds;
  }();
  static constexpr std::array<Duration, 14> kOverhead = [] {
    std::array<Duration, 14> bounds{};
    for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = Duration{std::int64_t{16'000} << i};
    return bounds;
  }();

  /// @param bounds  rising; outlive it
  explicit Histogram(std::span<const Duration> bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}
  void observe(Duration length);

  struct Reading {
    std::span<const Duration> bounds;
    std::vector<std::int64_t> counts;  ///< by bound, the last beyond all
    std::int64_t count = 0;
    Duration sum{0};
  };
  [[nodiscard]] Reading read() const;

 private:
  std::span<const Duration> bounds_;
  std::vector<std::atomic<std::int64_t>> counts_;
  std::atomic<std::int64_t> sum_ = 0;
};

/// The families of one process. Handles stay valid as long as it does.
class MetricRegistry {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string>>;  ///< names are ours

  /// The counter of these labels, made at the first call. @param name  "ace_..._total"; one help text for each name
  Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
  /// A counter of nano-USD, written as USD.
  Counter& money(std::string_view name, std::string_view help, const Labels& labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, std::span<const Duration> bounds,
                       const Labels& labels = {});
  /// What is read when it is asked for.
  void gauge(std::string_view name, std::string_view help, std::function<double()> read, const Labels& labels = {});
  /// Gauges whose labels are known only then, e.g. one for each destination of the fleet in force.
  struct Sample {
    Labels labels;
    double value = 0.0;
  };
  void gauges(std::string_view name, std::string_view help, std::function<std::vector<Sample>()> read);

  /// All of it, families by name, in Prometheus' text format 0.0.4.
  [[nodiscard]] std::string expose() const;

 private:
  enum class Kind : std::uint8_t { counter, money, gauge, histogram };
  struct Family {
    Kind kind = Kind::counter;
    std::string help;
    std::map<std::string, std::unique_ptr<Counter>> counters{};  ///< by labels as they are written
    std::map<std::string, std::unique_ptr<Histogram>> histograms{};
    std::map<std::string, std::function<double()>> reads{};
    std::function<std::vector<Sample>()> samples{};
  };
  Family& family(std::string_view name, std::string_view help, Kind kind);
  Counter& counter_of(Kind kind, std::string_view name, std::string_view help, const Labels& labels);

  mutable std::mutex mutex_;  ///< of the families, not of what they count
  std::map<std::string, Family, std::less<>> families_;
};

}  // namespace ace::gateway
