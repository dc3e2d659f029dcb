#pragma once
/// Whether ACE has earned to act, and still does: what both arms of the traffic came to, window by window, held against
/// gates. Pure.
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/money.h"
#include "core/time.h"
#include "fleet/fleet.h"

namespace ace::gateway {

struct TrialGates {
  Duration window{5 * kMinute};
  std::uint64_t requests_min = 100;  ///< with fewer a window shows nothing, for or against
  double served_min = 0.999;         ///< of the requests that ACE sent
  double cost_error_max = 0.10;      ///< |predicted - realised| / realised, of all requests of a window together
  double aa_difference_max = 0.005;  ///< of cost over baseline, between two arms that are served alike
  std::size_t clean_windows = 3;     ///< in a row, before a promotion
  friend bool operator==(const TrialGates&, const TrialGates&) = default;
};

/// What requests of one arm came to.
struct TrialArm {
  std::uint64_t requests = 0, served = 0;
  Usd cost{};       ///< C4 of those served, where it is known
  Usd baseline{};   ///< C0 of the same
  Usd predicted{};  ///< what their cost was predicted to be when they were sent
  Usd would{};      ///< of the control: what the same tokens would have cost where ACE would have sent them
  double predicted_s = 0.0, realised_s = 0.0;  ///< from dispatch to the last token
  TrialArm& operator+=(const TrialArm& other);
};

/// One request that has ended.
struct TrialRequest {
  bool acts = false;  ///< arm: ACE's, or control
  bool served = false, slo_met = false;
  SloId slo;
  bool priced = false;
  Usd cost{}, baseline{}, predicted{};
  std::optional<Usd> would;  ///< none: ACE would have sent it nowhere, or it went there
  Duration predicted_time{0}, realised_time{0};
};

struct TrialWindow {
  Instant from{}, to{};
  std::array<TrialArm, 2> arms;  ///< control, ACE
  bool enough = false;           ///< requests to be judged by
  std::string breach;            ///< of a gate; empty = clean
};

class Trial {
 public:
  Trial(const TrialGates& gates, Instant now) : gates_(gates) { open(now); }

  /// Takes a request into account. @param fleet its classes have the targets @return the window that ended before it,
  /// if one did
  std::optional<TrialWindow> add(Instant now, const Fleet& fleet, const TrialRequest& request);
  /// Closes the window that is over. @return it
  std::optional<TrialWindow> close(Instant now, const Fleet& fleet);

  /// Windows that were clean in a row until now; those with too few requests neither count nor break the row.
  [[nodiscard]] std::size_t clean() const { return clean_; }
  [[nodiscard]] bool earned() const { return clean_ >= gates_.clean_windows; }
  /// The last day's.
  [[nodiscard]] const std::deque<TrialWindow>& windows() const { return windows_; }
  [[nodiscard]] const std::array<TrialArm, 2>& total() const { return total_; }
  /// The row begins anew: what acts, or on what, is another.
  void restart(Instant now);

  /// Cost over baseline in ACE's arm less that of control, with the half-width of its 95% interval over windows as
  /// blocks; nothing before two windows have both arms.
  ///   d_i = c1_i / b1_i - c0_i / b0_i;  mean +- 1.96 sd / sqrt(n)
  struct Difference {
    double mean = 0.0, half_width = 0.0;
    std::size_t windows = 0;
  };
  [[nodiscard]] std::optional<Difference> difference() const;

 private:
  static constexpr std::size_t kKept = 288;
  struct ClassCount {
    std::uint64_t served = 0, met = 0;
  };
  void open(Instant now);
  [[nodiscard]] std::string breach(const Fleet& fleet) const;

  TrialGates gates_;
  TrialWindow window_;
  std::vector<ClassCount> classes_;  ///< of ACE's arm in this window, by SLO class
  std::deque<TrialWindow> windows_;
  std::array<TrialArm, 2> total_;
  std::size_t clean_ = 0;
};

}  // namespace ace::gateway
