#include "core/rng.h"

#include <bit>
#include <cmath>

#include "core/hash.h"
#include "core/int128.h"
#include "core/numeric.h"

namespace ace {
namespace {

std::uint64_t splitmix(std::uint64_t& x) {
  std::uint64_t z = (x += 0x9e37'79b9'7f4a'7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t state) : origin_(state) {
  for (auto& word : state_) word = splitmix(state);
}
Rng::Rng(std::uint64_t seed, std::string_view name) : Rng(mix(seed, hash_of(name))) {}
Rng Rng::split(std::string_view name) const { return Rng(mix(origin_, hash_of(name))); }
// Complemented, since mix(origin_, 1), mix(origin_, 2).. are the words of our own state.
Rng Rng::split(std::uint64_t number) const { return Rng(mix(~origin_, number)); }

std::uint64_t Rng::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Rng::below(std::uint64_t n) {  // Lemire 2019, "Fast random integer generation in an interval"
  uint128 product = uint128{next()} * n;
  auto low = static_cast<std::uint64_t>(product);
  if (low < n) {
    const std::uint64_t threshold = (0 - n) % n;
    while (low < threshold) {
      product = uint128{next()} * n;
      low = static_cast<std::uint64_t>(product);
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::int64_t Rng::between(std::int64_t low, std::int64_t high) {
  const auto from = static_cast<std::uint64_t>(low);  // unsigned, so that the widest range wraps instead of overflowing
  const std::uint64_t numbers = static_cast<std::uint64_t>(high) - from + 1;
  return static_cast<std::int64_t>(from + (numbers == 0 ? next() : below(numbers)));
}

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Rng::exponential(double mean) { return -mean * numeric::log(1.0 - uniform()); }

double Rng::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  const auto [one, other] = normals([](double x) { return numeric::log(x); });
  spare_normal_ = other;
  has_spare_ = true;
  return one;
}

double Rng::gamma(double shape, double scale) {
  if (shape < 1.0) {
    const double larger = gamma(shape + 1.0, scale);  // first: the order of draws may not be left to the compiler
    return larger * numeric::pow(1.0 - uniform(), 1.0 / shape);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = normal();
    const double t = 1.0 + c * x;
    if (t <= 0.0) continue;
    const double v = t * t * t;
    const double u = 1.0 - uniform();
    if (numeric::log(u) < 0.5 * x * x + d - d * v + d * numeric::log(v)) return d * v * scale;
  }
}

double Rng::weibull(double shape, double scale) {
  return scale * numeric::pow(-numeric::log(1.0 - uniform()), 1.0 / shape);
}

}  // namespace ace
