#include "trace/generate_tokens.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/numeric.h"

namespace ace {
namespace {

/// Share of a standard normal below z, within 7.5e-8. Source: Abramowitz & Stegun, 26.2.17.
double normal_share_below(double z) {
  const double t = 1.0 / (1.0 + 0.2316419 * std::fabs(z));
  const double poly = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const double above = 0.39894228040143268 * numeric::exp(-0.5 * z * z) * poly;
  return z < 0 ? above : 1.0 - above;
}

/// Mean over a segment whose logarithm is linear in the share.
double segment_mean(double low, double high) {
  if (low < 1.0 || high - low < 1e-9 * high) return 0.5 * (low + high);
  return (high - low) / numeric::log(high / low);
}

}  // namespace

template <class Quantile>
TokenTable TokenTable::from(Quantile quantile) {
  TokenTable table;
  for (std::size_t i = 0; i <= kCells; ++i) {
    table.body_[i] = static_cast<float>(quantile(share_of_edge(i)));
    table.tail_[i] = static_cast<float>(quantile(std::min(1.0, share_of_tail_edge(i))));
  }
  return table;
}

TokenTable TokenTable::from_knots(std::span<const Knot> knots) {
  ACE_CHECK(!knots.empty(), "a distribution has at least one knot");
  return from([knots](double share) {
    std::size_t i = 0;
    while (i < knots.size() && knots[i].share < share) ++i;
    if (i == 0) return knots.front().tokens;
    if (i == knots.size()) return knots.back().tokens;
    const Knot& low = knots[i - 1];
    const Knot& high = knots[i];
    const double part = (share - low.share) / (high.share - low.share);
    if (low.tokens < 1.0 || high.tokens <= low.tokens) return low.tokens + part * (high.tokens - low.tokens);
    return low.tokens * numeric::exp(part * numeric::log(high.tokens / low.tokens));
  });
}

TokenTable TokenTable::from_mixture(std::span<const LogNormal> parts) {
  ACE_CHECK(!parts.empty(), "a mixture has at least one part");
  double total = 0.0;
  double lowest = 1e300;
  double highest = -1e300;
  for (const LogNormal& part : parts) {
    total += part.weight;
    const double centre = numeric::log(part.median);
    lowest = std::min(lowest, centre - 5.0 * part.sigma);
    highest = std::max(highest, centre + 5.0 * part.sigma);
  }
  const auto share_below = [&](double log_tokens) {
    double sum = 0.0;
    for (const LogNormal& part : parts) {
      const double distance = log_tokens - numeric::log(part.median);
      const double z = part.sigma > 0 ? distance / part.sigma : (distance < 0 ? -40.0 : 40.0);
      sum += part.weight / total * normal_share_below(z);
    }
    return sum;
  };
  return from([&](double share) {
    share = std::clamp(share, 1e-6, 1.0 - 1e-6);
    double low = lowest;
    double high = highest;
    for (int i = 0; i < 50; ++i) {
      const double middle = 0.5 * (low + high);
      (share_below(middle) < share ? low : high) = middle;
    }
    return numeric::exp(high);
  });
}

TokenTable TokenTable::from_statistics(double mean, double p50, double p90, double p99) {
  p50 = std::max(p50, 1.0);
  p90 = std::max(p90, p50);
  p99 = std::max(p99, p90);
  const double middle = 0.40 * segment_mean(p50, p90) + 0.09 * segment_mean(p90, p99);
  double low = std::max(1.0, 0.5 * p50);
  double high = 0.0;
  const auto solve = [](double from, double to, double target, auto value) {  // value rises with its argument
    for (int i = 0; i < 60; ++i) {
      const double half = 0.5 * (from + to);
      (value(half) < target ? from : to) = half;
    }
    return to;
  };
  high = solve(p99, 8.0 * p99, mean,
               [&](double h) { return 0.5 * segment_mean(low, p50) + middle + 0.01 * segment_mean(p99, h); });
  low = solve(1.0, p50, mean,
              [&](double l) { return 0.5 * segment_mean(l, p50) + middle + 0.01 * segment_mean(p99, high); });
  const Knot knots[] = {{0.0, low}, {0.5, p50}, {0.9, p90}, {0.99, p99}, {1.0, high}};
  return from_knots(knots);
}

TokenTable TokenTable::from_samples(std::vector<Knot> weighted) {
  ACE_CHECK(!weighted.empty(), "a pool has at least one sample");
  std::sort(weighted.begin(), weighted.end(), [](const Knot& a, const Knot& b) {
    return a.tokens != b.tokens ? a.tokens < b.tokens : a.share < b.share;
  });
  double total = 0.0;
  for (Knot& sample : weighted) sample.share = total += sample.share;  // from weights to running sums
  return from([&](double share) {
    const auto at = std::lower_bound(weighted.begin(), weighted.end(), share * total,
                                     [](const Knot& sample, double want) { return sample.share < want; });
    return at == weighted.end() ? weighted.back().tokens : at->tokens;
  });
}

double TokenTable::mean() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < kCells; ++i) {
    if (i + 1 < kCells) sum += 0.5 * static_cast<double>(body_[i] + body_[i + 1]);
    sum += 0.5 * static_cast<double>(tail_[i] + tail_[i + 1]) / kCells;
  }
  return sum / kCells;
}

}  // namespace ace
