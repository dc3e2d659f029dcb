#include "ledger/journal.h"

#include <algorithm>

namespace ace {

std::string_view name_of(Account::Kind kind) {
  constexpr std::array<std::string_view, kAccountKinds> names = {"spent",       "estimated", "held",     "reserve",
                                                                 "destination", "elsewhere", "look_ups", "fixed"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(JournalEntry::What what) {
  constexpr std::array<std::string_view, 6> names = {"reserve", "post", "release", "estimate", "correct", "fixed"};
  return names[static_cast<std::size_t>(what)];
}

void Balances::post(const JournalEntry& entry) {
  int128 sum = 0;
  for (const Leg& leg : entry.legs) sum += leg.amount.nano;
  ACE_CHECK(sum == 0, "an entry of the ledger sums to zero");
  for (const Leg& leg : entry.legs) {
    std::vector<Usd>& accounts = by_owner_[static_cast<std::size_t>(leg.account.kind)];
    if (leg.account.owner >= accounts.size()) accounts.resize(leg.account.owner + 1U);
    accounts[leg.account.owner] += leg.amount;
  }
}

Usd Balances::of(Account account) const {
  const std::vector<Usd>& accounts = by_owner_[static_cast<std::size_t>(account.kind)];
  return account.owner < accounts.size() ? accounts[account.owner] : Usd{};
}

Usd Balances::sum(Account::Kind kind) const {
  Usd total{};
  for (const Usd amount : by_owner_[static_cast<std::size_t>(kind)]) total += amount;
  return total;
}

Usd Balances::sum() const {
  Usd total{};
  for (std::size_t kind = 0; kind < kAccountKinds; ++kind) total += sum(static_cast<Account::Kind>(kind));
  return total;
}

std::vector<Leg> Balances::all() const {
  std::vector<Leg> legs;
  for (std::size_t kind = 0; kind < kAccountKinds; ++kind)
    for (std::uint32_t owner = 0; owner < by_owner_[kind].size(); ++owner)
      if (by_owner_[kind][owner] != Usd{})
        legs.push_back({{static_cast<Account::Kind>(kind), owner}, by_owner_[kind][owner]});
  return legs;
}

}  // namespace ace
