#pragma once
/// Inside fit(): what is gathered about one tenant.
#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "core/rng.h"
#include "core/statistics.h"
#include "replay/source.h"
#include "trace/profile.h"

namespace ace {

/// Load by hour of day and day of week, relative; and the clock that runs at this pace.
struct PaceShape {
  std::array<double, 24> hours;
  std::array<double, 7> days;
  PaceShape() {
    hours.fill(1.0);
    days.fill(1.0);
  }
  [[nodiscard]] double at(std::int64_t hour) const;  ///< @param hour since the epoch
};

/// Time in which a load of this shape is flat, in ns of mean load; for instants that do not go backwards.
class PaceClock {
 public:
  PaceClock() = default;
  PaceClock(const PaceShape& shape, Instant start) : shape_(shape), hour_(hour_of(start)), from_(nanos(start)) {}
  double at(Instant now);

 private:
  PaceShape shape_;
  std::int64_t hour_ = 0;
  std::int64_t from_ = 0;
  double passed_ = 0.0;
};

/// First pass: when, how many, and what most prompts open with.
struct Counted {
  std::uint64_t requests = 0;
  std::map<std::int64_t, std::uint64_t> by_hour;  ///< hours since the epoch
  std::vector<std::uint32_t> opening;             ///< blocks of a prompt whose first block won the vote so far
  std::int64_t votes = 0;
  void add(const Arrival& arrival);
  void merge(const Counted& other);
};

/// The load shape of one series between two instants; flat where the span is too short to tell.
PaceShape shape_between(const Counted& counted, Instant first, Instant last);

/// Second pass: gaps, lengths and prefixes.
class TenantSeries {
 public:
  TenantSeries(const Counted& counted, const PaceShape& shape, Instant first, std::uint64_t number);
  void add(const Arrival& arrival, std::int64_t block_tokens);
  /// Everything but names and share.
  [[nodiscard]] TenantProfile profile(std::int64_t block_tokens) const;

 private:
  void add_prefix(const Arrival& arrival, std::int64_t block_tokens);
  [[nodiscard]] std::size_t opening_blocks() const;

  PaceShape shape_;
  PaceClock clock_;
  std::uint64_t requests_ = 0, batch_ = 0, limited_ = 0;
  double last_ = 0.0;
  Moments gaps_;
  Histogram gap_sizes_, prompts_, outputs_;
  std::map<std::int32_t, std::uint64_t> limits_;  ///< 17 at most
  Rng sample_;
  std::vector<std::pair<std::int32_t, std::int32_t>> sampled_;

  std::vector<std::uint32_t> opening_;
  std::vector<std::uint64_t> shared_;  ///< [i]: prompts that share exactly i blocks of the opening
  std::vector<std::uint64_t> could_;   ///< [i]: prompts with exactly i whole blocks, up to the opening's length
  /// When a conversation was last seen, by each block that could be its first of its own; looked up only.
  std::unordered_map<std::uint32_t, std::int64_t> seen_;
  std::uint64_t continued_ = 0;
  Moments think_;
};

}  // namespace ace
