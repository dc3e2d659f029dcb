#pragma once
/// One request as `ace explain` prints it, whether it was replayed from a trace or read from a spine.
#include <iosfwd>
#include <vector>

#include "ledger/ledger.h"

namespace ace::cli {

/// One decision: spills and waits decide again.
struct Moment {
  Instant at{};
  Request request;
  std::vector<Candidate> candidates;
};

void print_decision(const Snapshot& fleet, const Moment& moment, std::ostream& out);
void print_settlement(const Snapshot& fleet, const Settled& settled, std::ostream& out);
/// @param gate of its cell: none = passed
void print_gate(Reason gate, std::ostream& out);

}  // namespace ace::cli
