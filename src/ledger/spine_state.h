#pragma once
/// What a SpineLedger remembers.
#include <algorithm>
#include <array>
#include <set>

#include "ledger/account_names.h"
#include "ledger/fold.h"
#include "ledger/hold.h"
#include "ledger/request_index.h"
#include "ledger/spine_ledger.h"

namespace ace {

/// One fleet, from the event that declared it to the next one.
struct FleetEra {
  event::FleetChanged declared;
  std::uint64_t number = 0;  ///< of the snapshot
  fold::Accounts accounts;
  std::map<std::int64_t, FoldedFacts> facts;  ///< by day
  // Made from the snapshot when it is needed first.
  const Snapshot* snapshot = nullptr;
  std::unique_ptr<Settler> settler;
  std::unique_ptr<Holds> holds;
  std::vector<std::uint32_t> destinations;  ///< by destination: its account
  [[nodiscard]] Grade grade() const { return grade_of(declared.source); }
};

/// A request while its facts come in, and a little longer.
struct FoldedRequest {
  enum class State : std::uint8_t { open, estimated, booked } state = State::open;
  bool live = false;  ///< its slot is in use
  RequestId id;
  std::uint64_t sequence = 0;  ///< of its first fact
  std::uint32_t era = 0;       ///< that it was admitted under
  bool admitted = false, decided = false, completed = false;
  bool in_gap = false, semantic_hit = false;
  std::uint32_t decided_ordinal = 0, completed_ordinal = 0;
  OfferId hold_at;
  std::int64_t hold_output = 0;
  BudgetTicket ticket;
  Usd booked_cost{};  ///< C4 as booked; for budgets
  event::Admitted a;  ///< tenant, team, project and key are accounts
  event::Decided d;
  event::Completed c;
  std::vector<std::uint32_t> ordinals;  ///< of the attempts, ascending
  std::vector<event::Attempted> attempts;
  void reset();
};

struct ClosedCell {
  std::int64_t requests = 0;
  Usd baseline{}, actual{}, counted{}, disallowed{};
  friend bool operator==(const ClosedCell&, const ClosedCell&) = default;
};

struct SpineLedger::State {
  Options options;
  std::uint64_t next = 0;
  Instant latest = Instant::min();  ///< of what happened to requests
  std::uint64_t early = 0;          ///< records acknowledged before they were durable
  std::vector<FleetEra> eras;
  std::map<std::uint64_t, std::uint32_t> era_of_number;
  AccountNames tenants, teams, projects, keys;
  AccountNames destinations;  ///< 0 = none: ACE itself
  struct GpuTime {
    Bookings bookings;
    std::vector<event::GpuBooking> all;       ///< as they came, but what goes on where the last one ended is one
    std::map<std::string, std::size_t> last;  ///< by device: its latest one of them
    /// @return false, and nothing is booked, for what Bookings refuses
    bool take(const event::GpuBooking& booking);
  };
  /// Fixed cost as it stands: stretches that do not overlap.
  struct Stretch {
    event::FixedCost cost;
    std::uint32_t era = 0;
    /// What it came to from its beginning until earlier ends of it, as was said then; first and last of each UTC day.
    std::vector<std::pair<Instant, fold::Fixed>> grown;
    /// What falls into a period. A day that was over keeps what was said of it when a longer stretch costs otherwise.
    [[nodiscard]] fold::Fixed within(const Period& period) const;
    /// That this one stood before `longer`, which begins with it, took its place.
    void hand_over(Stretch& longer) const;
  };
  /// Fleets of one source follow one another in one world, so no time is paid for twice over all of them; but each
  /// simulated fleet has a world of its own. @param number of the era
  static std::uint32_t world_of(const FleetEra& era, std::uint32_t number) {
    constexpr std::uint32_t kOneWorld = 0xffff'fff0;
    using Source = event::FleetChanged::Source;
    return era.declared.source == Source::simulated ? number
                                                    : kOneWorld + static_cast<std::uint32_t>(era.declared.source);
  }
  [[nodiscard]] std::uint32_t world_of(const FleetEra& era) const {
    return world_of(era, static_cast<std::uint32_t>(&era - eras.data()));
  }
  std::map<std::uint32_t, GpuTime> gpu_time;  ///< by world
  /// By world, account of the destination and kind.
  std::map<std::tuple<std::uint32_t, std::uint32_t, event::FixedCost::Kind>, std::vector<Stretch>> stretches;
  Balances balances;
  BudgetBook budgets;
  std::vector<event::Gap> gaps;
  /// By hour, tenant account, model and world.
  std::map<std::tuple<std::int64_t, std::uint32_t, std::string, std::uint32_t>, ClosedCell> closed;

  std::vector<FoldedRequest> pool;
  std::vector<std::uint32_t> free;
  RequestIndex index;
  std::deque<std::uint32_t> recent;                          ///< booked ones, oldest first
  std::set<std::pair<std::uint64_t, std::uint64_t>> gapped;  ///< ids of requests no longer kept that lie in a gap
  JournalEntry entry;                                        ///< being written
  Ledger::Options ledger_options;
  std::map<std::array<std::uint32_t, 6>, std::vector<std::uint32_t>> matching;  ///< budgets by names; made again

  explicit State(Options chosen);
  Result<void> load(FleetEra& era);
  Result<std::uint32_t> era_of(const event::Record& record);
  std::uint32_t slot_of(RequestId id, std::uint64_t sequence);
  /// Takes a request that was booked longer ago out of the log, as it was booked. False if the log does not know it.
  Result<bool> recall(std::uint32_t tenant, RequestId id, std::uint64_t before);
  void drop(std::uint32_t slot);
  /// Keeps a request that ended, and lets the oldest of those go.
  void remember(std::uint32_t slot);
  /// Eras of a grade under which anything happened in a period, their snapshots at hand. @param snapshot this one alone
  Result<std::vector<const FleetEra*>> eras_of(Grade grade, std::optional<std::uint64_t> snapshot,
                                               const Period& period);
  [[nodiscard]] bool anything_in(const FleetEra& era, const Period& period) const;
  /// What an era's accounts hold of a period, fixed cost included.
  [[nodiscard]] fold::Accounts of_period(const FleetEra& era, const Period& period) const;
  /// Those of one world, likewise.
  Result<std::vector<const FleetEra*>> eras_in(std::uint32_t world);
  /// What of the time from the first arrival to the last completion under a grade lies in a period: the window of its
  /// statement.
  [[nodiscard]] Period window_of(Grade grade, const ClosingPolicies& policies) const;
  /// @see SpineLedger::close, of these eras, which are of one grade
  [[nodiscard]] Result<FoldedBooks> close(const std::vector<const FleetEra*>& of, Grade grade,
                                          const ClosingPolicies& policies) const;
  /// How much of its time fixed cost is told of: also where nothing else happened in the period. @see FoldedBooks
  Result<void> fixed_time(Grade grade, const ClosingPolicies& policies, FoldedBooks& books);
  /// @see SpineLedger::to_close, of one world
  Result<void> to_close(std::uint32_t world, Instant now, std::vector<event::Record>& records);
  /// Slots of those requests, by their first fact.
  [[nodiscard]] std::vector<std::uint32_t> in_order(const std::function<bool(const FoldedRequest&)>& which) const;

  // Each takes one kind of event in.
  Result<void> fleet_changed(const event::Record& record, const event::FleetChanged& change);
  Result<void> fact(std::uint64_t sequence, const event::Record& record);
  void writer_opened(std::uint64_t sequence, Instant at);
  Result<void> gap(std::uint64_t sequence, const event::Gap& gap);
  Result<void> fixed_cost(std::uint64_t sequence, const event::Record& record, const event::FixedCost& cost);
  void book(const Stretch& stretch, int sign);
  Result<void> booking(const event::Record& record, const event::GpuBooking& booking);
  void settlement_closed(const event::Record& record, const event::SettlementClosed& closed);

  /// Puts a fact into its request. @return corrupt for an index beyond the fleet
  Result<void> enter(FoldedRequest& request, const event::Record& record, std::uint32_t era);
  void admit(FoldedRequest& request, std::uint64_t sequence);
  /// Was it decided (or admitted, where nobody decided) in a gap that is known now?
  [[nodiscard]] bool in_gap(const FoldedRequest& request) const;
  [[nodiscard]] Settled settle(const FoldedRequest& request) const;
  /// Books a request, or takes it back, and writes the legs of it into the entry.
  void book(FoldedRequest& request, int sign);
  /// The hold goes, what it cost is booked. @param how estimated or booked
  void end(FoldedRequest& request, FoldedRequest::State how, std::uint64_t sequence, Instant at);
  void commit(JournalEntry::What what, std::uint64_t sequence, Instant at, RequestId id);
  [[nodiscard]] const std::vector<std::uint32_t>& budgets_for(const FoldedRequest& request);
};

}  // namespace ace
