#pragma once
/// One request as a row of `--requests`, so that anyone can add the report up again.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/gates.h"

namespace ace {

/// Everything of one request that the report rests on. Amounts are exact; `counted` is the saving after every gate.
struct Row {
  RequestId id;
  std::int64_t row = 0;
  Instant at{};
  std::uint32_t tenant = 0, team = 0;
  ModelId requested, used;
  SloId slo;
  DestinationId destination;  ///< that billed it; none for a cache hit or a refusal
  DestinationId sent_to;      ///< where its provider itself sent it on from there (native spillover); else none
  Usage usage;                ///< as served, in disjoint classes
  Tokens h0{0};               ///< of the prompt: what the default provider's own cache would have held (C0)
  Terms terms;                ///< of the decision, nano-USD: price and penalties
  Chain chain;
  Usd counted{}, disallowed{};
  Usd other{};  ///< in the place of C0, what the other baseline's line has of it: status quo, or round robin
  event::Outcome outcome{};
  Duration ttft{0}, tpot{0};
  bool slo_met = false;
  std::uint32_t attempts = 0;
  Reason reason = Reason::none;        ///< of the request itself
  Reason lever_reason = Reason::none;  ///< of one lever of it
  Reason gate = Reason::none;          ///< of its cell, as given
};

/// @param gate of its cell, from Statement::gate_of in a second pass; none in the first
/// @param other what the other baseline spent on it
Row row_of(const Snapshot& fleet, const Settled& settled, Reason gate, Usd other, const Gates& gates = {});

/// Names by symbol, as the run's tables have them.
struct RowNames {
  const Fleet* fleet = nullptr;
  const std::vector<std::string>* tenants = nullptr;
  const std::vector<std::string>* teams = nullptr;
};

/// The field names in the order of the cells.
std::span<const std::string_view> row_fields();
/// Appends the header line, and one line for a row, both ending in LF. Names are written by csv_text().
void append_csv_header(std::string& out);
void append_csv(std::string& out, const Row& row, const RowNames& names);

}  // namespace ace
