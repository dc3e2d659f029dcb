#pragma once
/// For which times a fleet says what things cost: a replay outside of them would book a price of another day.
#include <string>
#include <vector>

#include "core/result.h"
#include "fleet/fleet.h"

namespace ace {

/// The days of the price versions that stand in a fleet, the hours of its electricity, the days of its spot prices and
/// capacity. What no destination uses is left aside.
class Horizon {
 public:
  explicit Horizon(const Fleet& fleet);
  /// Is everything known at `t`?
  [[nodiscard]] bool holds(Instant t) const { return t >= from_ && t < to_; }
  /// What is not, and what to do about it. @pre !holds(t)
  [[nodiscard]] Error error(Instant t) const;
  /// Prices of a day that the fleet file chose, for requests of other days; as sentences for the report.
  [[nodiscard]] std::vector<std::string> assumptions(Instant first, Instant last) const;

 private:
  struct Span {
    Instant from, to;
    std::string what, mend;  ///< "the electricity series", "give one that covers the trace"
  };
  void add(Span span);
  void add_prices(const Fleet& fleet);
  std::vector<Span> spans_;
  std::vector<Span> chosen_;  ///< `what` is the price's key, `mend` the day that was chosen
  Instant from_ = Instant::min(), to_ = Instant::max();
};

}  // namespace ace
