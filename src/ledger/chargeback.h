#pragma once
/// Who pays, read off a statement: usage lines and the rows that settle beside them, under any grouping. ECONOMICS 9.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "fleet/fleet.h"
#include "ledger/charge_table.h"
#include "ledger/statement.h"

namespace ace {

/// What a row of the chargeback is: somebody's usage, or one of the rows of Adjustment.
enum class ChargeKind : std::uint8_t { usage, reserved_idle, shared_idle, unassigned, batch_cap, surplus };
std::string_view name_of(ChargeKind kind);

/// One row of a chargeback. What it is not grouped by, and what a row beside usage does not have, is none: idle belongs
/// to a window and a destination, so it has no hour, team, project or model.
struct ChargeLine {
  ChargeKind kind = ChargeKind::usage;
  std::optional<std::int64_t> hour;                    ///< of admission, since the epoch
  std::optional<std::uint32_t> tenant, team, project;  ///< symbols
  ModelId model;                                       ///< used
  DestinationId destination;
  SloId slo;
  std::int64_t requests = 0;
  std::int64_t input = 0, cached = 0, output = 0;  ///< tokens; input is the uncached prompt
  TokenParts parts;                                ///< of input and output
  Usd marginal{}, baseline{};                      ///< C4 and C0
  Usd charged{};                                   ///< marginal cost under the settlement policy
  Usd fixed{}, hosts{}, idle{};                    ///< shares of fixed cost in use, of ACE's hosts, of idle
  Usd adjusted{};                                  ///< amount of a row beside usage
  [[nodiscard]] Usd total() const { return charged + fixed + hosts + idle + adjusted; }
  friend bool operator==(const ChargeLine&, const ChargeLine&) = default;
};

/// A statement in columns. Rows keep the order of the statement.
ChargeTable charge_table(const Statement& statement);

/// The chargeback of a statement by any of the keys (kind is always one).
///
///   sum of total() over all rows = C4 + F, to the nano-dollar, under every grouping
///
/// Rows come in order of kind, hour, tenant, team, project, model, destination, SLO class; the first three of these by
/// name, what has no model or destination last.
std::vector<ChargeLine> chargeback(const Statement& statement, const std::vector<By>& by, const SymbolNames& names);

/// "tenant,team,model". @return bad_input naming the keys there are
Result<std::vector<By>> grouping_from(std::string_view names);

/// Header and lines as CSV: kind, the keys of the grouping, then figures with their unit in the name; tokens by class
/// are disjoint here, and together all tokens.
std::string chargeback_csv(const std::vector<ChargeLine>& lines, const std::vector<By>& by, const Fleet& fleet,
                           const SymbolNames& names);

}  // namespace ace
