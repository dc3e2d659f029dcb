#pragma once
/// Token lengths as inverse distribution tables: one lookup per draw, whatever the distribution was.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ace {

/// One part of a mixture of log-normals.
struct LogNormal {
  double weight = 1.0;  ///< relative, positive
  double median = 1.0;  ///< tokens, at least 1
  double sigma = 0.0;   ///< of the logarithm
  friend bool operator==(const LogNormal&, const LogNormal&) = default;
};

/// A point of an empirical distribution.
struct Knot {
  double share = 0.0;  ///< of the requests at or below `tokens`, in [0, 1]
  double tokens = 0.0;
  friend bool operator==(const Knot&, const Knot&) = default;
};

/// Inverse distribution: 200 equal cells, the last one cut again into 200, linear inside a cell. So the percentiles
/// 50, 90, 99 and 99.5 fall on edges and the tail is resolved to 1 in 40,000.
class TokenTable {
 public:
  static constexpr std::size_t kCells = 200;
  /// Shares at which a table is defined: i/200, then 0.995 + i/40000.
  static double share_of_edge(std::size_t i) { return static_cast<double>(i) / kCells; }
  static double share_of_tail_edge(std::size_t i) { return 0.995 + static_cast<double>(i) / (200.0 * kCells); }

  TokenTable() = default;
  /// Between knots the logarithm of the tokens is linear in the share (a straight line if the lower knot is under 1).
  /// @param knots shares ascending from 0 to 1, tokens ascending, not empty
  static TokenTable from_knots(std::span<const Knot> knots);
  /// @param parts not empty; the mixture is cut at a share of 1e-6 on both sides
  static TokenTable from_mixture(std::span<const LogNormal> parts);
  /// Knots from the published statistics of a histogram. Both ends are free and are chosen so that the mean is met: the
  /// maximum in [p99, 8 p99] first with a minimum of p50 / 2, then the minimum in [1, p50]; what remains is not met.
  static TokenTable from_statistics(double mean, double p50, double p90, double p99);
  /// Pools samples of (tokens, weight) into one distribution.
  static TokenTable from_samples(std::vector<Knot> weighted);

  /// @param u in [0, 1)
  [[nodiscard]] double at(double u) const {
    const double scaled = u * kCells;
    const auto cell = static_cast<std::size_t>(scaled);
    if (cell < kCells - 1) return lerp(body_, cell, scaled - static_cast<double>(cell));
    const double in_tail = (scaled - static_cast<double>(kCells - 1)) * kCells;
    const auto tail_cell = static_cast<std::size_t>(in_tail);
    return lerp(tail_, tail_cell, in_tail - static_cast<double>(tail_cell));
  }
  [[nodiscard]] double mean() const;

 private:
  using Cells = std::array<float, kCells + 1>;
  static double lerp(const Cells& cells, std::size_t i, double part) {
    const double low = static_cast<double>(cells[i]);
    return low + part * (static_cast<double>(cells[i + 1]) - low);
  }
  template <class Quantile>
  static TokenTable from(Quantile quantile);
  Cells body_{};
  Cells tail_{};
};

}  // namespace ace
