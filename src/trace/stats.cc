#include "trace/stats.h"

#include <algorithm>
#include <cmath>

namespace ace {
namespace {

constexpr std::size_t kDenseMax = 1U << 20;
constexpr std::uint32_t kDenseBlocks = 1U << 24;  // block numbers below this are counted in a vector

/// Counts by block number: dense where numbers are small, which they are in every published trace.
class BlockCounts {
 public:
  /// @return how often it was counted before
  std::uint32_t add(std::uint32_t block) {
    if (block >= kDenseBlocks) return sparse_[block]++;
    if (block >= dense_.size()) {
      dense_.resize(
          std::max<std::size_t>(std::size_t{block} + 1, std::min<std::size_t>(2 * dense_.size(), kDenseBlocks)));
    }
    return dense_[block]++;
  }
  void summarise(PrefixReuse& reuse) const {
    const auto count = [&](std::uint32_t n) {
      reuse.distinct += n > 0 ? 1U : 0U;
      reuse.once += n == 1 ? 1U : 0U;
      reuse.most = std::max<std::uint64_t>(reuse.most, n);
    };
    for (const std::uint32_t n : dense_) count(n);
    for (const auto& [block, n] : sparse_) count(n);  // sums and a maximum: order does not matter
  }

 private:
  std::vector<std::uint32_t> dense_;
  std::unordered_map<std::uint32_t, std::uint32_t> sparse_;
};

struct Tally {
  std::uint64_t requests = 0;
  std::int64_t prompt = 0, output = 0;
};

std::vector<NameCount> named(const std::vector<Tally>& tallies, const Interner& names) {
  std::vector<NameCount> all;
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    const Tally& t = tallies[i];
    if (t.requests > 0) all.push_back({names[static_cast<std::uint32_t>(i)], t.requests, t.prompt, t.output});
  }
  std::sort(all.begin(), all.end(), [](const NameCount& a, const NameCount& b) {
    return a.requests != b.requests ? a.requests > b.requests : a.name < b.name;
  });
  return all;
}

void tally(std::vector<Tally>& tallies, std::uint32_t symbol, const Arrival& row) {
  if (symbol >= tallies.size()) tallies.resize(std::size_t{symbol} + 1);
  Tally& t = tallies[symbol];
  ++t.requests;
  t.prompt += row.prompt;
  t.output += row.output;
}

class Counter {
 public:
  void add(const Arrival& row);
  TraceStats finish(RequestSource& source);

 private:
  void arrival(Instant at);
  void blocks(std::span<const std::uint32_t> blocks);

  TraceStats stats_;
  std::vector<Tally> models_, tenants_;
  BlockCounts block_counts_;
  std::int64_t second_end_ns_ = 0;  ///< of the second being counted
  std::uint64_t in_second_ = 0;
  std::int64_t hour_ = -1, hour_end_ns_ = 0;
  std::uint64_t in_hour_ = 0;
};

void Counter::arrival(Instant at) {
  const std::int64_t ns = nanos(at);
  if (stats_.rows == 0) {
    stats_.first = at;
    second_end_ns_ = ns + nanos(kSecond);
  } else {
    stats_.gaps.add(static_cast<double>(ns - nanos(stats_.last)) * 1e-9);
  }
  if (ns >= second_end_ns_) {
    stats_.per_second.add(static_cast<std::int64_t>(in_second_));
    const std::int64_t empty = (ns - second_end_ns_) / nanos(kSecond);
    if (empty > 0) stats_.per_second.add(0, static_cast<std::uint64_t>(empty));
    second_end_ns_ += (empty + 1) * nanos(kSecond);
    in_second_ = 0;
  }
  ++in_second_;
  if (ns >= hour_end_ns_ || hour_ < 0) {
    if (hour_ >= 0) stats_.by_hour[static_cast<std::size_t>(hour_)] += in_hour_;
    in_hour_ = 0;
    const std::int64_t number = hour_of(at);
    hour_ = number - floor_div(number, 24) * 24;
    hour_end_ns_ = (number + 1) * nanos(kHour);
  }
  ++in_hour_;
  stats_.last = at;
  ++stats_.rows;
}

void Counter::blocks(std::span<const std::uint32_t> list) {
  PrefixReuse& reuse = stats_.prefix;
  ++reuse.requests;
  reuse.references += list.size();
  bool unbroken = true;
  std::uint64_t hits = 0;
  for (const std::uint32_t block : list) {
    const bool hit = block_counts_.add(block) > 0;
    unbroken = unbroken && hit;
    hits += hit ? 1U : 0U;
    reuse.prefix_hits += unbroken ? 1U : 0U;
  }
  reuse.hits += hits;
  reuse.fully_cached += hits == list.size() ? 1U : 0U;
}

void Counter::add(const Arrival& row) {
  arrival(row.at);
  stats_.prompt.add(row.prompt);
  stats_.output.add(row.output);
  tally(models_, row.model, row);
  tally(tenants_, row.tenant, row);
  if (row.reasoning > 0) stats_.reasoning.add(row.reasoning);
  if (row.cached >= 0) {
    ++stats_.cached_known;
    stats_.cached += row.cached;
    stats_.cached_of += row.prompt;
  }
  stats_.failed += row.failed ? 1U : 0U;
  stats_.batch += row.batch ? 1U : 0U;
  stats_.cache_hits += row.cache_hit ? 1U : 0U;
  if (row.cost_nano >= 0) {
    ++stats_.cost_known;
    stats_.cost_nano += row.cost_nano;
  }
  if (!row.blocks.empty()) blocks(row.blocks);
}

TraceStats Counter::finish(RequestSource& source) {
  if (stats_.rows > 0) {
    stats_.per_second.add(static_cast<std::int64_t>(in_second_));
    stats_.by_hour[static_cast<std::size_t>(hour_)] += in_hour_;
  }
  block_counts_.summarise(stats_.prefix);
  stats_.block_tokens = source.block_tokens();
  stats_.models = named(models_, source.models());
  stats_.tenants = named(tenants_, source.tenants());
  stats_.format = source.format();
  stats_.skipped = source.skipped();
  stats_.notes = source.notes();
  return std::move(stats_);
}

}  // namespace

void ExactCounts::add_large(std::int64_t value, std::uint64_t times) {
  const auto index = static_cast<std::uint64_t>(value);
  if (index >= kDenseMax) {
    sparse_[value] += times;
    return;
  }
  dense_.resize(std::min<std::size_t>(kDenseMax, std::max<std::size_t>({index + 1, 2 * dense_.size(), 1024})));
  dense_[index] += times;
}

std::int64_t ExactCounts::quantile(double q) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(q * static_cast<double>(count_));
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max(wanted, 1.0)), 1, count_);
  std::uint64_t below = 0;
  for (std::size_t value = 0; value < dense_.size(); ++value) {
    below += dense_[value];
    if (below >= rank) return static_cast<std::int64_t>(value);
  }
  std::vector<std::pair<std::int64_t, std::uint64_t>> large(sparse_.begin(), sparse_.end());
  std::sort(large.begin(), large.end());
  for (const auto& [value, times] : large) {
    below += times;
    if (below >= rank) return value;
  }
  return large.empty() ? 0 : large.back().first;
}

double ExactCounts::variance() const {
  if (count_ == 0) return 0.0;
  const double average = mean();
  double squares = 0.0;
  const auto add = [&](std::int64_t value, std::uint64_t times) {
    const double off = static_cast<double>(value) - average;
    squares += off * off * static_cast<double>(times);
  };
  for (std::size_t value = 0; value < dense_.size(); ++value) {
    if (dense_[value] > 0) add(static_cast<std::int64_t>(value), dense_[value]);
  }
  std::vector<std::pair<std::int64_t, std::uint64_t>> large(sparse_.begin(), sparse_.end());
  std::sort(large.begin(), large.end());
  for (const auto& [value, times] : large) add(value, times);
  return squares / static_cast<double>(count_);
}

double TraceStats::dispersion() const {
  return per_second.mean() == 0.0 ? 0.0 : per_second.variance() / per_second.mean();
}

Result<TraceStats> stats(RequestSource& source, const TraceProgress& progress) {
  Counter counter;
  std::uint64_t rows = 0;
  std::vector<Arrival> batch(512);  // 512 rows stay in L2 between the parser and the counting
  for (;;) {
    Result<std::size_t> got = source.next(batch);
    if (!got) return std::move(got).error();
    if (*got == 0) break;
    for (std::size_t i = 0; i < *got; ++i) counter.add(batch[i]);
    const std::uint64_t before = rows;
    rows += *got;
    if (progress && (rows >> 18) != (before >> 18)) progress(source.progress(), rows);
  }
  return counter.finish(source);
}

}  // namespace ace
