#pragma once
/// Multipliers of one limited resource over time: the dual side of a bound, improved a pass at a time.
#include <cstddef>
#include <vector>

#include "core/time.h"

namespace ace {

/// Equal stretches of time from `start` on; the last may end after the run.
struct TimeGrid {
  Instant start{};
  Duration width{kSecond};
  std::size_t buckets = 1;
  /// The stretch of `t`, clamped to the grid.
  [[nodiscard]] std::size_t of(Instant t) const;
  [[nodiscard]] Instant from(std::size_t bucket) const { return start + width * static_cast<std::int64_t>(bucket); }
};

/// lambda[t] >= 0 in nano-USD per unit of use. Between two calls of move(), requests state what they would use at the
/// prices as they are; move() then raises the price where more was asked for than there is and lowers it where less
/// was: sign steps that grow while they agree and halve when they do not (Rprop), which need no scale. Any lambda gives
/// a valid bound, so how it is found is free.
class ShadowPrices {
 public:
  /// @param capacity units of use by bucket  @param one_over a meter admits while it is not full, so each bucket may
  /// hold one request more than its capacity
  ShadowPrices(const TimeGrid& grid, std::vector<double> capacity, bool one_over);

  struct Least {
    double price = 0.0;
    std::size_t bucket = 0;
  };
  /// The lowest price of the stretches that [from, to] touches, ties to the earliest.
  [[nodiscard]] Least least(Instant from, Instant to) const;
  /// A request would be served here. The relaxed world is free to put it into the cheapest stretch, but where two cost
  /// nearly the same all of it would swing from one to the other; spread over all it may use, prices settle.
  void use(Instant from, Instant to, double amount);
  /// A request at this bucket would pay up to `price` per unit to be here and not elsewhere.
  void worth(std::size_t bucket, double price);
  /// Any request that may come here, whether it does or not: its use in `one_over`.
  void seen(double amount);

  [[nodiscard]] const TimeGrid& grid() const { return grid_; }
  [[nodiscard]] std::size_t size() const { return price_.size(); }
  [[nodiscard]] double price(std::size_t bucket) const { return price_[bucket]; }
  [[nodiscard]] double capacity(std::size_t bucket) const { return capacity_[bucket]; }
  /// Price x capacity of a bucket.
  [[nodiscard]] double value(std::size_t bucket) const { return price_[bucket] * capacity_[bucket]; }
  /// Price x the one request over, of all buckets.
  [[nodiscard]] double value_over() const;

  /// Ends a pass. @param held which buckets' capacity is there (a plan may hold none)  @param first_price where prices
  /// start when they first rise; 0 = at half of what the bucket is worth
  void move(const std::vector<bool>& held, const std::vector<double>& first_price);

 private:
  void rebuild();
  TimeGrid grid_;
  std::vector<double> capacity_, price_, step_, worth_;
  std::vector<double> used_;  ///< as differences: rises at the first bucket of a use, falls after its last
  std::vector<signed char> sign_;
  std::vector<std::size_t> tree_;  ///< bucket of the least price below each node
  std::size_t leaves_ = 1;
  bool one_over_ = false, moved_ = false;
  double largest_ = 0.0;
};

}  // namespace ace
