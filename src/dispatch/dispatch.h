#pragma once
/// One decision: feasible, then rank; and the beliefs it rests on, learnt only from what a gateway would see.
///
/// Start with `decide`, then `Belief`.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/time.h"
#include "core/units.h"
#include "dispatch/belief.h"
#include "dispatch/column.h"
#include "dispatch/curve.h"
#include "dispatch/fill.h"
#include "dispatch/live.h"
#include "dispatch/prefix_index.h"
#include "dispatch/roofline.h"
#include "dispatch/snapshot.h"

namespace ace {

/// Features of a request, never the request.
struct Request {
  ModelId model;
  TenantId tenant;
  SloId slo;
  ComplianceId compliance;
  std::string_view data_class;      ///< borrowed from the fleet
  Tokens prompt{0}, max_output{0};  ///< max_output 0 = not stated
  std::uint32_t needs = kText;      ///< Capability bits
  bool batch = false;               ///< sent as a batch job: it can wait, whatever its class
  Prediction predicted;             ///< of the output
  Duration waited{0};               ///< in our own queue so far
  OfferId failed_at;                ///< where an attempt of this request failed already; none = nowhere
};

enum class Verdict : std::uint8_t {
  dispatched,
  no_compliant_destination,  ///< raised at any price, in any mode
  no_capable_destination,
  no_capacity,    ///< feasible but unhealthy or full: wait within the SLO, then give up
  retries_spent,  ///< of a request, never of a decision: its attempts failed, and no more of them are allowed
};
inline constexpr std::size_t kVerdicts = 5;
std::string_view name_of(Verdict verdict);

/// The ranking key of one candidate: nano-USD for this request at its predicted tokens.
struct Terms {
  std::int64_t price = 0, warmth = 0, congestion = 0, scarcity = 0, risk = 0, bias = 0;
  /// price + warmth + max(congestion, scarcity) + risk; bias only orders.
  [[nodiscard]] std::int64_t effective() const {
    return price + warmth + (congestion > scarcity ? congestion : scarcity) + risk;
  }
  [[nodiscard]] std::int64_t key() const { return effective() + bias; }
  double rho = 0.0;  ///< largest queueing utilization after admission
  friend bool operator==(const Terms&, const Terms&) = default;
};

/// What was decided, and enough to decide it again.
struct Decision {
  Verdict verdict = Verdict::no_compliant_destination;
  OfferId chosen;
  Terms terms;                                        ///< of the chosen one
  std::uint32_t feasible = 0;                         ///< candidates that were ranked
  std::array<std::uint32_t, kExclusions> excluded{};  ///< counts by reason
  bool reserve_short = false;                         ///< headroom below the largest single destination's load
  /// What scarcity learns from: the offer with the least price + warmth + scarcity + risk + bias, that is with
  /// congestion left out, among the candidates that are feasible but for `saturated`; none if there is no such.
  OfferId cheapest_uncongested;
  std::int64_t reference_price = 0;  ///< V: the request's reference PAYG price, nano-USD
  friend bool operator==(const Decision&, const Decision&) = default;
};

/// What a decision finds out about the offers of a lot, a bit each; those of other models are 0.
struct Lot {
  std::uint64_t barred = 0;     ///< by what neither time nor load changes
  std::uint64_t attempted = 0;  ///< the request failed there already
  std::uint64_t in = 0;         ///< may serve
  std::uint64_t saturated = 0;  ///< could, had it room
};

/// Buffers a caller keeps between decisions, so that deciding allocates nothing.
struct Scratch {
  explicit Scratch(const Snapshot& snapshot);
  Column<double> price;            ///< by candidate, a range's from the beginning of a lot
  std::vector<Lot> lots;           ///< of the ranges, one after the other
  std::vector<OfferId> attempted;  ///< offers this request failed at already; cleared by the caller
};

/// Least effective marginal cost among the feasible; ties go to the smaller destination, then the smaller model.
/// Pure and allocation-free. @param now only to see which throttles and trips are over
Decision decide(const Snapshot& fleet, const Live& live, const Request& request, Instant now, Scratch& scratch);

/// Every candidate with every term, or the reason why it is out. Agrees with decide() by construction: same functions.
struct Candidate {
  OfferId offer;
  Exclusion exclusion = Exclusion::none;
  Terms terms;
};
std::vector<Candidate> explain(const Snapshot& fleet, const Live& live, const Request& request, Instant now,
                               Scratch& scratch);

/// Which offers may serve, for who chooses by another rule than the merit order: `Lot::in` of the ranges, one after the
/// other. Lives in the scratch until it is used again. Allocation-free.
std::span<const Lot> admissible(const Snapshot& fleet, const Live& live, const Request& request, Instant now,
                                Scratch& scratch);

}  // namespace ace
