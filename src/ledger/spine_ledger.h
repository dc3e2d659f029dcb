#pragma once
/// The ledger folded from the records of a spine, one after the other: requests are put together from their events,
/// settled with the fleet they were admitted under, and booked. What was folded up to a record does not depend on how
/// often the fold stopped in between.
///
/// Start with `SpineLedger::add`; what it comes to is `SpineLedger::close`. docs/LEDGER.md, "Over a spine".
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ledger/budget.h"
#include "ledger/journal.h"
#include "ledger/ledger.h"
#include "spine/spine.h"

namespace ace {

/// What was counted beside money, of events of one grade and one UTC day: of requests that of their admission, else
/// when it happened or began.
struct FoldedFacts {
  std::uint64_t evictions = 0, unit_changes = 0;
  std::uint64_t bookings_refused = 0;  ///< of GPU time that was booked already: the first one stands
  std::uint64_t fixed_refused = 0;     ///< stretches of fixed cost that were booked already, likewise
  std::uint64_t estimated = 0;         ///< requests whose process died; no end has come since
  Usd estimated_cost{};                ///< part of C4
  std::uint64_t corrected = 0;         ///< entries by facts that came after a request was booked
  std::uint64_t corrected_closed = 0;  ///< of these, in cells that the log had closed
  Usd corrected_closed_cost{};         ///< and what they changed C4 by
  std::uint64_t passed = 0;            ///< requests handed on unread: not counted, no price, no part of any amount
  FoldedFacts& operator+=(const FoldedFacts& other);
  friend bool operator==(const FoldedFacts&, const FoldedFacts&) = default;
};

/// The books of one grade, under names of their own.
struct FoldedBooks {
  Grade grade = Grade::modelled;
  Statement statement;
  Fleet fleet;  ///< every name that an account stands under, each as the newest fleet has it; for reading, not pricing
  std::vector<std::string> tenants, teams, projects;  ///< by symbol of the statement
  FoldedFacts facts;
  /// From the first arrival to the last end under fleets that cost something whether used or not, as far as it lies in
  /// the period; and how much of that time no stretch of fixed cost tells of.
  Duration fixed_due{0}, fixed_missing{0};
  /// A thousandth may be missing: the last minutes of a week, or a restart.
  [[nodiscard]] bool fully_loaded() const { return fixed_missing <= fixed_due / 1000; }
};

/// Which books, and who is charged what, when they are closed.
struct ClosingPolicies {
  std::optional<std::uint64_t> snapshot;  ///< of one fleet alone; none = of all under the grade
  SettlementPolicy settlement = SettlementPolicy::pooled;
  IdlePolicy idle = IdlePolicy::by_usage;
  /// Requests admitted in it, and what of fixed cost and GPU time falls into it. Statements of periods that follow one
  /// another sum to that of all of them together: requests, tokens, C0..C4, levers and what counts of them, fixed cost.
  Period period{};
};

class SpineLedger {
 public:
  /// The snapshot of this number, which the files of the event compile to; it must outlive the ledger.
  using Fleets = std::function<Result<const Snapshot*>(std::uint64_t number, const event::FleetChanged&)>;
  /// What the log says of a request before record `before`, in the order of the log: Admitted, Decided, Attempted,
  /// CacheHit, Completed. Nothing if it does not know it.
  using Recall =
      std::function<Result<std::vector<event::Record>>(std::uint32_t tenant, RequestId id, std::uint64_t before)>;
  /// Requests, with the symbols of their tenants, of which a record before `before` says that they were admitted or
  /// decided in [from, to).
  using DecidedIn = std::function<Result<std::vector<std::pair<std::uint32_t, RequestId>>>(Instant from, Instant to,
                                                                                           std::uint64_t before)>;
  struct Options {
    Fleets fleets;
    Recall recall;         ///< may be empty: then what was booked longer ago than kRecent cannot be corrected
    DecidedIn decided_in;  ///< likewise: then a gap takes back the savings of those alone
    Gates gates;
    bool shapley = true;
    std::vector<Budget> budgets;                    ///< that are counted, from the first record on
    std::function<void(const JournalEntry&)> each;  ///< every entry of the journal; may be empty
  };
  /// Requests already booked that are kept at hand, so that a late fact can correct them; older ones are recalled.
  static constexpr std::size_t kRecent = 1024;

  explicit SpineLedger(Options options);
  ~SpineLedger();
  SpineLedger(SpineLedger&&) noexcept;
  SpineLedger& operator=(SpineLedger&&) noexcept;

  /// Folds the next record. A request is booked when it is admitted and completed; every later fact about it takes that
  /// back and books what is right. When a writer opens the log, requests of the one before that have no end are booked
  /// as estimated.
  /// @param sequence of the record, above that of the one before
  /// @return corrupt or not_found for a record that does not fit what is before it; nothing is folded then
  Result<void> add(std::uint64_t sequence, const event::Record& record);
  /// The record that comes next was acknowledged before it was durable (`relaxed`): a loss of power may have taken
  /// others like it.
  void was_acknowledged_early();
  [[nodiscard]] std::uint64_t acknowledged_early() const;  ///< records like that
  /// Sequence number after the last record.
  [[nodiscard]] std::uint64_t next() const;

  /// The grades that anything was booked under, the surest first.
  [[nodiscard]] std::vector<Grade> grades() const;
  /// Fleets of a grade that anything was booked under. Modelled ones may be worlds side by side: what-ifs over the same
  /// time.
  [[nodiscard]] std::vector<std::uint64_t> snapshots(Grade grade) const;
  /// Judges, allocates and settles what was folded under one grade. What comes out for a period that the log has gone
  /// beyond depends on nothing that happens after it, but for corrections of its requests.
  /// @return bad_input for worlds side by side, whose sum means nothing, and for a snapshot that is not one of them
  [[nodiscard]] Result<FoldedBooks> close(Grade grade, const ClosingPolicies& policies) const;
  /// What a cell (hour of admission, tenant, requested model) comes to now, without closing the books.
  /// @param snapshot of the event, whose numbers tenant and model are @return corrupt for a model it does not have;
  /// else as the fleets say
  [[nodiscard]] Result<Cell> cell(std::uint64_t snapshot, std::int64_t hour, std::uint32_t tenant, ModelId model) const;

  /// What may be said of cells that take no more events: those of days that had settled by `now`, one maximum request
  /// time after their end, and that no record closes yet. The same cells are the same events.
  [[nodiscard]] Result<std::vector<event::Record>> to_close(Grade grade, Instant now) const;

  [[nodiscard]] const Balances& balances() const;
  /// Name of the owner of an account.
  [[nodiscard]] std::string owner(Account account) const;
  [[nodiscard]] const BudgetBook& budgets() const;
  /// Latest time of any event of a request.
  [[nodiscard]] Instant latest() const;
  [[nodiscard]] std::size_t pending() const;  ///< requests admitted and not ended
  /// Requests that a late fact changed, each time it did.
  [[nodiscard]] std::uint64_t corrections() const;
  /// Facts of requests that were never admitted here, or of which nothing can be recalled.
  [[nodiscard]] std::size_t strays() const;
  [[nodiscard]] const std::vector<event::Gap>& gaps() const;
  [[nodiscard]] std::size_t closed_cells() const;
  [[nodiscard]] std::size_t fleets() const;  ///< snapshots that were declared
  /// The fleet declared last; null if there is none.
  [[nodiscard]] const event::FleetChanged* newest_fleet() const;

  /// Everything folded, as bytes: the same records give the same ones, however the fold came by them.
  [[nodiscard]] std::string state() const;
  /// @param options as of the ledger whose state it is @return corrupt; bad_input for a state of another version or of
  /// other options, budgets among them
  static Result<SpineLedger> restored(std::string_view state, Options options);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ace
