#pragma once
/// What the dispatcher believes, learnt from in-flight counts, completions, TTFT/TPOT, rejections and errors after they
/// happen.
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/time.h"
#include "core/units.h"
#include "dispatch/live.h"
#include "dispatch/snapshot.h"

namespace ace {

struct Request;
struct Decision;

/// What an attempt holds while it runs; given out at dispatch, given back once at its end.
struct Claim {
  OfferId offer;
  ModelId requested;
  TenantId tenant;
  SloId slo;
  std::int32_t prompt = 0, cached = 0;
  double output_p90 = 0.0;  ///< as reserved in KV and meter
  double meter_estimate = 0.0;
  bool first_token_seen = false;
  bool probe = false;  ///< the one attempt that a half-open destination is judged by
  Instant at{};        ///< of dispatch
  double rho = 0.0;    ///< largest queueing utilization there, this request included
  /// What one replica ran at dispatch; sequences below 0: a prompt waited there, or it does not queue.
  double sequences_beside = -1.0, kv_beside = 0.0;
  /// What had been prefilled at its destination when its own first token came: uncached tokens, prompts.
  std::int64_t prefilled = 0, prompts = 0;
  OfferId failed_at;  ///< where the same request failed before; none = nowhere
};

/// How an attempt ended without an answer.
enum class Rejection : std::uint8_t {
  throttled,   ///< 429
  overloaded,  ///< 503, 529
  failed,      ///< 5xx, timeout, lost with its node
  refused,     ///< connection refused, TLS, credentials
  request,     ///< 4xx: the request's own fault, never the destination's
};

/// Which rate limit a 429 spoke of, where its headers or body say so.
enum class RateLimit : std::uint8_t { requests, tokens, input_tokens, output_tokens, unknown };
inline constexpr std::size_t kRateLimits = 4;

/// One rate-limit window, as the head of an answer tells. -1 = not told.
struct RateWindow {
  std::int64_t limit = -1, remaining = -1;
  Duration reset{0};  ///< from now until it is full again; 0 = not told
  friend bool operator==(const RateWindow&, const RateWindow&) = default;
};
using RateWindows = std::array<RateWindow, kRateLimits>;  ///< by RateLimit

/// What a completion showed.
struct Observed {
  Tokens output{0};
  Tokens cached{0};
  Duration ttft{0}, tpot{0};  ///< tpot 0 = one token
};

/// What the engines of a pool said of themselves.
struct EngineLoad {
  std::int64_t running = 0, waiting = 0;  ///< requests, of all its engines
  double kv_share = 0.0;                  ///< of its KV cache, 0 to 1
  friend bool operator==(const EngineLoad&, const EngineLoad&) = default;
};
/// How long it counts: a few times what lies between two looks.
inline constexpr Duration kEngineLoadLife = 10 * kSecond;

class Belief {
 public:
  struct Options {
    Duration window{5 * kMinute};  ///< of the knee's probe
    Duration scarcity_period{10 * kSecond};
    double knee_prior_scale = 1.0;  ///< for tests: a prior this much off
    bool learn_scarcity = true;
    bool learn_knee = true;
  };
  Belief(const Snapshot& snapshot, const Options& options);
  explicit Belief(const Snapshot& snapshot);
  ~Belief();
  Belief(Belief&&) noexcept;

  /// The columns as of `now`: averages decayed, windows closed, periods ended, hours turned. `now` never goes back.
  Live& live(Instant now);
  /// Conditional mean and p90 of the output: by model x tenant once seen, by model, then by class prior; capped by
  /// max_output.
  [[nodiscard]] Prediction predict(ModelId model, TenantId tenant, SloId slo, Tokens max_output) const;

  /// Books the attempt's claim on its destination.
  Claim dispatched(Instant now, const Request& request, const Decision& decision);
  void first_token(Instant now, Claim& claim, Duration ttft);
  /// @param slo_met against the limits of the claim's class
  void completed(Instant now, const Claim& claim, const Observed& seen, bool slo_met);
  /// @param retry_after as the destination stated it; zero if it did not
  /// @param limit of a 429, where it said which
  void rejected(Instant now, const Claim& claim, Rejection why, Duration retry_after,
                RateLimit limit = RateLimit::unknown);
  /// The client went away: frees the claim and teaches nothing but the tokens used.
  void aborted(Instant now, const Claim& claim, const Observed& seen);
  /// A retry that the upstream may have worked on: is one more allowed by the retry budget? Counts it if so.
  bool may_retry(Instant now);
  /// What is believed of an earlier fleet is believed here of the things that are the same (dispatch/kin.h): lengths of
  /// answers, latency curves, knees, the pace and the health of destinations. What is in use there is for the caller to
  /// claim again; shadow prices, rate windows and meters begin anew. @pre nothing was dispatched here
  void inherit(Instant now, Belief& before);
  /// Telemetry: the share of a destination's GPUs that is fit; faulty ones trip it at 0, suspect ones price it up.
  void suspect(Instant now, DestinationId destination, double healthy_share);
  /// What an API said it has left in its windows when it took this claim. It fills again evenly until its reset; what
  /// we send after the claim comes off it. Shows where it says less than our own counts against the declared limits,
  /// also where none is declared. Means nothing of what has no windows.
  void told(Instant now, const Claim& claim, const RateWindows& windows);
  /// Counts what runs at a pool of GPUs besides our own claims, for kEngineLoadLife; never less than our claims.
  void scraped(Instant now, DestinationId destination, const EngineLoad& load);
  /// What a pool holds that has more models than memory: those that fit together (its home), or one of the others.
  struct Holding {
    DestinationId destination;
    OfferId guest;       ///< none = home
    bool loaded = true;  ///< false: on the way
    bool open = true;    ///< at home: a guest may come; else: the guest takes more
    friend bool operator==(const Holding&, const Holding&) = default;
  };
  void holds(Instant now, const Holding& holding);
  /// Unit states changed: replicas now running at a destination (0 = none).
  void units(Instant now, DestinationId destination, std::int64_t running_units);

  /// Free room under the knees plus free quota, over the largest single destination's load, per model; below 1 alerts.
  [[nodiscard]] double contingency(ModelId model) const;
  [[nodiscard]] double knee(OfferId offer, SloId slo) const;
  /// Latency curve of one replica as now believed; null where nothing queues.
  [[nodiscard]] const ServerProfile* curve(OfferId offer) const;
  /// Curve, price and health changes since the last call, as the spine will record them, in order of their first move.
  /// At most one per kind, offer and class: its value before the first move and after the last.
  struct Change {
    enum class What : std::uint8_t {
      knee,
      health,
      shadow_price,
      price,
      units,
      // Never pending: a recorder finds these where it compares the columns (spine/evidence.h).
      wait_scale,
      fail_probability,
      token_share,    ///< of the cap that one weighted token takes
      request_share,  ///< of the cap that one request takes
      meter_output,
      meter_cached,
      warmth,
    } what;
    Instant at;
    OfferId offer;
    SloId slo;
    double before = 0.0, after = 0.0;  ///< knee: share of the cap; health: price factor, infinite while tripped;
                                       ///< shadow price: nano-USD per whole share; units: running
                                       ///< units; the others as their columns in Live
    friend bool operator==(const Change&, const Change&) = default;
  };
  std::vector<Change> take_changes();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ace
