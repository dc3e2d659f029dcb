#pragma once
/// C0..C4 of one request, their levers, and Shapley beside the chain. ECONOMICS 6.
#include <array>
#include <cstdint>
#include <span>

#include "core/money.h"
#include "spine/spine.h"

namespace ace {

enum class Lever : std::uint8_t { caching, routing, arbitrage, utilization };
inline constexpr std::size_t kLevers = 4;
std::string_view name_of(Lever lever);

/// Why a request is outside the headline or its saving does not count.
enum class Reason : std::uint8_t {
  none,
  unpriced,               ///< no price for the baseline: C0..C3 := C4
  no_baseline,            ///< no compliant default price exists
  slo_request,            ///< served outside its SLO
  cell_served_fraction,   ///< its cell served too few
  cell_slo,               ///< its cell missed its class's target
  cell_quality,           ///< quality or false-hit bound of its cell
  insufficient_evidence,  ///< a cache that is not exact-match, before its audit bound is provable
  gap,                    ///< decided inside a spine gap
  not_served,
};
inline constexpr std::size_t kReasons = 10;
std::string_view name_of(Reason reason);

/// The chain of one request: baseline, after caching, after routing, after arbitrage, actual. All nano-USD, each
/// rounded once.
struct Chain {
  std::array<Usd, 5> c{};
  std::array<Usd, kLevers> lever{};  ///< c[i] - c[i+1], or 0 where the amount is unattributed
  Usd unattributed{};
  [[nodiscard]] Usd saving() const { return c[0] - c[4]; }
  friend bool operator==(const Chain&, const Chain&) = default;
};

/// Static Shapley values over the four levers, and the range of each over the 24 orders.
struct Shapley {
  std::array<Usd, kLevers> value{}, low{}, high{};
  Usd unattributed{};
};

/// One request settled: everything the ledger folds, and everything a row of `--requests` shows.
struct Settled {
  event::Admitted admitted;
  event::Decided decided;
  event::Completed completed;
  Chain chain;
  Grade grade = Grade::modelled;
  Reason excluded = Reason::none;     ///< unpriced or no_baseline: outside the headline's denominator
  bool routing_assumed = false;       ///< model changed without quality evidence
  bool baseline_assumed = false;      ///< default price not contracted
  Usd cheapest_compliant_baseline{};  ///< C0 under "baseline = cheapest compliant PAYG"
  Usd uncached_baseline{};            ///< C0 with h0 = 0
  std::uint32_t attempts = 0;
};

/// Settles one request from its events alone.
///
/// C0 requested model, default PAYG (cheapest compliant PAYG of that model if the default is not compliant), h0 cached.
/// C1..C4 by the outcome table of ECONOMICS 6. C4 adds failed attempts and redo in every row.
/// @param attempts in order; the answering one last
Settled settle(const Snapshot& fleet, const event::Admitted& admitted, const event::Decided& decided,
               std::span<const event::Attempted> attempts, const event::Completed& completed);

/// Static Shapley of a settled request (no re-dispatch); the remainder of /24 goes to utilization.
Shapley shapley(const Snapshot& fleet, const Settled& request);

}  // namespace ace
