#pragma once
/// Double entry: every event moves an amount from accounts to accounts, and each entry sums to zero.
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/money.h"
#include "core/time.h"

namespace ace {

/// Who holds an amount. Costs and reserves of tenants are positive, what is owed for them negative.
struct Account {
  enum class Kind : std::uint8_t {
    spent,        ///< by a tenant: what its requests cost (C4), as facts say
    estimated,    ///< by a tenant: requests whose end a crash took; they have probably been billed
    held,         ///< for a tenant: the most that its requests under way can cost
    reserve,      ///< the other side of `held`; one account
    destination,  ///< owed for requests and fixed cost there
    elsewhere,    ///< owed for requests of which a log does not say where they ran; one account
    look_ups,     ///< of ACE's own response cache; one account
    fixed,        ///< cost of holding a destination, or ACE's own hosts, whether used or not
  } kind = Kind::reserve;
  std::uint32_t owner = 0;  ///< number of the tenant or the destination; 0 where there is one account
  friend auto operator<=>(const Account&, const Account&) = default;
};
inline constexpr std::size_t kAccountKinds = 8;
std::string_view name_of(Account::Kind kind);

struct Leg {
  Account account;
  Usd amount{};
  friend bool operator==(const Leg&, const Leg&) = default;
};

/// One line of the journal. Nothing is ever changed: what turns out wrong is taken back by a `correct`.
struct JournalEntry {
  enum class What : std::uint8_t {
    reserve,   ///< a request was admitted
    post,      ///< it ended: what it cost in place of what was held
    release,   ///< it ended and cost nothing
    estimate,  ///< its process died before it ended: an estimate in place of what was held
    correct,   ///< a later fact: minus what was booked, plus what is right
    fixed,     ///< fixed cost of a stretch of time
  } what = What::reserve;
  std::uint64_t sequence = 0;  ///< of the record that caused it
  Instant at{};
  RequestId request;  ///< zero where there is none
  std::vector<Leg> legs;
  void add(Account account, Usd amount) {
    if (amount != Usd{}) legs.push_back({account, amount});
  }
};
std::string_view name_of(JournalEntry::What what);

/// Balances of all accounts.
class Balances {
 public:
  /// Entries that do not sum to zero are a broken invariant.
  void post(const JournalEntry& entry);
  [[nodiscard]] Usd of(Account account) const;
  [[nodiscard]] Usd sum(Account::Kind kind) const;
  /// Over every account: always zero.
  [[nodiscard]] Usd sum() const;
  /// Those that are not zero, in order.
  [[nodiscard]] std::vector<Leg> all() const;

 private:
  std::array<std::vector<Usd>, kAccountKinds> by_owner_;
};

}  // namespace ace
