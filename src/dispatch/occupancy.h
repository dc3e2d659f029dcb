#pragma once
/// What is in use at each destination, as a gateway can know it: its own claims, their KV, the prefill it offered, the
/// provider's meter and rate windows. Writes `Live.use` and `Live.per_unit`.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/statistics.h"
#include "core/time.h"
#include "dispatch/belief.h"
#include "dispatch/kin.h"
#include "dispatch/latency_fit.h"
#include "dispatch/live.h"
#include "dispatch/snapshot.h"

namespace ace {

/// Counts over the last minute in one-second bins: exact integers, O(1) per event. The four counts that providers
/// limit.
class MinuteWindow {
 public:
  using Counts = std::array<std::int64_t, kRateLimits>;  ///< by RateLimit
  /// Forgets what is older than 60 s.
  void advance(Instant now);
  void add(Instant now, const Counts& counts);
  /// Corrects what was added at `then`, if that is still inside the window.
  void correct(Instant then, Instant now, const Counts& difference);
  [[nodiscard]] const Counts& sum() const { return sum_; }
  /// Of the seconds after that of `then`, as far as they are inside the window.
  [[nodiscard]] std::int64_t after(Instant then, RateLimit limit) const;

 private:
  static constexpr std::int64_t kBins = 60;
  std::array<Counts, kBins> bins_{};
  Counts sum_{};
  std::int64_t second_ = 0;
};

/// Caps per minute of one API, by RateLimit; 0 = none known.
using RateCaps = std::array<double, kRateLimits>;

/// Shares of a destination's resources, shared by all its offers.
///
///   prefill   offered prefill tokens/s (10 s average; `Live.sustained`: over a minute) over what the engine can
///   prefill after decode's share, which is
///             rate / (1 + step(b, kv) x rate / chunk) tokens/s per replica with b sequences running
///   wait      the seconds that the prompts without a first token take at that rate: what a new one stands behind. As
///             utilization it is a matter of the class that looks (Live.wait_scale). A burst fills it long before the
///             average moves: on the Azure code trace (inter-arrival CV 13) the average alone let 1.4% miss
///   slots     claims / (batch_max x replicas running)
///   kv        (prompt + p90 output) of all claims / (kv_tokens_max x replicas running)
///   tokens    the binding one of the TPM, ITPM and OTPM windows (payg), or the level of the commitment's meter
///   requests  the RPM window
/// Of each window what counts is the fuller: our own counts over the limit we know, or what the provider says is gone.
///
/// Counts are integers, so nothing drifts; shares are recomputed, never accumulated. O(offers of the destination) per
/// event, no allocation.
class Occupancy {
 public:
  /// Borrows all of its arguments but `live`.
  Occupancy(const Snapshot& snapshot, const LatencyFit& latency, Live& live);

  /// Books a claim and fills its `meter_estimate`, `rho` and what it found `beside` itself.
  void admit(Instant now, Claim& claim, Live& live);
  /// Frees a claim and reconciles what it was booked at with what it used.
  void release(Instant now, const Claim& claim, std::int64_t output, std::int64_t cached, Live& live);
  /// The prompt is done: it waits no longer.
  void first_token(Instant now, Claim& claim, Live& live);
  /// Lets averages decay, windows slide and meters drain. Called on a 100 ms grid.
  void decay(Instant now, Live& live);
  void units(Instant now, DestinationId destination, std::int64_t running_units, Live& live);
  /// Adds what engines run besides our claims to `slots` and `kv`, until it is stale. Where requests wait that are not
  /// on their way through (at least 2, and a tenth of those that run), those that run are all that the engines can,
  /// whatever we believe of their size: running and waiting over running is then the least share of the slots.
  void scraped(Instant now, DestinationId destination, const EngineLoad& load, Live& live);
  /// Live.resident has changed there.
  void holds(Instant now, DestinationId destination, Live& live);
  /// @see Belief::told
  void told(Instant now, const Claim& claim, const RateWindows& windows, Live& live);
  /// The caps that the rate windows are held against.
  void limit(DestinationId destination, const RateCaps& caps, Live& live);

  /// What is left of a commitment's declared cap, in (0, 1].
  void shrink(DestinationId destination, double cap_share, Live& live);

  [[nodiscard]] const MinuteWindow::Counts& minute(DestinationId d) const { return stations_[d.value].window.sum(); }
  [[nodiscard]] std::uint32_t in_flight(OfferId offer) const { return holds_[offer.value].claims; }
  [[nodiscard]] std::int64_t replicas(OfferId offer) const { return holds_[offer.value].replicas; }
  /// Of one replica of the claim's offer, just after its answer has ended. @pre replicas() > 0
  [[nodiscard]] LatencyFit::Load load(const Claim& claim) const;
  [[nodiscard]] std::span<const OfferId> offers(DestinationId d) const { return stations_[d.value].offers; }
  /// Expected time from dispatch to completion, from the pace of the last answers.
  [[nodiscard]] Duration residence(OfferId offer) const { return holds_[offer.value].residence; }
  [[nodiscard]] Duration residence(OfferId offer, double output_mean) const;
  void paced(const Claim& claim, const Observed& seen);
  /// The pace of the same offers; what is in use is not taken over.
  void inherit_pace(const Occupancy& before, const Kin& kin);
  /// What one claim takes of the queueing resource it takes most of.
  [[nodiscard]] double share(const Claim& claim, const Live& live) const;
  /// Largest queueing utilization at the offer's destination.
  [[nodiscard]] static double rho(OfferId offer, const Live& live);
  /// Seconds of flow at the cap that fill the `tokens` resource.
  [[nodiscard]] double flow_seconds(DestinationId d) const {
    const Station& station = stations_[d.value];
    return station.meter ? station.meter->capacity() / station.meter->rate() : 60.0;
  }
  /// Gives back a claim that was turned away before any work: as if it had never been booked.
  void undo(Instant now, const Claim& claim, Live& live);
  /// Of the commitment; 0 where there is none.
  [[nodiscard]] double meter_level(DestinationId d, Instant now) const;

 private:
  struct Hold {  // by offer
    std::uint32_t claims = 0;
    std::int64_t kv_tokens = 0;
    std::int64_t waiting = 0;  ///< uncached prompt tokens whose first token is not out yet
    std::int64_t replicas = 0;
    RateEwma prefill{kPrefillWindow}, sustained{kSustainedWindow};
    double ttft_s = 0.5, tpot_s = 0.03;  ///< averages over about 32 answers
    Duration residence{0};
  };
  struct Station {  // by destination
    std::vector<OfferId> offers;
    std::int64_t units = 0;                   ///< running
    bool queues = false;                      ///< GPUs
    bool windows = false;                     ///< rate limits
    std::optional<CommitmentMeter> meter;     ///< in shares of the bucket
    std::int64_t prefilled = 0, prompts = 0;  ///< uncached tokens and prompts whose first token has come
    struct Others {                           ///< what engines run that is not ours
      std::int64_t requests = 0;
      double kv = 0.0, slots_least = 0.0;
      Instant until{};
    } others;
    MinuteWindow window;
    RateCaps caps{};                   ///< 0 where none is known
    struct Said {                      ///< by the provider
      double limit = 0.0, gone = 0.0;  ///< 0 = nothing is said
      Instant sent{}, at{}, until{};   ///< the claim it came with was sent; told; full again
    };
    std::array<Said, kRateLimits> said{};
    bool hears = false;                               ///< anything is said that has not run out
    Instant seen = Instant::min();                    ///< last looked at
    std::uint8_t binding = 1;                         ///< RateLimit shown in the `tokens` column
    double shown_tokens = 0.0, shown_requests = 0.0;  ///< limits shown in per_unit
  };
  /// How full one window is, and of what.
  struct Fill {
    double use = 0.0, limit = 0.0;
  };
  [[nodiscard]] static Fill fill_of(const Station& station, std::size_t limit);
  [[nodiscard]] static double decode_slowdown(const ServerProfile& curve, const Hold& hold);
  void look_beside(const Station& station, Claim& claim) const;
  [[nodiscard]] static std::int64_t held(const Claim& claim);
  /// Utilization as the claim's class feels it, itself included.
  [[nodiscard]] double felt_rho(const Claim& claim, const Live& live) const;
  [[nodiscard]] static MinuteWindow::Counts rated(const Claim& claim, std::int64_t output, std::int64_t cached);
  void show_queues(Instant now, Station& station, bool prefill, Live& live);
  void show_windows(Instant now, Station& station, Live& live);
  void show_meter(Instant now, const Station& station, Live& live);
  [[nodiscard]] double metered(const Claim& claim, double output, std::int64_t cached, const Live& live) const;

  const Snapshot* snapshot_;
  const LatencyFit* latency_;
  std::vector<Hold> holds_;
  std::vector<Station> stations_;
};

}  // namespace ace
