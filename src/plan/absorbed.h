#pragma once
/// Absorbed load: how much of a bursty demand a capacity really serves within its SLO (ECONOMICS 10).
#include <cstddef>
#include <span>
#include <vector>

#include "core/result.h"
#include "plan/series.h"

namespace ace {

/// Share of an interval's work that a server absorbs, by its rate over the mean rate of that interval. Concave from
/// (0, 0), never above either 1 or the ratio, linear between its knots and flat behind the last.
class BurstProfile {
 public:
  struct Knot {
    double ratio = 0.0, share = 0.0;
    friend bool operator==(const Knot&, const Knot&) = default;
  };
  /// Work that arrives evenly: min(ratio, 1). With it, sizing is the newsvendor's.
  BurstProfile() : knots_{{0.0, 0.0}, {1.0, 1.0}} {}
  /// The least concave profile at or above the knots.
  /// @param knots in any order; (0, 0) is added
  /// @return bad_input for values that are not finite, ratios not positive or shares outside [0, 1]
  static Result<BurstProfile> through(std::vector<Knot> knots);

  [[nodiscard]] double share(double ratio) const;
  [[nodiscard]] std::span<const Knot> knots() const { return knots_; }
  friend bool operator==(const BurstProfile&, const BurstProfile&) = default;

 private:
  std::vector<Knot> knots_;
};

/// Measures a profile: work arrives at servers whose rates are fixed multiples of its interval's mean, one beside the
/// other, and each takes of it what it can finish in time.
///
/// A server is a queue of at most `patience`: of an arrival it takes min(work, rate x patience - backlog), and the rest
/// goes elsewhere at once. Work is divisible, which makes the loss the optimum of a linear program in which the rate is
/// on the right-hand side, so that where all work is equally patient the measured shares are concave in the rate.
class BurstReplay {
 public:
  /// @param demand mean rate of each interval: work per second of its values; arrivals in gaps or outside do not count
  explicit BurstReplay(const Series& demand);
  /// @param at never going back  @param work not negative, in the unit of the demand x seconds
  /// @param patience_s seconds from arrival to the latest useful end, positive
  void add(Instant at, double work, double patience_s);
  /// Of all that was added; the even profile if that is nothing.
  [[nodiscard]] BurstProfile profile() const;

 private:
  const Series* demand_;
  std::size_t interval_ = 0;
  Instant last_{};
  double offered_ = 0.0;
  std::vector<double> ratios_, backlog_s_, absorbed_;  ///< by server
};

/// A(C) over a stretch of time: work absorbed at capacity C, with the even spread or a burst profile inside of each
/// interval. Concave, piecewise linear and exact: its slope at C is the hours for which the next bit of capacity is at
/// work, which for the even spread is the load-duration curve.
class AbsorbedLoad {
 public:
  /// @param demand by interval, in units of capacity; gaps are left out
  /// @param hours what one value stands for; of S equally likely scenarios one behind the other, hours of one / S
  /// @return bad_input naming the first value that is negative or infinite, and if there is none at all
  static Result<AbsorbedLoad> of(std::span<const double> demand, double hours, const BurstProfile& profile);

  /// Capacity x hours of all work, and the hours it lies in.
  [[nodiscard]] double total() const { return total_; }
  [[nodiscard]] double hours() const { return hours_; }
  /// A(C). @param capacity not negative
  [[nodiscard]] double at(double capacity) const;
  /// A'(C), to the right: hours at work of capacity beyond `capacity`.
  [[nodiscard]] double hours_at_work(double capacity) const;
  /// The same to the left: of the last bit of `capacity` itself. @param capacity not negative; at 0 as to the right
  [[nodiscard]] double hours_at_work_below(double capacity) const;
  /// Least capacity beyond which nothing is at work for more than `hours`: where one more bit stops to pay that needs
  /// so many. @param hours not negative
  [[nodiscard]] double level(double hours) const;
  /// Least demand with at least share q of the hours at or below it. @param q in [0, 1]
  [[nodiscard]] double quantile(double q) const;
  /// The load as steady blocks: A(C) is the sum of hours x min(C, level) over them. By level, all positive.
  struct Block {
    double level = 0.0, hours = 0.0;
  };
  [[nodiscard]] std::vector<Block> blocks() const;
  /// The same load with all demand times `factor`. @param factor not negative
  [[nodiscard]] AbsorbedLoad scaled(double factor) const;

 private:
  struct Knot {
    double level = 0.0, hours_beyond = 0.0, absorbed = 0.0;
  };
  [[nodiscard]] const Knot& below(double capacity) const;
  std::vector<Knot> knots_ = {Knot{}};  ///< by level; the first is at 0
  std::vector<double> sorted_;
  double total_ = 0.0, hours_ = 0.0;
};

}  // namespace ace
