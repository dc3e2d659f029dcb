#pragma once
/// Failures as cost-curve updates (ECONOMICS 5): a signal moves a deadline, a cap, a price factor or a probability, and
/// the merit order does the rest. There is no separate failover code.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/time.h"
#include "dispatch/belief.h"
#include "dispatch/kin.h"
#include "dispatch/occupancy.h"
#include "dispatch/snapshot.h"

namespace ace {

/// How slow something is against its own past: averages over about 32 and 1,024 answers.
struct Slowness {
  double fast = 0.0, slow = 0.0;  ///< seconds
  std::int64_t answers = 0;
  /// Plain means until there are enough answers: one lucky first answer must not make all later ones look slow. Then
  /// one counts for at most eight times the usual, so that none alone makes its destination slow.
  void add(double seconds);
  /// fast / slow where that is above `from`, after enough answers to tell; else 1.
  [[nodiscard]] double above(double from) const;
  /// Whoever is priced out gives no answers that could show that it is fast again. @return whether it had been slow
  bool forgive();
};

/// How one destination fares.
///
/// | signal | what moves |
/// |---|---|
/// | 429, reserved | `throttled_until`; the cap only if > 20% of attempts were pushed back over 60 s while the meter
/// says < 95% | | 429, payg | `throttled_until` = max(old, new); the cap of the limit it spoke of x 0.8, then +2% of
/// the cap per 10 s | | 503, 529, slowness | `derate`, a price factor that grows by 1.25 an event up to 8 and halves
/// its excess every 30 s | | refused, TLS, credentials | trip at once | | 5xx, timeout | trip at >= 50% of >= 20
/// attempts in 10 s or 5 in a row; below that P(fail) | | request-shaped | nothing; a failure that follows the request
/// to a second destination is taken back at the first |
///
/// A trip lasts a back-off period (5 s, doubled by every failed probe up to 5 min); after it one attempt is let
/// through as a probe, its success closes the breaker.
struct Health {
  static constexpr std::int64_t kAttemptsToTrip = 20, kInARow = 5;
  static constexpr Duration kBackoffFirst{5 * kSecond}, kBackoffMost{5 * kMinute};
  static constexpr Duration kReservedPause{50'000'000};     ///< without retry-after-ms
  static constexpr Duration kPaygPause{kSecond};            ///< without Retry-After
  static constexpr Duration kRetryAfterMost{60 * kSecond};  ///< a longer one is clamped
  static constexpr double kDerateMost = 8.0;

  struct Bin {
    std::int32_t sent = 0;         ///< attempts dispatched
    std::int32_t ended = 0;        ///< attempts that ended in an answer or a failure of the destination's
    std::int32_t failures = 0;     ///< of those
    std::int32_t pushed_back = 0;  ///< 429s of a commitment whose meter said < 95%
  };
  std::array<Bin, 60> bins{};  ///< by second
  Bin last_minute, last_ten;
  std::int64_t second = 0;
  std::int64_t in_a_row = 0;
  bool tripped = false, refused = false;
  Duration backoff{kBackoffFirst};
  std::int64_t tripped_at = 0, tripped_until = 0, throttled_until = 0;  ///< ns since the epoch; 0 = not
  double derate = 1.0;
  double healthy_share = 1.0;                          ///< by telemetry
  double fail_share = 0.0;                             ///< average over about 64 attempts
  double cap_share = 1.0;                              ///< reserved: what is left of the declared cap
  RateCaps caps{}, declared{};                         ///< payg; 0 = none known
  std::array<std::int64_t, kRateLimits> cut_second{};  ///< of a cap, so that one burst cuts it once
  Slowness tpot, ttft;                                 ///< of APIs, per token and to the first one
  double shown_fail = 0.0, shown_factor = 1.0;         ///< as last written to the columns

  void advance(Instant now);
  [[nodiscard]] bool failing() const {
    return in_a_row >= kInARow || (last_ten.ended >= kAttemptsToTrip && 2 * last_ten.failures >= last_ten.ended);
  }
  /// Price factor: overload, slowness against its own past (APIs), and suspect GPUs.
  [[nodiscard]] double price_factor() const;
};

/// Health of all destinations, and the panic rule over them.
class Healths {
 public:
  Healths(const Snapshot& snapshot, Occupancy& occupancy, Live& live);

  /// An attempt is on its way. @return true if it is the probe of a half-open destination
  bool attempted(Instant now, OfferId offer, Live& live);
  void succeeded(Instant now, const Claim& claim, const Observed& seen, Live& live);
  void failed(Instant now, const Claim& claim, Rejection why, Duration retry_after, RateLimit limit, Live& live);
  /// A claim ended that says nothing about its destination; a probe is free again.
  void silent(Instant now, const Claim& claim, Live& live);
  /// Telemetry: faulty GPUs trip (share 0), suspect ones derate to the share that is left.
  void suspect(Instant now, DestinationId destination, double healthy_share, Live& live);
  /// Every 10 s: prices fall back, caps grow.
  void recover(Instant now, Live& live);

  /// How the same destinations fared.
  void inherit(const Healths& before, const Kin& kin, Live& live);

  [[nodiscard]] const Health& of(DestinationId d) const { return healths_[d.value]; }
  /// Offers whose columns changed since forget_changed(), some perhaps more than once.
  [[nodiscard]] std::span<const OfferId> changed() const { return changed_; }
  void forget_changed() { changed_.clear(); }

 private:
  void trip(Instant now, DestinationId d, Live& live);
  void throttle(Instant now, DestinationId d, Duration retry_after, RateLimit limit, Live& live);
  void cut_caps(Health& health, DestinationId d, RateLimit limit);
  void take_back(Instant now, DestinationId d);
  void close(Health& health);
  /// Shows a destination in the columns, and applies the panic rule to the models it serves.
  void show(DestinationId d, Live& live);
  void show_model(ModelId model, Live& live);
  [[nodiscard]] double fail_probability(OfferId offer) const;

  const Snapshot* snapshot_;
  Occupancy* occupancy_;
  std::vector<Health> healths_;            // by destination
  std::vector<std::vector<OfferId>> own_;  // by model: offers of the model itself
  std::vector<OfferId> panic_;             // scratch of the panic rule
  std::vector<OfferId> changed_;
};

}  // namespace ace
