#pragma once
/// What a provider says we used and owe, against what the ledger says: per provider, model and day.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/money.h"
#include "core/result.h"
#include "ledger/statement.h"

namespace ace {

/// Totals of one provider, model and UTC day. What a source does not say is none, never zero.
struct Billed {
  std::string provider, model;
  std::int64_t day = 0;  ///< since the epoch
  std::optional<std::int64_t> requests;
  std::optional<std::int64_t> prompt;  ///< tokens, cached ones included
  std::optional<std::int64_t> cached;  ///< of `prompt`
  std::optional<std::int64_t> output;
  std::optional<Usd> cost;
  friend bool operator==(const Billed&, const Billed&) = default;
};

/// One key on both sides. Entries of one key are summed; a figure that one of them does not state is not stated.
struct Reconciled {
  enum class State : std::uint8_t {
    equal,        ///< every figure that both state is equal, and there is one
    differs,      ///< one is not
    only_ours,    ///< the bill has no such provider, model and day
    only_theirs,  ///< the ledger has none
    silent,       ///< both have the key and no figure in common
  } state = State::equal;
  Billed ours, theirs;    ///< with the same key
  bool whole_day = true;  ///< the ledger's window covers the day; else a difference is to be expected
  friend bool operator==(const Reconciled&, const Reconciled&) = default;
};
std::string_view name_of(Reconciled::State state);

/// One entry per key, sorted by provider, model, day.
std::vector<Billed> summed_by_key(const std::vector<Billed>& all);

/// What the ledger booked at each provider: requests answered there, their tokens, and their marginal cost. Fees of
/// commitments belong to no model or day and are not in it. Sorted by provider, model, day.
std::vector<Billed> billed_by_ledger(const Statement& statement, const Fleet& fleet);

/// Requests whose cost a log states and that the fleet's prices know too, by provider, model and day: as the prices
/// have them, and as the log does.
struct LoggedCosts {
  std::vector<Billed> by_prices, logged;
};
LoggedCosts logged_costs(const Statement& statement, const Fleet& fleet);

/// Every key of either side once, sorted by provider, model, day. Nothing is matched by likeness and no difference is
/// moved to another key.
/// @param from, to window of our side
std::vector<Reconciled> reconcile(const std::vector<Billed>& ours, const std::vector<Billed>& theirs, Instant from,
                                  Instant to);

/// Totals from CSV with a header: `day` (YYYY-MM-DD or RFC 3339) and `model`; `provider`, `requests`, `prompt_tokens`,
/// `cached_tokens`, `output_tokens` and `cost_usd` where there are such columns. An empty cell is not stated. Lines
/// with the same key are summed by reconcile().
/// @param columns "day=date,cost_usd=amount": other names of these columns; empty = as above
/// @param provider of lines without one
/// @return bad_input or corrupt, naming the line, for a missing column or a value that is none
Result<std::vector<Billed>> parse_bill(std::string_view csv, std::string_view columns, const std::string& provider);

/// The comparison as CSV: one line per key and figure that either side states, with the difference where both do.
std::string reconciled_csv(const std::vector<Reconciled>& lines);

}  // namespace ace
