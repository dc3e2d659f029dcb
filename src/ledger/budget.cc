#include "ledger/budget.h"

#include <algorithm>

#include "core/check.h"

namespace ace {
namespace {

/// Goes on with the accounts of the other.
bool is_same(const Budget& a, const Budget& b) { return a.name == b.name && a.window == b.window; }

}  // namespace

std::vector<std::uint32_t> BudgetBook::matching(const BudgetSubject& subject) const {
  const auto holds = [](const std::string& asked, std::string_view is) { return asked.empty() || asked == is; };
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < budgets_.size(); ++i) {
    const Budget& b = budgets_[i];
    if (retired_[i] == 0 && holds(b.tenant, subject.tenant) && holds(b.team, subject.team) &&
        holds(b.project, subject.project) && holds(b.key, subject.key) && holds(b.model, subject.model))
      all.push_back(i);
  }
  return all;
}

std::variant<BudgetTicket, BudgetRefusal> BudgetBook::reserve(std::span<const std::uint32_t> budgets, Usd amount,
                                                              Instant now) {
  advance(now);
  for (const std::uint32_t budget : budgets) {
    if (!budgets_[budget].hard) continue;
    if (const Usd room = left(budget, latest_); amount > room) {
      ++accounts_[budget][start_of(budgets_[budget].window, latest_)].refused;
      return BudgetRefusal{budget, room, end_of(budgets_[budget].window, latest_)};
    }
  }
  return hold(budgets, amount, latest_);
}

std::vector<BudgetTicket::Place> BudgetBook::places(std::span<const std::uint32_t> budgets, Instant now) const {
  std::vector<BudgetTicket::Place> all;
  for (const std::uint32_t budget : budgets) all.push_back({budget, start_of(budgets_[budget].window, now)});
  return all;
}

BudgetTicket BudgetBook::hold(std::span<const std::uint32_t> budgets, Usd amount, Instant now) {
  ACE_CHECK(amount >= Usd{}, "a budget holds no negative amount");
  BudgetTicket ticket{places(budgets, now), amount};
  for (const BudgetTicket::Place& place : ticket.places) {
    BudgetAccount& account = accounts_[place.budget][place.window];
    account.held += amount;
    ++account.requests;
  }
  return ticket;
}

void BudgetBook::spend(const BudgetTicket::Place& place, Usd amount, Instant now) {
  BudgetAccount& account = accounts_[place.budget][place.window];
  account.spent += amount;
  // Only spending crosses a limit; that it was lowered below what is spent shows in what is left.
  if (amount > Usd{} && account.spent > budgets_[place.budget].limit && !account.crossed) account.crossed = now;
}

void BudgetBook::post(const BudgetTicket& ticket, Usd cost, Instant now) {
  for (const BudgetTicket::Place& place : ticket.places) {
    accounts_[place.budget][place.window].held -= ticket.held;
    spend(place, cost, now);
  }
}

void BudgetBook::correct(const BudgetTicket& ticket, Usd by, Instant now) {
  for (const BudgetTicket::Place& place : ticket.places) spend(place, by, now);
}

BudgetAccount BudgetBook::account(std::uint32_t budget, Instant at) const {
  const auto found = accounts_[budget].find(start_of(budgets_[budget].window, at));
  return found == accounts_[budget].end() ? BudgetAccount{} : found->second;
}

Usd BudgetBook::left(std::uint32_t budget, Instant at) const {
  const auto found = accounts_[budget].find(start_of(budgets_[budget].window, at));
  const Usd limit = budgets_[budget].limit;
  return found == accounts_[budget].end() ? limit : limit - found->second.spent - found->second.held;
}

void BudgetBook::change(std::vector<Budget> budgets) {
  for (std::size_t i = 0; i < budgets_.size(); ++i) {
    Budget& old = budgets_[i];
    const auto now = std::find_if(budgets.begin(), budgets.end(), [&](const Budget& b) { return is_same(b, old); });
    retired_[i] = now == budgets.end() ? 1 : 0;
    if (now == budgets.end()) continue;
    old = *now;
    budgets.erase(now);
  }
  budgets_.insert(budgets_.end(), budgets.begin(), budgets.end());
  retired_.resize(budgets_.size());
  accounts_.resize(budgets_.size());
}

bool BudgetBook::has(const Budget& budget) const {
  for (std::size_t i = 0; i < budgets_.size(); ++i)
    if (retired_[i] == 0 && is_same(budgets_[i], budget)) return true;
  return false;
}

void BudgetBook::adopt(const BudgetBook& counted, const std::vector<Budget>& budgets) {
  const auto number_in = [](const std::vector<Budget>& all, const Budget& budget) {
    return static_cast<std::size_t>(
        std::find_if(all.begin(), all.end(), [&](const Budget& b) { return is_same(b, budget); }) - all.begin());
  };
  for (const Budget& budget : budgets) {
    const std::size_t there = number_in(counted.budgets_, budget), here = number_in(budgets_, budget);
    if (there == counted.budgets_.size() || here == budgets_.size()) continue;
    for (const auto& [window, account] : counted.accounts_[there]) {
      BudgetAccount& own = accounts_[here][window];
      own.spent = account.spent;
      own.requests = account.requests;
      own.crossed = account.crossed;
    }
  }
}

void BudgetBook::forget_before(Instant now) {
  for (std::uint32_t budget = 0; budget < budgets_.size(); ++budget) {
    const Instant window = start_of(budgets_[budget].window, now);
    std::erase_if(accounts_[budget],
                  [&](const auto& entry) { return entry.first < window && entry.second.held == Usd{}; });
  }
}

}  // namespace ace
