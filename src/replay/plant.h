#pragma once
/// The world of a replay: what really happens at each destination. The dispatcher never looks inside. ECONOMICS 12.
#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "dispatch/dispatch.h"
#include "replay/server.h"
#include "replay/winner_tree.h"

namespace ace {

/// An attempt as it arrives at a destination.
struct Work {
  OfferId offer;
  std::uint32_t flight = 0;
  std::int32_t prompt = 0, output = 0, max_output = 0;
  std::int32_t logged_cached = 0;         ///< what the log saw cached, where the trace has no prefix blocks
  std::span<const std::uint32_t> blocks;  ///< prefix blocks
};

/// How much longer GPU servers of the world take than their profile says: 1.3 = everything takes 30% longer.
struct Slowdown {
  Slowdown(double all = 1.0) : measured(all), unmeasured(all) {}  // NOLINT: one factor for all is the usual case
  double measured, unmeasured;
  [[nodiscard]] double of(const ServerProfile& profile) const { return profile.measured ? measured : unmeasured; }
};

/// What a data sheet is wrong by: the largest median absolute error of the roofline over the accelerators of
/// docs/ROOFLINE.md (h100-80g, 16.6%). The dispatcher believes the roofline, so servers that nobody measured are this
/// much slower in the world of a headline: a replay in which they are what is believed proves nothing (ECONOMICS 12).
inline constexpr double kRooflineError = 0.17;

class Plant {
 public:
  struct Options {
    Slowdown slowdown;
    Tokens block_tokens{512};
  };
  Plant(const Snapshot& fleet, const Options& options, const Rng& rng, Instant start);

  struct Answer {
    bool accepted = false;
    Rejection why = Rejection::throttled;  ///< if not accepted: known at once
    Duration retry_after{0};
    std::int32_t cached = 0;  ///< prompt tokens found in the destination's prefix cache
    OfferId billed_as;        ///< differs from the offer after native spillover
  };
  Answer offer(Instant now, const Work& work);

  struct Event {
    enum class Kind : std::uint8_t { none, first_token, finished, failed, lost } kind = Kind::none;
    std::uint32_t flight = 0;
    Instant at{};
    Instant first_token{};      ///< of a finished API call
    std::int64_t produced = 0;  ///< output tokens of a lost attempt
  };
  /// When something happens next; the far future if nothing will.
  [[nodiscard]] Instant next() const;
  Event fire();

  /// Runs this many units from now on. Units beyond the count take nothing new and finish what they have; until then
  /// they are the first to come back.
  void set_units(Instant now, DestinationId destination, std::int64_t units);
  /// A unit that has finished what it had. @param unit its place among those of the destination that drained just
  /// before, in the order of being switched off
  struct Drained {
    DestinationId destination;
    std::size_t unit = 0;
  };
  /// What has drained since the last call, in order.
  [[nodiscard]] std::vector<Drained> take_drained() { return std::exchange(drained_, {}); }
  [[nodiscard]] bool any_drained() const { return !drained_.empty(); }
  /// Notice for this many running units: they take nothing new and will be taken away. They never come back.
  void condemn(Instant now, DestinationId destination, std::int64_t units);
  /// As many condemned units, first in first out, are gone: what still ran on them is lost.
  std::vector<Event> take_away(Instant now, DestinationId destination, std::int64_t units);
  /// The destination's replicas are loaded with a guest, or with its home models again, and have what they cached no
  /// more.
  /// @pre nothing runs there
  void hold(Instant now, DestinationId destination, OfferId guest);
  /// Time-averaged share of the destination's capacity in use since the start, in [0, 1].
  [[nodiscard]] double used_share(Instant now, DestinationId destination);

 private:
  struct Pool {                              // owned, spot, on-demand; positions in servers_
    const ServerProfile* profile = nullptr;  // of the first resident model, or the guest; null = nothing can run here
    const ServerProfile* home = nullptr;     // of the first resident model
    double used_before = 0.0;                // seconds in use before the present models were loaded
    std::vector<std::uint32_t> all;          // every replica ever run
    std::vector<std::uint32_t> active;       // take requests
    std::vector<std::uint32_t> draining;     // finish what they have; the latest to stop comes back first
    std::vector<std::uint32_t> condemned;    // likewise, until they are taken away; oldest notice first
    std::vector<std::uint32_t> idle;         // drained or taken away: empty
    std::size_t replicas_per_unit = 1;
    std::int64_t shells = 0;        // units that run, where nothing can run on them
    double capacity_seconds = 0.0;  // integral of replicas that are paid for: all but the idle
    double changed = 0.0;
  };
  static constexpr std::uint32_t kNowhere = UINT32_MAX;
  struct Api {  // reserved, payg
    std::optional<CommitmentMeter> tokens, requests;
    std::vector<double> ttft_s, tpot_s;  // equally likely values: the declared distribution as a table
    double error_rate = 0.0;
    double used = 0.0;  // weighted tokens admitted
  };
  struct ApiEvent {
    double at;
    std::uint32_t flight;
    bool failed;
    bool operator<(const ApiEvent& other) const { return at != other.at ? at > other.at : flight > other.flight; }
  };
  struct InFlight {
    double first_token = 0.0, estimate = 0.0, actual = 0.0;
    OfferId offer;
  };
  [[nodiscard]] double seconds(Instant t) const { return to_seconds(t - start_); }
  [[nodiscard]] Instant at(double s) const { return start_ + from_seconds(s); }
  [[nodiscard]] std::int32_t cached_tokens(const Work& work, Instant now);
  void touch(std::size_t server) { tree_.set(server, servers_[server].next()); }
  void account(Instant now, Pool& pool);
  void release_if_empty(Instant now, std::uint32_t destination, std::size_t unit);
  std::uint32_t new_server(const ServerProfile& profile);
  InFlight& in_flight(std::uint32_t flight);
  Answer offer_server(Instant now, const Work& work, DestinationId destination);
  Answer offer_api(Instant now, const Work& work, DestinationId destination);

  const Snapshot* fleet_;
  Options options_;
  Instant start_;
  Rng rng_;
  std::vector<Pool> pools_;  // by destination
  std::vector<Api> apis_;    // by destination
  std::vector<Server> servers_;
  std::vector<std::uint32_t> drains_at_;  // by server: its destination while it drains, else kNowhere
  std::vector<Drained> drained_;
  WinnerTree tree_;
  std::priority_queue<ApiEvent> api_events_;
  std::vector<InFlight> in_flight_;
  std::vector<PrefixIndex> caches_;  // by destination
};

}  // namespace ace
