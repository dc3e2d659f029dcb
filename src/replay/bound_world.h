#pragma once
/// What the plant could do at most, and the least that each request would cost there: the relaxed world of the bounds.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "replay/run.h"
#include "replay/shadow_prices.h"

namespace ace {

/// Each destination has up to two limited resources. Every use is at most what the plant would take, every capacity at
/// least what the plant would give:
///
///   GPUs   replica-seconds, twice. One step of an engine takes max(base, prompt work) + overhead of its b sequences
///   and
///          yields b tokens, so wall time is at least prompt work + overhead, and at least base + overhead, apart:
///            [0]  prompt / prefill rate + (output - 1)(per_sequence + per_kv_token x held)
///            [1]  (output - 1)(base share + per_sequence + per_kv_token x held)
///          A step's base is shared by at most batch_max sequences that hold at most kv_tokens_max tokens, so a share
///          of 1 / batch_max, or of held / kv_tokens_max, is never too much; the one that binds for 2,048 held is
///          taken.
///   PTU, GSU and tokens per minute   [0] weighted tokens. The meter is a leaky bucket that admits while it is not
///   full:
///          in any stretch of length L at most rate x L + rate x window + one request.
///   requests per minute              [1] the same in requests.
/// A meter that gives back what it had booked too much (failed calls, outputs below max_tokens) may give it back in a
/// later stretch, so there the whole run is one stretch.
class BoundWorld {
 public:
  struct Options {
    Slowdown slowdown;  ///< of the plant
    Tokens block_tokens{512};
    Instant first{}, last{};      ///< of the run
    bool states_maximum = false;  ///< some request of the trace states max_tokens
  };
  BoundWorld(const Snapshot& fleet, const RunFacts& facts, const Options& options);

  static constexpr std::size_t kResources = 2;
  struct Limit {
    TimeGrid grid;
    std::vector<double> as_run;   ///< capacity by bucket with the units that ran
    std::vector<double> at_most;  ///< with all the units that the fleet file may ever run
    bool one_over = false;
  };
  struct Place {
    std::array<std::optional<Limit>, kResources> limits;
    bool ran = true, may_run = true;  ///< had any unit, could have had one
    /// Fixed cost of holding all of it, at least: once for the run, and by bucket of limit 0. Nano-USD.
    double once = 0.0;
    std::vector<double> running;
  };
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  /// Where a request may run, and at least what it costs and uses there.
  struct Choice {
    std::uint32_t place = 0;
    double cost = 0.0;  ///< nano-USD
    std::array<double, kResources> use{};
  };
  /// All choices of a request, valid until the next call. @param cached at most this many of its prompt tokens would be
  /// found in a prefix cache; `logged` of the trace where it has no blocks
  std::span<const Choice> choices(const Demand& demand, std::int32_t cached);
  /// Latest end of a request of this class that comes at `at`: its limit (time to the first token, else the deadline,
  /// else the engine's patience) plus the longest that any of its class took.
  [[nodiscard]] Instant latest(SloId slo, Instant at) const { return at + window_[slo.value]; }

 private:
  void add_gpus(const Destination& d, DestinationId id, const RunFacts& facts);
  void add_meters(const Destination& d, Place& place);
  [[nodiscard]] TimeGrid grid(Duration width_min) const;
  [[nodiscard]] double idle_power(double watts, Instant from, Instant to) const;
  [[nodiscard]] double rent(const Destination& d, Instant from, Instant to) const;
  void choose(OfferId offer, const Demand& demand, std::int32_t cached);

  const Snapshot* fleet_;
  Options options_;
  std::vector<Place> places_;                   ///< by destination
  std::vector<const ServerProfile*> profiles_;  ///< by destination; the engine of a GPU pool
  std::vector<std::uint8_t> has_cache_;         ///< by destination
  std::vector<Duration> window_;                ///< by SLO class
  Duration shortest_window_{kMinute}, drain_{0};
  std::vector<Choice> choices_;
};

}  // namespace ace
