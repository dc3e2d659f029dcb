#include "trace/fit_series.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/numeric.h"

namespace ace {
namespace {

constexpr double kHourNanos = 3.6e12;
constexpr std::size_t kSample = 2000;
constexpr std::size_t kConversationsMax = std::size_t{1} << 22;
constexpr double kShares[] = {0.0, 0.01, 0.02, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3,  0.4,   0.5,
                              0.6, 0.7,  0.75, 0.8,  0.85, 0.9,  0.95, 0.98, 0.99, 0.999, 1.0};

std::size_t hour_of_day(std::int64_t hour) { return static_cast<std::size_t>(hour - 24 * floor_div(hour, 24)); }
std::size_t weekday(std::int64_t hour) {  // Monday first; 1970-01-01 was a Thursday
  const std::int64_t day = floor_div(hour, 24) + 3;
  return static_cast<std::size_t>(day - 7 * floor_div(day, 7));
}

/// A figure for people: four digits. Rounds by decimal steps, which are exact enough here and the same everywhere.
double shown(double x) {
  if (!(x > 0.0)) return x;
  double unit = 1.0;
  while (x / unit >= 10'000.0) unit *= 10.0;
  if (unit > 1.0) return std::floor(x / unit + 0.5) * unit;
  double parts = 1.0;
  while (x * parts < 1000.0) parts *= 10.0;
  return std::floor(x * parts + 0.5) / parts;
}

TokenSpec quantiles_of(const Histogram& tokens) {
  TokenSpec spec;
  for (const double share : kShares) spec.quantiles.push_back({share, static_cast<double>(tokens.quantile(share))});
  return spec;
}

/// Ranks from 0, ties sharing their mean.
std::vector<double> ranks(const std::vector<std::int32_t>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] != values[b] ? values[a] < values[b] : a < b; });
  std::vector<double> rank(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) rank[order[k]] = 0.5 * static_cast<double>(i + end - 1);
    i = end;
  }
  return rank;
}

double spearman(const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs) {
  if (pairs.size() < 30) return 0.0;
  std::vector<std::int32_t> a, b;
  for (const auto& [x, y] : pairs) {
    a.push_back(x);
    b.push_back(y);
  }
  const std::vector<double> ra = ranks(a), rb = ranks(b);
  const double middle = 0.5 * static_cast<double>(pairs.size() - 1);
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t i = 0; i < ra.size(); ++i) {
    ab += (ra[i] - middle) * (rb[i] - middle);
    aa += (ra[i] - middle) * (ra[i] - middle);
    bb += (rb[i] - middle) * (rb[i] - middle);
  }
  return aa > 0.0 && bb > 0.0 ? std::clamp(ab / std::sqrt(aa * bb), -1.0, 1.0) : 0.0;
}

}  // namespace

double PaceShape::at(std::int64_t hour) const { return hours[hour_of_day(hour)] * days[weekday(hour)]; }

double PaceClock::at(Instant now) {
  const std::int64_t hour = hour_of(now);
  while (hour_ < hour) {
    const std::int64_t next = (hour_ + 1) * nanos(kHour);
    passed_ += shape_.at(hour_) * static_cast<double>(next - from_);
    from_ = next;
    ++hour_;
  }
  return passed_ + shape_.at(hour_) * static_cast<double>(nanos(now) - from_);
}

void Counted::add(const Arrival& arrival) {
  ++requests;
  ++by_hour[hour_of(arrival.at)];
  if (arrival.blocks.empty()) return;
  if (votes == 0) {  // majority vote of Boyer and Moore over the first block
    opening.assign(arrival.blocks.begin(), arrival.blocks.end());
    votes = 1;
  } else {
    votes += arrival.blocks.front() == opening.front() ? 1 : -1;
  }
}

void Counted::merge(const Counted& other) {
  requests += other.requests;
  for (const auto& [hour, count] : other.by_hour) by_hour[hour] += count;
  if (other.votes > votes) opening = other.opening;
  votes = std::max(votes, other.votes);
}

PaceShape shape_between(const Counted& counted, Instant first, Instant last) {
  PaceShape shape;
  const Duration span = last - first;
  if (span < kDay) return shape;
  std::array<double, 24> hours_covered{}, hour_requests{};
  std::array<double, 7> days_covered{}, day_requests{};
  for (std::int64_t hour = hour_of(first); hour <= hour_of(last); ++hour) {
    const std::int64_t from = std::max(hour * nanos(kHour), nanos(first));
    const std::int64_t to = std::min((hour + 1) * nanos(kHour), nanos(last));
    const double covered = static_cast<double>(to - from) / kHourNanos;
    const auto found = counted.by_hour.find(hour);
    const double requests = found == counted.by_hour.end() ? 0.0 : static_cast<double>(found->second);
    hours_covered[hour_of_day(hour)] += covered;
    hour_requests[hour_of_day(hour)] += requests;
    days_covered[weekday(hour)] += covered;
    day_requests[weekday(hour)] += requests;
  }
  const auto relative = [](auto& shares, const auto& requests, const auto& covered) {
    double sum = 0.0;
    for (std::size_t i = 0; i < shares.size(); ++i)
      sum += shares[i] = covered[i] > 0.0 ? requests[i] / covered[i] : 0.0;
    if (!(sum > 0.0)) return shares.fill(1.0);
    for (double& share : shares) share = shown(share * static_cast<double>(shares.size()) / sum);
  };
  relative(shape.hours, hour_requests, hours_covered);
  if (span >= 7 * kDay) relative(shape.days, day_requests, days_covered);
  return shape;
}

TenantSeries::TenantSeries(const Counted& counted, const PaceShape& shape, Instant first, std::uint64_t number)
    : shape_(shape),
      clock_(shape, first),
      sample_(number, "trace/fit"),
      opening_(counted.opening),
      shared_(counted.opening.size() + 1),
      could_(counted.opening.size() + 1) {}

void TenantSeries::add(const Arrival& arrival, std::int64_t block_tokens) {
  const double now = clock_.at(arrival.at);
  if (requests_ > 0) {
    gaps_.add(now - last_);
    gap_sizes_.add(static_cast<std::int64_t>(now - last_));
  }
  last_ = now;
  ++requests_;
  prompts_.add(arrival.prompt);
  outputs_.add(arrival.output);
  batch_ += arrival.batch ? 1 : 0;
  if (arrival.max_output > 0) {
    ++limited_;
    if (limits_.size() <= 16) ++limits_[arrival.max_output];
  }
  if (sampled_.size() < kSample) {
    sampled_.emplace_back(arrival.prompt, arrival.output);
  } else if (const std::uint64_t at = sample_.below(requests_); at < kSample) {
    sampled_[at] = {arrival.prompt, arrival.output};
  }
  if (!opening_.empty()) add_prefix(arrival, block_tokens);
}

void TenantSeries::add_prefix(const Arrival& arrival, std::int64_t block_tokens) {
  const auto whole = std::min(arrival.blocks.size(), static_cast<std::size_t>(arrival.prompt / block_tokens));
  std::size_t common = 0;
  while (common < std::min(whole, opening_.size()) && arrival.blocks[common] == opening_[common]) ++common;
  ++shared_[common];
  ++could_[std::min(whole, opening_.size())];
  const std::size_t own = std::min(common, opening_blocks());
  if (own >= whole || seen_.size() >= kConversationsMax) return;
  const auto [at, fresh] = seen_.try_emplace(arrival.blocks[own], nanos(arrival.at));
  if (fresh) return;
  ++continued_;
  think_.add(static_cast<double>(nanos(arrival.at) - at->second));
  at->second = nanos(arrival.at);
}

/// Blocks of the opening that at least 80% of the prompts long enough for them share.
std::size_t TenantSeries::opening_blocks() const {
  std::uint64_t sharing = 0, able = 0;
  for (std::size_t i = shared_.size(); i-- > 1;) {
    sharing += shared_[i];
    able += could_[i];
    if (able >= 20 && sharing * 5 >= able * 4) return i;
  }
  return 0;
}

TenantProfile TenantSeries::profile(std::int64_t block_tokens) const {
  TenantProfile out;
  out.hours = shape_.hours;
  out.days = shape_.days;
  if (gaps_.count >= 2 && gaps_.mean > 0.0) {
    out.gaps.cv = std::clamp(shown(gaps_.cv()), 0.01, 50.0);
    const double median = std::max(static_cast<double>(gap_sizes_.quantile(0.5)), 1.0) / gaps_.mean;
    const auto distance = [&](GapFamily family) {
      return std::fabs(numeric::log(median) -
                       numeric::log(std::max(median_gap(family, shape_of(family, out.gaps.cv)), 1e-300)));
    };
    out.gaps.family = distance(GapFamily::weibull) < distance(GapFamily::gamma) ? GapFamily::weibull : GapFamily::gamma;
  }
  out.prompt = quantiles_of(prompts_);
  out.output = quantiles_of(outputs_);
  const double correlation = spearman(sampled_);
  out.correlation = correlation < 0 ? -shown(-correlation) : shown(correlation);
  if (limited_ * 2 > requests_ && limits_.size() <= 16)
    for (const auto& [limit, count] : limits_) out.max_output.push_back(limit);
  out.batch = shown(static_cast<double>(batch_) / static_cast<double>(std::max<std::uint64_t>(requests_, 1)));
  if (opening_.empty()) return out;
  const auto blocks = static_cast<std::int64_t>(opening_blocks());
  out.prefix.system_blocks = static_cast<std::int32_t>(std::min<std::int64_t>(blocks * block_tokens / 512, 4096));
  out.prefix.continued = shown(static_cast<double>(continued_) / static_cast<double>(requests_));
  if (think_.count > 0) {
    const auto seconds = std::chrono::seconds{static_cast<std::int64_t>(think_.mean * 1e-9 + 0.5)};
    out.prefix.think = std::min<Duration>(seconds, 30 * kDay);
  }
  return out;
}

}  // namespace ace
