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
  double prompt_cv2 = 2.0;      ///< squared coefficient of variation of the prompt
  double output_mean = 211.0;
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Largest rho at which a pool of these replicas is predicted to miss the class's limits at most with `epsilon`.
///
/// At x requests/s per replica, with rate r = prefill_tokens_per_s and the step of ServerProfile:
///   b      = x out base / (1 - x in / r - x out (per_sequence + per_kv_token x (in + out / 2)))   running sequences
///   step   = base + b (per_sequence + per_kv_token (in + out / 2))
///   TPOT   = step / (1 - x in / r)                                 decode yields to the chunks of prefill
///   rho    = max(x in (1 + step r / chunk) / r, b / batch_max, b (in + out) / kv_tokens_max)
///   P(W>t) = p exp(-2 t c (1 - rho_prefill) / (S (1 + cv^2))),  p = rho_prefill^(sqrt(2(c+1)) - 1)
/// where S = (in / r)(1 + step r / chunk) is the service time of a prompt and c the number of replicas: M/G/1 on
/// prefill work only for one replica (Pollaczek-Khinchine mean, exponential tail), M/G/c by Sakasegawa 1977 for more.
/// The miss rate is 1 where TPOT > tpot, else P(W > ttft - S - step).
///
/// @param epsilon largest predicted miss rate, in (0, 1)
/// @return in [kKneeLeast, kKneeMost]
double knee_prior(const ServerProfile& profile, std::int64_t replicas, const SloClass& slo, const Shape& shape,
                  double epsilon);

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
