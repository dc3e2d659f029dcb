#pragma once
/// The brain under a fake clock: arrivals in, settled requests out. One engine per island.
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "core/rng.h"
#include "dispatch/dispatch.h"
#include "ledger/ledger.h"
#include "replay/gaps.h"
#include "replay/plant.h"
#include "replay/source.h"
#include "replay/swaps.h"
#include "replay/unit_states.h"
#include "spine/spine.h"

namespace ace {

/// An arrival with its names resolved against the fleet.
struct Demand {
  Arrival arrival;  ///< blocks are borrowed
  ModelId model;
  TenantId tenant;  ///< none if not declared
  SloId slo;
  ComplianceId compliance;
  std::string_view data_class;
};

/// Who chooses.
enum class Dispatching : std::uint8_t {
  merit_order,  ///< ACE
  status_quo,   ///< destinations in declared order up to their cap, overflow to the default PAYG; no knee, no
                ///< equivalents
  round_robin,  ///< feasible destinations in turn
};

class Engine {
 public:
  struct Options {
    Dispatching dispatching = Dispatching::merit_order;
    Plant::Options plant;
    Belief::Options belief;
    SpineGaps gaps;  ///< what is decided in them is marked so
    std::uint64_t seed = 1;
    std::string stream = "island";    ///< name of its random streams
    Duration patience{30 * kSecond};  ///< longest wait for capacity of a class without a deadline of its own
    bool learn_h0 = true;             ///< keep the shadow index of the all-API world
    bool note_late_hits = false;      ///< keep late_hits()
    std::size_t record_columns = event::kColumnsMax;  ///< of a decision's candidates, the rest as count and digest
    bool units_given = false;  ///< units move as give_units() says, not as the fleet's own policies would here
  };
  /// Prompt tokens that a request found cached although it was sent later than it came, or more than once: its own
  /// blocks, or those of requests behind it, may be among them.
  struct LateHit {
    std::int64_t row = 0;
    std::int32_t cached = 0;
    friend auto operator<=>(const LateHit&, const LateHit&) = default;
  };
  /// Everything that happened to the units at one moment.
  struct UnitMoves {
    Instant at{};
    std::vector<UnitStates::Step> steps;
  };
  /// A request's end in short, for who only compares the bill.
  struct Spent {
    std::int64_t row = 0;
    Usd cost{};                              ///< C4
    bool answered = false, slo_met = false;  ///< as a statement counts: answers of a response cache are both
    bool observed = false;                   ///< the log says what it cost
  };
  /// What the engine reports as it goes, in order of completion. Without `settled` nothing is settled.
  struct Sink {
    std::function<void(const Settled&)> settled;
    std::function<void(const event::UnitsChanged&)> units;  ///< may be empty
    std::function<void(const Belief::Change&)> changed;     ///< may be empty
    std::function<void(const UnitMoves&)> moved = {};       ///< all that a tick did to the units; may be empty
    std::function<void(const Spent&)> spent = {};           ///< in the place of `settled`
    /// Every event as a gateway would record it, when it would know it: times never go back. Tenants and teams are
    /// symbols of the source. May be empty.
    std::function<void(Instant, event::Record)> recorded = {};
  };
  /// What a single decision looked like, for `ace explain`.
  struct Witness {
    std::int64_t row = 0;  ///< watch this row; 0 = none
    std::function<void(const Request&, Live&, Instant)> decided;
  };

  Engine(const Snapshot& fleet, const Options& options, Sink sink);

  /// Starts the world: units, meters and random streams begin here. @param t not after the first arrival
  void begin(Instant t);
  /// Moves the world to the demand's time, then dispatches it. Times never go back.
  void arrive(const Demand& demand);
  /// Lets everything happen up to and with this moment. @pre begun
  void advance(Instant to);
  /// Lets everything in flight end.
  void finish();
  /// Records what is none of a request's own, under an id that is drawn for it. Only with Sink::recorded.
  void record(Instant now, event::Event event);
  /// With Options::units_given: what happens to the units at a moment not before now, in order of time.
  void give_units(const UnitMoves& moves) { given_.push_back(moves); }
  void watch(Witness witness) { witness_ = std::move(witness); }

  [[nodiscard]] Instant started() const { return started_; }
  [[nodiscard]] Instant last_completion() const { return last_completion_; }
  [[nodiscard]] const std::vector<LateHit>& late_hits() const { return late_hits_; }
  [[nodiscard]] const UnitStates& units() const { return *units_; }
  /// Requests that had somewhere to go and were made to wait, because headroom was short (`reserve: enforce`).
  [[nodiscard]] std::uint64_t held_back() const { return held_back_; }
  /// Loads of models that a destination swapped in and out.
  [[nodiscard]] Swaps::Loads loads(DestinationId destination) const { return swaps_.loads(destination); }
  [[nodiscard]] double used_share(DestinationId destination) { return plant_->used_share(now_, destination); }
  [[nodiscard]] const Belief& belief() const { return belief_; }
  /// The knee believed before the first request.
  [[nodiscard]] double knee_prior(OfferId offer, SloId slo) const {
    return knee_priors_[slo.value * fleet_->offers().size() + offer.value];
  }

 private:
  struct Flight {
    Demand demand;
    std::vector<std::uint32_t> blocks;  ///< owned copy of the demand's
    event::Decided decided;
    Claim claim;
    OfferId offer, billed_as;
    Instant dispatched{}, first_token{};
    Instant fetched{};                            ///< when the model it waits for is loaded
    std::int32_t h0 = 0, cached = 0, output = 0;  ///< output of the model used
    std::vector<event::Attempted> failures;
    std::vector<OfferId> attempted;
    int attempts = 0;
    bool decided_once = false, held_back = false;
    // While recording:
    std::uint32_t told_decisions = 0, told_attempts = 0;
    std::optional<Verdict> told;  ///< the last one recorded
  };
  /// A model's own offers as those who do not rank take them.
  struct Order {
    std::vector<OfferId> all, declared;  ///< by id; in the order of the fleet file, but for the fallback
    OfferId fallback;                    ///< at the default price's destination
  };
  /// A request that waits for capacity: it looks again when due, and for the last time at the end of its patience.
  struct Waiting {
    Instant due{}, until{};
    std::uint32_t flight = 0;
    std::int64_t row = 0;
    bool operator<(const Waiting& other) const {  // heap: the next one on top
      return due != other.due ? due > other.due : row > other.row;
    }
  };

  void happen(const Plant::Event& event);
  void tick(Instant now);
  [[nodiscard]] Instant next_units() const;
  void move_units(const UnitMoves& moves);
  void move_models(Instant now);
  void release_drained(Instant now);
  void wait(std::uint32_t flight, Instant now);
  void retry(Instant now);
  /// @return false if it must wait for capacity
  bool dispatch(std::uint32_t flight, Instant now);
  void wake_cheaper(const Request& request, const Live& live, Instant now, const Decision& decision);
  Decision choose(const Request& request, Live& live, Instant now);
  [[nodiscard]] Order order_of(ModelId model) const;
  void predict_cached(const Flight& flight, Live& live, Instant now);
  void complete(std::uint32_t flight, Instant now, event::Outcome outcome, Verdict verdict);
  void told_units(const event::UnitsChanged& change);
  /// Cheapest compliant pay-as-you-go offer of the model that an offer is of; none if there is none.
  [[nodiscard]] OfferId cheapest_payg(const Demand& demand, OfferId offer, const Usage& usage) const;
  [[nodiscard]] event::Admitted admitted(const Flight& flight) const;
  [[nodiscard]] event::Completed completed(const Flight& flight, Instant now, event::Outcome outcome,
                                           Verdict verdict) const;
  void settle(Flight& flight, Instant now, event::Outcome outcome, Verdict verdict);
  void spend(const Flight& flight, Instant now, event::Outcome outcome);
  void failed_attempt(std::uint32_t flight, Instant now, Rejection why, bool eviction, std::int64_t produced);
  [[nodiscard]] Duration patience(const Flight& flight) const;
  [[nodiscard]] std::int32_t shadow_cache(const Flight& flight, Instant now);
  std::uint32_t new_flight();
  void answer_from_cache(std::uint32_t flight, Instant now);
  // While recording (record.cc).
  [[nodiscard]] bool recording() const { return witness_of_.has_value(); }
  void record(Instant now, const Flight& flight, event::Event event, std::uint32_t ordinal = 0,
              event::Evidence evidence = {});
  [[nodiscard]] static event::FirstToken first_token(const Flight& flight);
  void record_decision(Flight& flight, const Request& request, const Live& live, const Decision& decision, Instant now);
  void record_attempts(Flight& flight, Instant now);
  void record_end(Flight& flight, Instant now, event::Outcome outcome, Verdict verdict);

  const Snapshot* fleet_;
  Settler settler_;
  Options options_;
  Sink sink_;
  Witness witness_;
  Rng ids_, event_ids_;
  Belief belief_;
  std::optional<event::Witness> witness_of_;  ///< while recording
  Scratch scratch_;
  std::optional<Plant> plant_;  ///< from the first arrival on
  std::optional<UnitStates> units_;
  Swaps swaps_;
  std::deque<UnitMoves> given_;                        ///< still to come
  std::vector<PrefixIndex> believed_caches_;           ///< by destination; empty rules where it has none
  std::vector<std::uint8_t> has_cache_;                ///< by destination
  std::vector<std::optional<PrefixIndex>> h0_caches_;  ///< by tenant symbol
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_;
  std::priority_queue<Waiting> waiting_;
  std::vector<double> loads_;
  std::vector<LateHit> late_hits_;
  std::vector<double> knee_priors_;  ///< by class, then offer
  std::vector<Order> orders_;        ///< by model
  Instant now_{}, started_{}, last_completion_{};
  std::uint64_t held_back_ = 0;
  bool running_ = false;
  std::size_t turn_ = 0;  ///< of round robin
};

}  // namespace ace
