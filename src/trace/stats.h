#pragma once
/// What a trace looks like: counts, sizes, arrivals, prefix reuse. Exact, in one pass.
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/int128.h"
#include "core/result.h"
#include "core/statistics.h"
#include "replay/source.h"

namespace ace {

/// Counts of non-negative integers, exact for every value; nearest-rank quantiles.
class ExactCounts {
 public:
  void add(std::int64_t value, std::uint64_t times = 1) {
    if (static_cast<std::uint64_t>(value) < dense_.size()) [[likely]] {
      dense_[static_cast<std::size_t>(value)] += times;
    } else {
      add_large(value, times);
    }
    count_ += times;
    sum_ += int128{value} * static_cast<std::int64_t>(times);
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] int128 sum() const { return sum_; }
  [[nodiscard]] double mean() const {
    return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }
  /// Smallest value with at least share q of the sample at or below it; 0 for an empty sample. @param q in [0, 1]
  [[nodiscard]] std::int64_t quantile(double q) const;
  [[nodiscard]] std::int64_t max() const { return quantile(1.0); }
  /// Share of the sample that is exactly `value`. @pre value is below 2^20
  [[nodiscard]] double share_at(std::size_t value) const {
    return count_ == 0 || value >= dense_.size() ? 0.0
                                                 : static_cast<double>(dense_[value]) / static_cast<double>(count_);
  }
  /// Population variance.
  [[nodiscard]] double variance() const;

 private:
  void add_large(std::int64_t value, std::uint64_t times);
  std::vector<std::uint64_t> dense_;                        ///< grows up to 2^20 entries
  std::unordered_map<std::int64_t, std::uint64_t> sparse_;  ///< the few above; sorted before it is looked through
  std::uint64_t count_ = 0;
  int128 sum_ = 0;
};

struct NameCount {
  std::string name;
  std::uint64_t requests = 0;
  std::int64_t prompt = 0, output = 0;  ///< tokens
};

/// An unbounded prefix cache that sees the requests in order; a block is one of Arrival::blocks.
struct PrefixReuse {
  std::uint64_t requests = 0;    ///< with blocks
  std::uint64_t references = 0;  ///< blocks of all requests
  std::uint64_t distinct = 0;
  std::uint64_t hits = 0;          ///< references to a block seen before
  std::uint64_t prefix_hits = 0;   ///< of these, behind hits only: an unbroken prefix
  std::uint64_t fully_cached = 0;  ///< requests
  std::uint64_t once = 0;          ///< blocks referenced once
  std::uint64_t most = 0;          ///< references of the most referenced block
};

struct TraceStats {
  std::string format;
  std::uint64_t rows = 0;
  Instant first{}, last{};
  ExactCounts prompt, output, reasoning;
  std::uint64_t cached_known = 0;  ///< requests whose log says how much was cached
  std::int64_t cached = 0;         ///< tokens, of those
  int128 cached_of = 0;            ///< prompt tokens of those
  std::uint64_t failed = 0, batch = 0, cache_hits = 0;
  std::uint64_t cost_known = 0;
  int128 cost_nano = 0;
  Moments gaps;            ///< seconds between arrivals
  ExactCounts per_second;  ///< arrivals in the seconds [k, k+1) after the first one, empty ones included
  std::array<std::uint64_t, 24> by_hour{};  ///< of the day, UTC
  PrefixReuse prefix;
  Tokens block_tokens{};
  std::vector<NameCount> models, tenants;  ///< most requests first, then by name
  std::vector<SkippedRows> skipped;
  std::vector<std::string> notes;

  [[nodiscard]] double span_s() const { return to_seconds(last - first); }
  [[nodiscard]] double rate_per_s() const { return span_s() > 0 ? static_cast<double>(rows) / span_s() : 0.0; }
  [[nodiscard]] double empty_seconds() const { return per_second.share_at(0); }  ///< share, in [0, 1]
  /// Index of dispersion of the arrivals per second: variance over mean; 1 for a Poisson process.
  [[nodiscard]] double dispersion() const;
};

/// Share of the input read, in [0, 1] or negative if unknown, and requests so far.
using TraceProgress = std::function<void(double share, std::uint64_t requests)>;

/// Reads the source to its end. @return its error, if it has one: what was counted before it is no result
Result<TraceStats> stats(RequestSource& source, const TraceProgress& progress = {});

/// For people, and as one JSON object whose keys carry units.
std::string to_text(const TraceStats& stats);
std::string to_json(const TraceStats& stats);

}  // namespace ace
