#pragma once
/// What of each budget is spent and held, and the gate that reserves before a request is sent.
///
/// A request reserves the most that it can cost in every budget that holds for it, in all of them or in none; when it
/// ends, what it cost is posted in place of the reserve, in the window in which it was admitted. So
///   spent + held <= limit      for every hard budget, unless a bill exceeds its reserve
/// Start with `BudgetGate`.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "fleet/budget.h"

namespace ace {

/// Names of a request, as the fleet file writes them; empty = none.
struct BudgetSubject {
  std::string_view tenant, team, project, key, model;
};

/// One window of one budget.
struct BudgetAccount {
  Usd spent{}, held{};
  std::uint64_t requests = 0;  ///< admitted in this window
  std::uint64_t refused = 0;
  std::optional<Instant> crossed;  ///< when `spent` first exceeded the limit
  friend bool operator==(const BudgetAccount&, const BudgetAccount&) = default;
};

/// What a request holds until it ends.
struct BudgetTicket {
  struct Place {
    std::uint32_t budget = 0;
    Instant window{};
    friend bool operator==(const Place&, const Place&) = default;
  };
  std::vector<Place> places;
  Usd held{};
  friend bool operator==(const BudgetTicket&, const BudgetTicket&) = default;
};

struct BudgetRefusal {
  std::uint32_t budget = 0;  ///< the first, by number, that has not enough left
  Usd left{};                ///< of it: limit - spent - held; may be negative
  Instant until{};           ///< when its next window begins
  friend bool operator==(const BudgetRefusal&, const BudgetRefusal&) = default;
};

/// The arithmetic. Not for several threads.
class BudgetBook {
 public:
  explicit BudgetBook(std::vector<Budget> budgets = {})
      : budgets_(std::move(budgets)), retired_(budgets_.size()), accounts_(budgets_.size()) {}

  /// A book as it stood. @param retired, accounts one for each budget
  BudgetBook(std::vector<Budget> budgets, std::vector<std::uint8_t> retired,
             std::vector<std::map<Instant, BudgetAccount>> accounts, Instant latest)
      : budgets_(std::move(budgets)), retired_(std::move(retired)), accounts_(std::move(accounts)), latest_(latest) {}

  /// Numbers of the budgets that hold for a request.
  [[nodiscard]] std::vector<std::uint32_t> matching(const BudgetSubject& subject) const;
  /// The time at which a gate counts what comes at `now`: never before what came earlier, so that no window opens again
  /// where the clock was set back.
  Instant advance(Instant now) { return latest_ = std::max(latest_, now); }
  [[nodiscard]] Instant latest() const { return latest_; }
  /// Holds `amount` in each of these budgets, or in none, at advance(now). @param amount not negative
  std::variant<BudgetTicket, BudgetRefusal> reserve(std::span<const std::uint32_t> budgets, Usd amount, Instant now);
  /// Where a request that was admitted at `now` counts.
  [[nodiscard]] std::vector<BudgetTicket::Place> places(std::span<const std::uint32_t> budgets, Instant now) const;
  /// Holds for what was admitted at `now`, whatever is left.
  BudgetTicket hold(std::span<const std::uint32_t> budgets, Usd amount, Instant now);
  /// It ended: the reserve goes, what it cost is spent. @param now for `crossed`
  void post(const BudgetTicket& ticket, Usd cost, Instant now);
  /// What was spent under a ticket was another amount. @param by may be negative
  void correct(const BudgetTicket& ticket, Usd by, Instant now);
  /// It cost nothing.
  void release(const BudgetTicket& ticket) { post(ticket, Usd{}, Instant{}); }

  [[nodiscard]] const std::vector<Budget>& budgets() const { return budgets_; }
  [[nodiscard]] bool retired(std::uint32_t budget) const { return retired_[budget] != 0; }
  [[nodiscard]] const std::map<Instant, BudgetAccount>& windows(std::uint32_t budget) const {
    return accounts_[budget];
  }
  [[nodiscard]] BudgetAccount account(std::uint32_t budget, Instant at) const;
  [[nodiscard]] Usd left(std::uint32_t budget, Instant at) const;
  /// Is there one of this name and window that holds for requests?
  [[nodiscard]] bool has(const Budget& budget) const;
  /// Other budgets from now on. One of the same name and window goes on with its accounts; what is not among them is
  /// retired and keeps what it has. Numbers stay.
  void change(std::vector<Budget> budgets);
  /// What another book has spent counts here too, in budgets of the same name and window. What is held stays: of
  /// tickets of this book alone.
  void adopt(const BudgetBook& counted, const std::vector<Budget>& budgets);
  /// Forgets windows that are over and hold nothing, for who asks only whether there is room.
  void forget_before(Instant now);

 private:
  void spend(const BudgetTicket::Place& place, Usd amount, Instant now);
  std::vector<Budget> budgets_;
  std::vector<std::uint8_t> retired_;                       ///< by budget: holds for no request any more
  std::vector<std::map<Instant, BudgetAccount>> accounts_;  ///< by budget, then window
  Instant latest_ = Instant::min();
};

/// The book behind a lock: of N requests at once against room for exactly k, exactly k are admitted. Holds the lock for
/// a few map look-ups; calls nobody while it does.
class BudgetGate {
 public:
  explicit BudgetGate(BudgetBook book) : book_(std::move(book)) {}
  [[nodiscard]] std::vector<std::uint32_t> matching(const BudgetSubject& subject) const {
    const std::scoped_lock lock(mutex_);
    return book_.matching(subject);
  }
  std::variant<BudgetTicket, BudgetRefusal> reserve(std::span<const std::uint32_t> budgets, Usd amount, Instant now) {
    const std::scoped_lock lock(mutex_);
    return book_.reserve(budgets, amount, now);
  }
  void post(const BudgetTicket& ticket, Usd cost, Instant now) {
    const std::scoped_lock lock(mutex_);
    book_.post(ticket, cost, now);
  }
  void release(const BudgetTicket& ticket) {
    const std::scoped_lock lock(mutex_);
    book_.release(ticket);
  }
  /// @see BudgetBook::change @param counted of those that hold for requests only from now on, what was spent so far
  void change(std::vector<Budget> budgets, const BudgetBook& counted) {
    const std::scoped_lock lock(mutex_);
    std::vector<Budget> fresh;
    std::copy_if(budgets.begin(), budgets.end(), std::back_inserter(fresh),
                 [&](const Budget& budget) { return !book_.has(budget); });
    book_.change(std::move(budgets));
    book_.adopt(counted, fresh);
  }
  /// As it stands now.
  [[nodiscard]] BudgetBook book() const {
    const std::scoped_lock lock(mutex_);
    return book_;
  }

 private:
  mutable std::mutex mutex_;
  BudgetBook book_;
};

}  // namespace ace
