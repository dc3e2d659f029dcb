#pragma once
/// The stutter knee of one offer for one SLO class: a prior from the latency curve, then what the traffic says.
#include <array>
#include <cstdint>

#include "core/time.h"
#include "fleet/fleet.h"

namespace ace {

/// A knee never passes this share of the cap.
inline constexpr double kKneeMost = 0.98;
/// Without traffic nothing could raise it again, so it never falls below this share of the cap (or one request).
inline constexpr double kKneeLeast = 0.05;

/// The requests a prior is computed for.
struct Shape {
  double prompt_mean = 1024.0;  ///< uncached tokens
  double output_mean = 211.0;
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Largest rho at which a pool is predicted to keep the class's limits for a request that need not wait.
///
/// At x requests/s per replica, with rate r = prefill_tokens_per_s and the step of ServerProfile:
///   b    = x out base / (1 - x in / r - x out (per_sequence + per_kv_token x (in + out / 2)))   running sequences
///   step = base + b (per_sequence + per_kv_token (in + out / 2))
///   TPOT = step / (1 - x in / r)                                 decode yields to the chunks of prefill
///   S    = (in / r)(1 + step r / chunk)                          prefill yields to the steps of decode
///   rho  = max(x S, b / batch_max, b (in + out) / kv_tokens_max)
/// The limits hold where TPOT <= tpot and S + step <= ttft. What waits before S is not predicted from rho: it is seen,
/// and held against the TTFT request by request (Live.wait). A queueing formula in its place (M/G/c on prefill work)
/// refuses at the long-run load what the pool takes at the moment: docs/RESULTS.md has the figures.
///
/// @return in [kKneeLeast, kKneeMost]
double knee_prior(const ServerProfile& profile, const SloClass& slo, const Shape& shape);

/// A knee that probes, because a low knee hides its own error (ECONOMICS 3).
///
/// A window is `window` long, or longer until a bound decides. Wilson's upper bound of its miss rate below epsilon: if
/// p95 of rho plus one typical request reached 0.97 k, the knee rises by 2%; either way a new window begins. A lower
/// bound above epsilon cuts at once, by 3% while the miss rate is under 3 epsilon, else by 10%. Only requests
/// dispatched in the window speak, so the backlog of the old knee does not cut the new one. A cut takes at least
/// kMissesToCut misses: peeking after every request, a single early miss would "prove" any rate.
class Knee {
 public:
  static constexpr std::uint64_t kMissesToCut = 3;
  explicit Knee(double prior) : value_(prior) {}

  [[nodiscard]] double value() const { return value_; }
  /// A request was sent there. @param rho with it @param share what it takes of the resource it takes most of
  void admitted(double rho, double share);
  /// It ended. @return did the knee move
  bool ended(Instant now, Instant dispatched, bool slo_met, double epsilon);
  /// Looks whether the window can close. @return did the knee move
  bool close(Instant now, Duration window, double epsilon);
  /// A better prior (online fit of the curve), taken until traffic has moved the knee.
  bool refit(double prior);
  [[nodiscard]] bool moved() const { return moved_; }
  [[nodiscard]] std::uint64_t trials() const { return trials_; }

 private:
  static constexpr std::size_t kBins = 128;
  void restart(Instant now);
  [[nodiscard]] double rho_p95() const;
  [[nodiscard]] double typical_share() const;

  double value_;
  Instant since_{};
  bool started_ = false, moved_ = false;
  std::uint64_t trials_ = 0, misses_ = 0, admitted_ = 0;
  double shares_ = 0.0;
  std::array<std::uint32_t, kBins> rho_{};
};

}  // namespace ace
