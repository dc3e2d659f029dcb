#pragma once
/// Randomness that is the same everywhere: our own generator and our own distributions, one stream per purpose.
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace ace {

/// xoshiro256** (Blackman & Vigna 2018), seeded through splitmix64 from (seed, name), so that a new draw for one
/// purpose never shifts the draws of another.
class Rng {
 public:
  Rng(std::uint64_t seed, std::string_view name);
  /// A child stream, e.g. one per island or per client.
  [[nodiscard]] Rng split(std::string_view name) const;
  [[nodiscard]] Rng split(std::uint64_t number) const;

  std::uint64_t next();
  /// Uniform integer in [0, n), without bias. @param n positive
  std::uint64_t below(std::uint64_t n);
  /// Uniform integer in [low, high]. @param high at least low
  std::int64_t between(std::int64_t low, std::int64_t high);
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  bool chance(double probability) { return uniform() < probability; }
  /// Exponential with this mean.
  double exponential(double mean);
  /// Two independent standard normals (Marsaglia's polar method). @param log natural logarithm over (0, 1)
  template <class Log>
  std::pair<double, double> normals(Log log) {
    double u = 0.0, v = 0.0, s = 0.0;
    do {
      u = 2.0 * uniform() - 1.0;
      v = 2.0 * uniform() - 1.0;
      s = u * u + v * v;
    } while (s >= 1.0 || s == 0.0);
    const double factor = std::sqrt(-2.0 * log(s) / s);
    return {u * factor, v * factor};
  }
  /// One of them; the other waits for the next call.
  double normal();
  /// Gamma with this shape and scale (Marsaglia & Tsang 2000). @param shape positive
  double gamma(double shape, double scale);
  /// Weibull with this shape and scale. @param shape positive
  double weibull(double shape, double scale);

  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  explicit Rng(std::uint64_t state);
  std::uint64_t origin_;
  std::array<std::uint64_t, 4> state_;
  double spare_normal_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace ace
